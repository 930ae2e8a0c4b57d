//! Examples for pages of help that need nothing else, and sentences that some pages end with.

/// Command lines, each with what it does if that is not plain, by the path of their command.
pub(super) const EXAMPLES: &[(&str, Examples)] = &[
    ("skills info", &[("metier skills info csv-stats", "")]),
    ("skills explain", &[("metier skills explain csv-stats", "")]),
    ("skills docs", &[("metier skills docs csv-stats", "")]),
    ("skills catalog", &[("metier skills catalog --tokens 500", "within a budget")]),
    (
        "skills tokens",
        &[("metier skills tokens", ""), ("metier skills tokens --json", "for programs")],
    ),
    ("skills new", &[("metier skills new tidy-notes --dir .agents/skills", "")]),
    ("skills trust", &[("metier skills trust NAME --mcp \"npx some-server\"", "")]),
    (
        "setup",
        &[
            ("metier setup", "asks before it changes anything"),
            ("metier setup --workspace ~/agent --yes", "asks nothing"),
        ],
    ),
    (
        "sessions",
        &[
            ("metier sessions list", ""),
            ("metier sessions show monday --details", ""),
            ("metier sessions export monday >monday.jsonl", ""),
            ("metier sessions rm monday", ""),
        ],
    ),
    (
        "sessions list",
        &[("metier sessions list", ""), ("metier sessions list --json", "for programs")],
    ),
    ("sessions show", &[("metier sessions show monday --details", "")]),
    ("sessions rm", &[("metier sessions rm monday", "")]),
    ("sessions export", &[("metier sessions export monday >monday.jsonl", "")]),
    (
        "read",
        &[
            ("metier read skill://csv-stats/SKILL.md --lines 1-20", ""),
            ("metier read artifact://out/summary.txt", ""),
        ],
    ),
    (
        "artifacts",
        &[
            ("metier artifacts list", ""),
            ("metier artifacts get out/summary.txt -o summary.txt", ""),
        ],
    ),
    (
        "artifacts list",
        &[
            ("metier artifacts list", "of the session used last"),
            ("metier artifacts list --session monday", ""),
        ],
    ),
    (
        "artifacts get",
        &[("metier artifacts get out/chart.png@0 -o chart.png", "its first version")],
    ),
    ("artifacts versions", &[("metier artifacts versions out/chart.png", "")]),
    (
        "artifacts rm",
        &[
            ("metier artifacts rm out/chart.png", "all versions"),
            ("metier artifacts rm out/chart.png@0", "one version"),
        ],
    ),
    ("usage", &[("metier usage", ""), ("metier usage --session monday", "")]),
    ("gc", &[("metier gc", "")]),
    ("approvals list", &[("metier approvals list", "")]),
    (
        "approvals add",
        &[
            ("metier approvals add git --args 'status( --short)?' --dir .", ""),
            ("metier approvals add mcp:files/read_file", ""),
        ],
    ),
    ("approvals revoke", &[("metier approvals revoke ID", "`metier approvals list` has the IDs")]),
    (
        "config",
        &[
            ("metier config show", "what is set, and by which file"),
            ("metier config set exec.timeout 60", ""),
            ("metier config sample", "every setting, explained"),
        ],
    ),
    (
        "config set",
        &[
            ("metier config set agent.model openai/gpt-5", ""),
            ("metier config set skills.denied 'git-*,pdf'", "a list"),
            ("metier config set skills.entries.weather.api_key -", "read from standard input"),
        ],
    ),
    ("config unset", &[("metier config unset agent.model", "")]),
    ("config edit", &[("EDITOR='code --wait' metier config edit", "")]),
    ("config path", &[("metier config path", "")]),
    ("config show", &[("metier config show --all", "also what nobody set")]),
    ("config sample", &[("metier config sample >~/.metier/config.toml", "if you have none")]),
    ("config schema", &[("metier config schema >config.schema.json", "")]),
    ("mcp servers", &[("metier mcp servers", "")]),
    ("mcp token", &[("metier mcp token", "")]),
    ("bench prompt-cache", &[("metier bench prompt-cache --html page.html", "")]),
    ("bench token-report", &[("metier bench token-report", "")]),
    ("demo load-modes", &[("metier demo load-modes", "")]),
    ("validate", &[("metier validate ./my-skill", "")]),
    ("read-properties", &[("metier read-properties ./my-skill", "")]),
    ("to-prompt", &[("metier to-prompt ./skills/*", "")]),
];

/// Command lines with what they do.
pub(super) type Examples = &'static [(&'static str, &'static str)];

const SETTINGS: &str =
    "Your own settings are in ~/.metier/config.toml; METIER_HOME moves that folder.";

/// Sentences, by the path of their command.
pub(super) const REMARKS: &[(&str, &str)] =
    &[("config", SETTINGS), ("config show", SETTINGS), ("config sample", SETTINGS)];
