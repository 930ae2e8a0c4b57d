//! The settings as a page of the reference, in Markdown.

use std::fmt::Write as _;

use crate::key::SettingKey;
use crate::sections::SECTIONS;

const START: &str = "# Settings

Made by `cargo xtask docs` from the program itself.

Settings are read in this order; what comes later wins:

1. the defaults below,
2. your own file: `config.toml` in the state directory (`METIER_HOME`, else `~/.metier`),
3. environment variables,
4. `/etc/metier/config.toml`, for everybody who uses the machine,
5. `.metier/config.toml` of the project, from the root of the repository down to the working directory.

The last two can only narrow: they take rights away and never give any. What such a file may do with a setting is \
said at each; a line that it may not have is left out with a warning ([M090](rules.md#m090)).

- `metier config set KEY VALUE` and `metier config unset KEY` change your own file and leave its comments alone; `metier config edit` opens it in your \
editor, and `metier config path` prints where it is. What would not load is not written.
- `metier config show` prints what is in force and which file and line says so, `metier config show --all` also \
prints what nobody has set.
- `metier config sample` prints a file with every setting explained and commented out \
([config.sample.toml](config.sample.toml)). To start from it, if there is no such file yet: \
`mkdir -p ~/.metier && metier config sample >~/.metier/config.toml`.
- `metier config schema` prints a JSON Schema ([config.schema.json](config.schema.json)), with which editors complete \
and check the file. The first line of the sample, `#:schema ./config.schema.json`, tells editors to look for the schema beside it.

In variables a list is separated by commas, and a switch is `true`, `false`, `1` or `0`. Settings below a name that you choose \
(`NAME`) have no variable.

";

const END: &str = "
## Other variables

These are not settings of a file.

| variable | meaning |
|---|---|
| `METIER_HOME` | The state directory; else `~/.metier` |
| `METIER_PROFILE` | Gives the default agent the folder `workspace-PROFILE` |
| `SKILLS_ROOT` | One more of `skills.extra_dirs` |
| `SKILLS_CACHE_DIR` | Where archives of skills are unpacked |
| `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` | The keys of these providers, where the file has none |
| `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` | Where they are asked, where the file says nothing |
| `METIER_MCP_TOKEN` | The token for `metier mcp --http`, without `--token-file` |
| `DOCKER_HOST` | The socket of Docker or Podman, where `exec.container.socket` is not set |
| `OTEL_EXPORTER_OTLP_ENDPOINT` and others | Where [traces](tasks.md#spans) are sent |
| `NO_COLOR` | No colours, whatever the terminal can do |
| `CLICOLOR_FORCE` | Colours, even where there is no terminal |
| `COLUMNS` | The width of text |
";

/// The page.
pub fn reference_page() -> String {
    let mut text = String::from(START);
    text.push_str("| section | about |\n|---|---|\n");
    for section in SECTIONS {
        let name = shown(section.name);
        let _infallible =
            writeln!(text, "| [`[{name}]`](#{}) | {} |", anchor(&name), section.help());
    }
    for section in SECTIONS {
        let _infallible = write!(text, "\n## {}\n\n{}\n", shown(section.name), section.help());
        for key in section.keys {
            text.push_str(&entry(key));
        }
    }
    text.push_str(END);
    text
}

fn entry(key: &SettingKey) -> String {
    let variable = match key.variable() {
        Some(name) => format!("\n- Variable: `{name}`"),
        None => String::new(),
    };
    format!(
        "\n### {}\n\n{}.\n\n- Type: {}\n- Default: `{}`{variable}\n- A project {}\n",
        shown(key.name),
        key.help(),
        key.kind.description(),
        key.default,
        key.narrowing.description(),
    )
}

/// A name with a word in place of what the person chooses.
fn shown(name: &str) -> String {
    name.replace('*', "NAME")
}

/// What code hosts and sites call a heading.
fn anchor(heading: &str) -> String {
    heading.to_lowercase().replace('.', "")
}
