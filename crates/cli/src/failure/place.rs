//! Where a setting goes that a failure or a remedy names: people who are told to set `exec.max_timeout` are told the file too.

use std::path::Path;

use metier_config::SettingKey;

use super::Failure;

impl Failure {
    /// The same with the person's file of settings, if it is about settings and names no file itself.
    #[must_use]
    pub(crate) fn naming(self, file: &Path) -> Self {
        let message = self.to_string();
        let is_placed = message.contains("config.toml") || message.starts_with('$');
        match &self.hint {
            _ if is_placed => self,
            Some(hint) if names_setting(&message) || names_setting(hint) => {
                let hint = with_place(hint, file);
                self.hint(hint)
            }
            None if names_setting(&message) => self.hint(place(file)),
            _ => self,
        }
    }
}

fn with_place(hint: &str, file: &Path) -> String {
    let is_complete = hint.ends_with('?') || hint.contains("config.toml");
    if is_complete { hint.to_owned() } else { format!("{hint}; {}", place(file)) }
}

fn place(file: &Path) -> String {
    format!("settings go into `{}`", file.display())
}

/// Whether something in backticks is a setting, the beginning of one, or a line that sets one.
pub(crate) fn names_setting(text: &str) -> bool {
    text.split('`').skip(1).step_by(2).any(|quoted| {
        let name = quoted.split([' ', '"', ']']).next().unwrap_or_default();
        is_setting(name.trim_start_matches('[').trim_end_matches('.'))
    })
}

fn is_setting(name: &str) -> bool {
    name.contains('.') && SettingKey::all().any(|key| key.begins_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_told_to_set_something_is_told_where() {
        let said = |failure: Failure| {
            let failure = failure.naming(Path::new("/home/ada/.metier/config.toml"));
            format!("{failure} | {}", failure.remedy().unwrap_or("-"))
        };
        let new = Failure::new;
        insta::assert_snapshot!([
            said(new("too long").hint("set `exec.max_timeout = 7200`")),
            said(new("no image (`exec.container.pull = true`)")),
            said(new("no image (`exec.container.pull = true`)").hint("look at its name")),
            said(new("no server").hint("`[mcp.servers.git]` describes one")),
            said(new("off").hint("set `skills.entries.\"a.b\".enabled = true`")),
            said(new("~/.metier/config.toml:4: `exec.timeout` is not a number")),
            said(new("$METIER_EXEC_TIMEOUT: `exec.timeout` is not a number")),
            said(new("there is no setting `exec.timout`").hint("did you mean `exec.timeout`?")),
            said(new("there is no skill `exec`").hint("`metier skills list` shows `skills`")),
        ].join("\n"), @r#"
        too long | set `exec.max_timeout = 7200`; settings go into `/home/ada/.metier/config.toml`
        no image (`exec.container.pull = true`) | settings go into `/home/ada/.metier/config.toml`
        no image (`exec.container.pull = true`) | look at its name; settings go into `/home/ada/.metier/config.toml`
        no server | `[mcp.servers.git]` describes one; settings go into `/home/ada/.metier/config.toml`
        off | set `skills.entries."a.b".enabled = true`; settings go into `/home/ada/.metier/config.toml`
        ~/.metier/config.toml:4: `exec.timeout` is not a number | -
        $METIER_EXEC_TIMEOUT: `exec.timeout` is not a number | -
        there is no setting `exec.timout` | did you mean `exec.timeout`?
        there is no skill `exec` | `metier skills list` shows `skills`
        "#);
    }
}
