//! Requests that want more than they may have: names, paths, references, patterns, variables.
//!
//! Each attack is tried by every executor. What is refused is refused before anything ran, and the
//! host is as it was.

use std::fs;

use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::Promise;
use crate::bench::{Bench, Renamed};

pub(crate) const PROMISES: &[Promise] = &[
    ("a_hostile_name_of_a_skill_stays_a_name", hostile_names),
    ("hostile_entries_of_a_skill_do_not_leave_its_copy", hostile_entries),
    ("nothing_can_be_put_outside", nothing_can_be_put_outside),
    ("sources_that_leave_are_refused", sources_that_leave),
    ("a_directory_that_leaves_is_refused", directories_that_leave),
    ("patterns_that_leave_are_refused", patterns_that_leave),
    ("what_decides_what_is_loaded_may_not_be_set", loaders),
    ("signs_of_a_shell_mean_nothing_in_any_field", signs_of_a_shell),
    ("times_that_are_none_are_refused", times),
    ("very_long_values_are_refused_or_pass", long_values),
];

/// Text that breaks out of quotes of every kind, and would leave a file behind.
const BREAKOUT: &str =
    "x'; touch PWNED; '\"; touch PWNED; \"$(touch PWNED)`touch PWNED`\ntouch PWNED";

fn hostile_names(bench: &Bench) -> Result<(), Failed> {
    let victim = bench.write("victim/x/kept", "kept");
    let long = "n".repeat(300);
    let names = ["../../x", "../../../victim/x", "..", ".", "/etc", "a/b", "a\nb", "-rf", "é", "%"]
        .into_iter()
        .chain(["x'; touch PWNED; '", "$(touch PWNED)", "A", "..\\..\\x", ".hidden", &long]);
    for name in names {
        let tree = bench.tree("demo").renamed(name);
        let request = json!({
            "skill": name, "command": "cat SKILL.md >&2 && cd out && echo \"$SKILL_NAME\" > made"
        });
        let output = bench.run_trees(request, vec![tree])?;
        assert_eq!(output.exit_code, Some(0), "{name:?}: {output:?}");
        assert!(output.stderr.contains("name: demo"), "{name:?}: {output:?}");
        let made = fs::read_to_string(bench.workspace().join("out/made"))?;
        assert_eq!(made, format!("{name}\n"));
        assert_eq!(fs::read_to_string(&victim)?, "kept", "{name:?}");
        assert_eq!(names_in(&bench.path("state")), ["content", "workspaces"], "{name:?}");
        assert_eq!(names_in(&bench.path("")), ["skills", "state", "victim"], "{name:?}");
    }
    let nul = bench.tree("demo").renamed("a\0b");
    assert!(bench.run_trees(json!({"skill": "a\0b", "command": "true"}), vec![nul]).is_err());
    assert!(bench.run(json!({"skill": "../demo", "command": "true"})).is_err());
    Ok(())
}

/// A tree is made by another crate, which never makes such entries; nobody relies on that.
fn hostile_entries(bench: &Bench) -> Result<(), Failed> {
    let outside = bench.path("outside");
    fs::create_dir(&outside)?;
    let text = fs::read_to_string(bench.path("skills/demo/SKILL.md"))?;
    let absolute = bench.path("absolute").display().to_string();
    let paths = ["../../victim/new", "a/../../../new", "", ".", "..", "a//b", "./c", "link/new"];
    for (number, path) in paths.into_iter().chain([absolute.as_str()]).enumerate() {
        let mut tree = bench.tree("demo").renamed(&format!("demo{number}"));
        let mut file = tree.entries[0].clone();
        file.path = path.to_owned();
        tree.entries = vec![crate::bench::link("link", &outside.display().to_string()), file];
        // What would be copied is there, so that nothing but the rule refuses it.
        if !path.ends_with('.') && !path.is_empty() {
            fs::create_dir_all(bench.path("skills/demo/a"))?;
            bench.write(&format!("skills/demo/{path}"), &text);
        }
        let request = json!({"skill": tree.name, "command": "true"});
        assert!(bench.run_trees(request, vec![tree]).is_err(), "{path:?}");
        assert_eq!(names_in(&bench.path("state")), ["content", "workspaces"], "{path:?}");
        assert_eq!(names_in(&outside), [""; 0], "{path:?}");
        assert_eq!(names_in(&bench.path("state/content")), [""; 0], "{path:?}");
    }
    Ok(())
}

fn nothing_can_be_put_outside(bench: &Bench) -> Result<(), Failed> {
    let victim = bench.write("victim", "kept");
    bench.sh("echo seed > out/seed");
    let outside = victim.display().to_string();
    for to in [
        "../x",
        "../../../victim",
        "/tmp/x",
        &outside,
        "work/../../x",
        "work/..",
        "$WORK_DIR/../../x",
        "$HOME/x",
        "$WORK_DIRX/y",
        "${WORK_DIR}x",
        "${WORK_DIR",
        "~/x",
        "skills/demo/x",
        "runs/x/y",
        "metadata.json",
        ".venv/bin/ls",
        ".venvs/demo/bin/ls",
        ".lock",
        "work",
        "out",
        "$WORK_DIR",
        "out/a\nb",
        "out/a\0b",
        "C:/x",
        "$RUN_DIR/../record.json",
        "content/x",
    ] {
        for mode in ["copy", "link"] {
            let inputs = json!([{"from": "workspace://out/seed", "to": to, "mode": mode}]);
            let request = json!({"skill": "demo", "command": "echo ran", "inputs": inputs});
            assert!(bench.run(request).is_err(), "{to:?} as {mode}");
        }
    }
    assert_eq!(fs::read_to_string(victim)?, "kept");
    Ok(())
}

fn sources_that_leave(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.write("secret", "secret");
    bench.write("hostile/secret", "secret");
    bench.write("host/plain", "plain");
    bench.write("skills/other/SKILL.md", "secret");
    std::os::unix::fs::symlink("../secret", bench.path("host/link"))?;
    std::os::unix::fs::symlink("/", bench.path("host/root"))?;
    bench.settings.host_inputs = vec![bench.path("host")];
    let root = bench.path("").display().to_string();
    let root = root.trim_end_matches('/');
    let below = |rest: &str| format!("host://{root}/{rest}");
    let mut sources: Vec<String> = [
        "workspace://../x",
        "workspace:///etc/passwd",
        "workspace://$HOME/x",
        "workspace://~/x",
        "workspace://out/../../x",
        "workspace://a\0b",
        "workspace://out/a\nb",
        "WORKSPACE://out/x",
        "skill://../../x",
        "skill://demo/../../x",
        "skill://demo//etc/passwd",
        "skill://demo/$HOME/x",
        "skill://other/SKILL.md",
        "skill:///etc/passwd",
        "skill://",
        "host:///etc/shadow",
        "host://etc/passwd",
        "host:///",
        "host://",
        "host:///dev/zero",
        "host:///proc/self/environ",
        "file:///etc/passwd",
        "/etc/passwd",
        "../x",
        "",
        "artifact://../x",
        "artifact:///etc/passwd",
        "artifact://user:../x",
        "artifact://a\0b",
        "artifact://",
    ]
    .map(str::to_owned)
    .into();
    sources.extend(
        ["secret", "host/../secret", "hostile/secret", "host/link", "host/root/etc/passwd"]
            .map(below),
    );
    for from in sources {
        for mode in ["copy", "link"] {
            let inputs = json!([{"from": from, "to": "work/inputs/x", "mode": mode}]);
            let request = json!({"skill": "demo", "command": "cat inputs/x", "inputs": inputs});
            let refused = bench.run(request);
            assert!(refused.is_err(), "{from:?} as {mode}: {refused:?}");
        }
    }
    let inputs = json!([{"from": below("host/plain"), "to": "work/inputs/x"}]);
    let allowed =
        bench.run(json!({"skill": "demo", "command": "cat inputs/x", "inputs": inputs}))?;
    assert_eq!(allowed.stdout, "plain", "{allowed:?}");
    Ok(())
}

fn directories_that_leave(bench: &Bench) -> Result<(), Failed> {
    bench.sh("ln -s / work/root; ln -s /tmp out/link; mkdir -p work/real; echo > work/file");
    for cwd in [
        "..",
        "../..",
        "/",
        "/tmp",
        "$WORK_DIR/../..",
        "$HOME",
        "$WORK_DIRX/a",
        "${WORK_DIR}a",
        "work\0",
        "out/\n",
        "..\\..",
        "~",
        "nowhere",
        "$WORK_DIR/root",
        "$WORK_DIR/root/tmp",
        "out/link",
        "work/root/usr",
        "$WORK_DIR/file",
        "$RUN_DIR/../..",
        "-",
        "work/real/../..",
    ] {
        let refused = bench.run(json!({"skill": "demo", "command": "pwd", "cwd": cwd}));
        assert!(refused.is_err(), "{cwd:?} led to {refused:?}");
    }
    for (cwd, end) in
        [("$WORK_DIR/real", "/work/real\n"), ("out", "/out\n"), ("", "/skills/demo\n")]
    {
        let output = bench.run(json!({"skill": "demo", "command": "pwd -P", "cwd": cwd}))?;
        assert!(output.stdout.ends_with(end), "{cwd:?} led to {output:?}");
    }
    Ok(())
}

fn patterns_that_leave(bench: &Bench) -> Result<(), Failed> {
    for pattern in [
        "../*",
        "/etc/*",
        "$HOME/*",
        "out/../../*",
        "$WORK_DIR/../*",
        "${OUTPUT_DIR}x/*",
        "$WORK_DIRX/*",
        "[",
        "out/{a",
        "out/a\n*",
        "out/\0",
    ] {
        for field in ["output_files", "outputs"] {
            let value =
                if field == "outputs" { json!({"globs": [pattern]}) } else { json!([pattern]) };
            let mut request = json!({"skill": "demo", "command": "echo ran"});
            request[field] = value;
            assert!(bench.run(request).is_err(), "{pattern:?} in {field}");
        }
    }
    bench.write("state/workspaces/secret.txt", "secret");
    for pattern in ["out/{..,x}/*", "{..,.}/**", "out/[.][.]/*", "?./*", "**/secret.txt", "\\../*"]
    {
        let request = json!({"skill": "demo", "command": "true", "outputs": {"globs": [pattern]}});
        let found = bench.run(request);
        let files = found.map(|it| it.output_files).unwrap_or_default();
        assert!(files.iter().all(|file| !file.name.contains("secret")), "{pattern:?}: {files:?}");
    }
    Ok(())
}

/// Names that decide what a program loads, where it looks, or how a shell reads.
const LOADERS: &[&str] = &[
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "ld_preload",
    "DYLD_INSERT_LIBRARIES",
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "BASHOPTS",
    "IFS",
    "CDPATH",
    "GLOBIGNORE",
    "BASH_FUNC_ls%%",
    "BASH_FUNC_ls()",
    "GIT_SSH_COMMAND",
    "GIT_EXEC_PATH",
    "GIT_CONFIG_COUNT",
    "GIT_DIR",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "PYTHONBREAKPOINT",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5OPT",
    "PERL5LIB",
    "RUBYOPT",
    "RUBYLIB",
    "LUA_INIT",
    "LUA_PATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "GCONV_PATH",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "OPENSSL_ENGINES",
    "GLIBC_TUNABLES",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY",
    "https_proxy",
    "NO_PROXY",
    "ALL_PROXY",
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "WORK_DIR",
    "RUN_DIR",
    "SKILL_NAME",
    "METIER_HOME",
    "PIP_INDEX_URL",
    "UV_INDEX_URL",
    "npm_config_registry",
    "RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "MAKEFLAGS",
    "LESSOPEN",
    "DOTNET_STARTUP_HOOKS",
    "XDG_CONFIG_HOME",
    "SSH_ASKPASS",
    "TCLLIBPATH",
    "BASH_XTRACEFD",
    "",
    "A=B",
    "A B",
    "1A",
    "A\0",
    "A\nB",
];

fn loaders(bench: &Bench) -> Result<(), Failed> {
    let mut accepted = Vec::new();
    for name in LOADERS {
        let request = json!({"skill": "demo", "command": "true", "env": {*name: "x"}});
        if bench.run(request).is_ok() {
            accepted.push(*name);
        }
    }
    assert_eq!(accepted, Vec::<&str>::new());
    let clean = bench.sh("env | cut -d= -f1 | sort | tr '\\n' ' '");
    assert_eq!(
        clean.stdout,
        "HOME LANG OUTPUT_DIR PATH PWD RUN_DIR SHLVL SKILLS_DIR SKILL_NAME TMPDIR WORKSPACE_DIR WORK_DIR _ "
    );
    Ok(())
}

fn signs_of_a_shell(bench: &Bench) -> Result<(), Failed> {
    let command = "printf '%s' \"$VALUE\"; cat";
    let plain =
        json!({"skill": "demo", "command": command, "env": {"VALUE": BREAKOUT}, "stdin": BREAKOUT});
    let output = bench.run(plain)?;
    assert_eq!(output.stdout, BREAKOUT.repeat(2), "{output:?}");
    let attempts: Vec<(&str, Value)> = vec![
        ("skill", json!(BREAKOUT)),
        ("cwd", json!(BREAKOUT)),
        ("env", json!({BREAKOUT: "x"})),
        ("inputs", json!([{"from": BREAKOUT}])),
        ("inputs", json!([{"from": format!("workspace://out/{BREAKOUT}")}])),
        ("inputs", json!([{"from": format!("skill://demo/{BREAKOUT}")}])),
        ("inputs", json!([{"from": format!("artifact://{BREAKOUT}")}])),
        ("inputs", json!([{"from": "skill://demo/SKILL.md", "to": format!("work/{BREAKOUT}")}])),
        ("inputs", json!([{"from": "skill://demo/SKILL.md", "to": "work/x'; touch PWNED; '"}])),
        ("output_files", json!([BREAKOUT])),
        ("output_files", json!(["out/x'; touch PWNED; '*"])),
        ("outputs", json!({"globs": ["out/*"], "save": true, "name_template": BREAKOUT})),
        ("artifact_prefix", json!(BREAKOUT)),
    ];
    for (field, value) in attempts {
        let mut request = json!({
            "skill": "demo", "command": "echo x > 'out/x'\\''; touch PWNED; '\\'''", "save_as_artifacts": true
        });
        request[field] = value;
        // Refused or taken as a name; never as a command.
        let _either = bench.run(request);
        let found = crate::bench::find(&bench.path(""), "PWNED");
        assert!(found.is_empty(), "{field}: {found:?}");
    }
    Ok(())
}

fn times(bench: &Bench) -> Result<(), Failed> {
    for timeout in [0.0, -1.0, -0.0, 1e300, 1e18, 3601.0, 1e-12] {
        let request = json!({"skill": "demo", "command": "true", "timeout": timeout});
        assert!(bench.run(request).is_err(), "{timeout}");
    }
    for command in ["", " \n\t", "a\0b"] {
        assert!(bench.run(json!({"skill": "demo", "command": command})).is_err(), "{command:?}");
    }
    Ok(())
}

fn long_values(bench: &Bench) -> Result<(), Failed> {
    let long = "a".repeat(9 << 20);
    let deep = "a/".repeat(100_000);
    for (field, value) in [
        ("skill", json!(long)),
        ("command", json!(format!("true {long}"))),
        ("cwd", json!(deep)),
        ("env", json!({"A": long})),
        ("inputs", json!([{"from": format!("workspace://{deep}")}])),
        ("inputs", json!([{"from": "skill://demo/SKILL.md", "to": format!("work/{deep}")}])),
        (
            "inputs",
            json!([{"from": "skill://demo/SKILL.md", "to": format!("work/{}", "n".repeat(300))}]),
        ),
        ("output_files", json!([deep])),
    ] {
        let mut request = json!({"skill": "demo", "command": "true"});
        request[field] = value;
        assert!(bench.run(request).is_err(), "{field}");
    }
    let input = json!({"skill": "demo", "command": "wc -c", "stdin": long});
    assert_eq!(bench.run(input)?.stdout.trim(), "9437184");
    assert_eq!(bench.sh("echo still works").stdout, "still works\n");
    Ok(())
}

/// Names in a folder, sorted.
pub(crate) fn names_in(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").filter_map(Result::ok);
    let mut names: Vec<_> =
        entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
