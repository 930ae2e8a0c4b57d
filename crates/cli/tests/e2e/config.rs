//! `config show`: what is in force, and who said so.

use std::fs;

use insta::assert_snapshot;

use crate::{compact, environment, json, run};

#[test]
fn nothing_is_set_at_first() {
    assert_snapshot!(run(&environment(), "config show"), @"
    exit 0
    ----- stdout
    # state: [HOME]/.metier
    # nothing is set; `--all` shows every setting with its default, `metier config sample` explains them
    ----- stderr
    ");
}

#[test]
fn every_setting_has_a_default() {
    assert_snapshot!(run(&environment(), "config show --all"), @r#"
    exit 0
    ----- stdout
    # state: [HOME]/.metier
    agent.code_execution = false  # default
    agent.guidance = ""  # default
    agent.instruction = ""  # default
    agent.max_requests = 50  # default
    agent.max_tokens = 0  # default
    agent.model = ""  # default
    agent.prompt = "full"  # default
    agent.tools = "full"  # default
    agents.*.approvals.ask = ""  # default
    agents.*.approvals.ask_fallback = ""  # default
    agents.*.approvals.mode = ""  # default
    agents.*.skills = []  # default
    agents.*.workspace = ""  # default
    agents.defaults.skills = []  # default
    agents.defaults.workspace = ""  # default
    approvals.allow = []  # default
    approvals.allow_any_arguments = []  # default
    approvals.ask = "on_miss"  # default
    approvals.ask_fallback = "deny"  # default
    approvals.auto_allow_skills = false  # default
    approvals.mode = "allowlist"  # default
    approvals.safe_bins = ["cut", "uniq", "head", "tail", "tr", "wc"]  # default
    approvals.trusted_dirs = ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"]  # default
    approvals.variables = ["LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CI", "PYTHONUNBUFFERED"]  # default
    context.compact_at = 80  # default
    context.tokens = 128000  # default
    exec.container.image = "debian:stable-slim"  # default
    exec.container.pull = false  # default
    exec.container.socket = ""  # default
    exec.degrade = false  # default
    exec.disk_mb = 8192  # default
    exec.executor = "sandbox"  # default
    exec.host_inputs = []  # default
    exec.max_timeout = 3600  # default
    exec.memory_mb = 2048  # default
    exec.network = "none"  # default
    exec.processes = 256  # default
    exec.require = ""  # default
    exec.timeout = 300  # default
    mcp.servers.*.allow = []  # default
    mcp.servers.*.args = []  # default
    mcp.servers.*.command = ""  # default
    mcp.servers.*.cwd = "~"  # default
    mcp.servers.*.deny = []  # default
    mcp.servers.*.env.* = ""  # default
    mcp.servers.*.headers.* = ""  # default
    mcp.servers.*.skills = false  # default
    mcp.servers.*.timeout = 60  # default
    mcp.servers.*.token_env = ""  # default
    mcp.servers.*.tools = true  # default
    mcp.servers.*.url = ""  # default
    models.providers.*.base_url = ""  # default
    models.providers.*.format = "chat_completions"  # default
    models.providers.*.key = ""  # default
    models.providers.*.tool_choice = "auto"  # default
    skill_run.allowed_commands = []  # default
    skill_run.denied_commands = []  # default
    skills.allow_symlink_targets = []  # default
    skills.allowed = []  # default
    skills.catalog_tokens = 4000  # default
    skills.denied = []  # default
    skills.enabled = true  # default
    skills.entries.*.api_key = ""  # default
    skills.entries.*.enabled = true  # default
    skills.entries.*.env.* = ""  # default
    skills.entries.*.network = "none"  # default
    skills.entries.*.source = ""  # default
    skills.extra_dirs = []  # default
    skills.install.node_manager = "npm"  # default
    skills.install.prefer_brew = true  # default
    skills.load_before_run = true  # default
    skills.load_mode = "turn"  # default
    skills.max_body_tokens = 25000  # default
    skills.max_loaded = 0  # default
    skills.placement = "tool_result"  # default
    skills.plugin_dirs = []  # default
    skills.retain_tokens = 32000  # default
    workspace.folder = ""  # default
    workspace.ttl_days = 7  # default
    ----- stderr
    "#);
}

#[test]
fn each_value_says_where_it_comes_from() {
    let env = environment().with_variable("METIER_SKILLS_DENIED", "b,c");
    env.write(
        "home/.metier/config.toml",
        "# mine\n[skills]\ndenied = ['a']\ncatalog_tokens = 3_000\n\n[skills.entries.pdf]\nenabled = false\n",
    );
    assert_snapshot!(run(&env, "config show"), @r#"
    exit 0
    ----- stdout
    # state: [HOME]/.metier
    skills.catalog_tokens = 3000  # [HOME]/.metier/config.toml:4
    skills.denied = ["b", "c"]  # $METIER_SKILLS_DENIED, before that [HOME]/.metier/config.toml:3
    skills.entries.pdf.enabled = false  # [HOME]/.metier/config.toml:7
    ----- stderr
    "#);
    assert_snapshot!(compact(&run(&env, "config show --json")), @r#"0 | [{"name":"skills.catalog_tokens","value":3000,"origins":["[HOME]/.metier/config.toml:4"],"also":false},{"name":"skills.denied","value":["b","c"],"origins":["$METIER_SKILLS_DENIED","[HOME]/.metier/config.toml:3"],"also":false},{"name":"skills.entries.pdf.enabled","value":false,"origins":["[HOME]/.metier/config.toml:7"],"also":false}] |"#);
}

#[test]
fn secrets_stay_secret() {
    let env = environment();
    env.write(
        "home/.metier/config.toml",
        "[skills.entries.pdf]\napi_key = 'sk-hidden'\nenv.PDF_TOKEN = 'hush'\n",
    );
    for line in ["config show", "config show --json", "config show --all"] {
        let outcome = run(&env, line);
        assert!(
            !outcome.stdout.contains("hidden") && !outcome.stdout.contains("hush"),
            "{outcome}"
        );
    }
    assert_snapshot!(run(&env, "config show").stdout, @r#"
    # state: [HOME]/.metier
    skills.entries.pdf.api_key = "****"  # [HOME]/.metier/config.toml:2
    skills.entries.pdf.env.PDF_TOKEN = "****"  # [HOME]/.metier/config.toml:3
    "#);
    env.write("home/.metier/config.toml", "skills.entries.pdf.api_key = 5");
    assert_snapshot!(compact(&run(&env, "config show")), @"2 |  | error: [HOME]/.metier/config.toml:1: `skills.entries.pdf.api_key` is not a text");
}

#[test]
fn a_mistake_is_named_with_its_line() {
    let env = environment();
    let with = |text: &str| {
        env.write("home/.metier/config.toml", text);
        compact(&run(&env, "config show"))
    };
    assert_snapshot!(with("# one\nskils.enabled = true\n"), @"2 |  | error: [HOME]/.metier/config.toml:2: there is no setting `skils.enabled` / hint: did you mean `skills.enabled`?");
    assert_snapshot!(with("[skills]\ndenyed = []\n"), @"2 |  | error: [HOME]/.metier/config.toml:2: there is no setting `skills.denyed` / hint: did you mean `skills.denied`?");
    assert_snapshot!(with("[skills.entries.pdf]\nenable = true\n"), @"2 |  | error: [HOME]/.metier/config.toml:2: there is no setting `skills.entries.pdf.enable` / hint: did you mean `skills.entries.pdf.enabled`?");
    assert_snapshot!(with("[quite.different]\nthing = 1\n"), @"2 |  | error: [HOME]/.metier/config.toml:2: there is no setting `quite.different.thing` / hint: `metier config show --all` lists them");
    assert_snapshot!(with("skills.denied = 'x'"), @"2 |  | error: [HOME]/.metier/config.toml:1: `skills.denied` is not a list of names or globs of names");
    assert_snapshot!(with("skills.denied = ['[x']"), @"2 |  | error: [HOME]/.metier/config.toml:1: `skills.denied` has `[x`, which is not a name or a glob of names / hint: write names such as `pdf`, or patterns such as `git-*`");
    assert_snapshot!(with("skills.enabled = 'yes'"), @"2 |  | error: [HOME]/.metier/config.toml:1: `skills.enabled` is not `true` or `false`");
    assert_snapshot!(with("skills.catalog_tokens = -1"), @"2 |  | error: [HOME]/.metier/config.toml:1: `skills.catalog_tokens` is not a whole number");
    assert_snapshot!(with("skills.catalog_tokens = 1.5"), @"2 |  | error: [HOME]/.metier/config.toml:1: `skills.catalog_tokens` is not a whole number");
    assert_snapshot!(with("\n\nskills = ["), @"2 |  | error: [HOME]/.metier/config.toml:3: not valid TOML: unclosed array, expected `]` / hint: fix that line");
    assert_snapshot!(with("skills.enabled = true\nskills.enabled = false"), @"2 |  | error: [HOME]/.metier/config.toml:2: not valid TOML: duplicate key / hint: fix that line");
}

#[test]
fn a_mistake_in_the_users_own_file_stops_every_command_about_skills() {
    let env = environment();
    env.write("home/.metier/config.toml", "skills.denied = 'x'");
    for line in ["skills list", "skills catalog", "skills lint", "trust --list"] {
        let outcome = run(&env, line);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{line}");
        assert_eq!(outcome.stderr.lines().count(), 1, "{outcome}");
    }
    env.skill("project", "one", "First");
    assert_eq!(run(&env, "validate one").code, 0);
}

#[test]
fn a_configuration_that_is_no_file_is_not_waited_for() {
    let env = environment();
    fs::create_dir(env.project().join(".metier")).unwrap();
    let pipe = env.project().join(".metier/config.toml");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    assert_snapshot!(run(&env, "config show"), @"
    exit 0
    ----- stdout
    # state: [HOME]/.metier
    # nothing is set; `--all` shows every setting with its default, `metier config sample` explains them
    ----- stderr
    warning: [PROJECT]/.metier/config.toml:1:1: the project's configuration is not used: cannot read the configuration `[PROJECT]/.metier/config.toml`: not a regular file (make it a file that you can read) [M090]
    ");
    fs::create_dir_all(env.home().join(".metier/config.toml")).unwrap();
    assert_snapshot!(compact(&run(&env, "config show")), @"1 |  | error: cannot read the configuration `[HOME]/.metier/config.toml`: not a regular file / hint: make it a file that you can read");
}

#[test]
fn a_project_of_several_folders_narrows_step_by_step() {
    let env = environment();
    fs::create_dir(env.project().join(".git")).unwrap();
    env.write("project/.metier/config.toml", "skills.catalog_tokens = 2000\nskills.denied = ['a']");
    env.write(
        "project/deep/.metier/config.toml",
        "skills.catalog_tokens = 3000\nskills.denied = ['b']",
    );
    let outcome = env.run_in(&env.project().join("deep"), ["config", "show"], "");
    assert_snapshot!(outcome, @r#"
    exit 0
    ----- stdout
    # state: [HOME]/.metier
    skills.catalog_tokens = 2000  # [PROJECT]/.metier/config.toml:1
    skills.denied = ["a", "b"]  # [PROJECT]/deep/.metier/config.toml:2, before that [PROJECT]/.metier/config.toml:2
    ----- stderr
    warning: [PROJECT]/deep/.metier/config.toml:1:1: `skills.catalog_tokens` is not taken from a project, which may only lower it [M090]
      hint: such a configuration can narrow what is allowed, never widen it
    "#);
    let values = json(&env.run_in(&env.project(), ["config", "show", "--json"], ""));
    assert_eq!(values.as_array().unwrap().len(), 2);
}
