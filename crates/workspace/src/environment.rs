//! The environment of a run: what metier sets, what the configuration adds, what the caller may add.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use metier_approval::is_loader_variable;
use thiserror::Error;

use crate::encode::file_name;
use crate::layout::home;
use crate::order::{InstalledTools, NO_SKILL};
use crate::path::Inside;

/// Folders of the system in which programs are looked for.
pub const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What programs take their terminal for. What it can do beyond text is stripped, not shown.
const TERMINAL: &str = "xterm-256color";

/// Why a variable is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VariableError {
    /// No program could read it.
    #[error("`{0}` is not a name for a variable; use letters, digits and `_`")]
    Name(String),
    /// It has a zero byte.
    #[error("the value of `{0}` has a zero byte")]
    Value(String),
    /// It would change what runs, or how.
    #[error("`{0}` may not be set for a run; it decides what programs load or where they look")]
    Blocked(String),
    /// It is set already.
    #[error("`{0}` is set by metier or the configuration and may not be changed by a call")]
    Taken(String),
    /// There are more than a call can have.
    #[error(
        "it has {count} variables of {bytes} bytes; the limit is {MAX_CALLED} variables of {MAX_CALLED_BYTES} bytes together"
    )]
    TooMany {
        /// How many there are.
        count: usize,
        /// How many bytes their names and values have together.
        bytes: usize,
    },
}

/// Most variables of a call.
const MAX_CALLED: usize = 256;
/// Most bytes of the variables of a call; the kernel gives a program no more than a few times as many.
const MAX_CALLED_BYTES: usize = 512 << 10;

/// Everything that goes into the environment.
#[derive(Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) skill: String,
    pub(crate) run: Inside,
    /// From the configuration, already checked.
    pub(crate) configured: Vec<(String, String)>,
    /// From the call, already checked.
    pub(crate) called: BTreeMap<String, String>,
    /// Tools that were installed for the skill.
    pub(crate) tools: Vec<InstalledTools>,
    /// Whether the program has a terminal.
    pub(crate) has_terminal: bool,
}

/// Without the values of variables, which may be secret.
impl fmt::Debug for Surroundings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let configured: Vec<&str> = self.configured.iter().map(|(name, _)| &**name).collect();
        formatter
            .debug_struct("Surroundings")
            .field("skill", &self.skill)
            .field("run", &self.run)
            .field("configured", &configured)
            .field("called", &self.called.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl Surroundings {
    /// The variables for a program that finds the workspace at a place.
    pub(crate) fn variables(&self, root: &Path, proxy: Option<&str>) -> Vec<(String, String)> {
        let place = |inside: &str| Inside::known(inside).under(root).display().to_string();
        let run = self.run.as_str();
        let is_of_a_skill = self.skill != NO_SKILL;
        let mut path = if is_of_a_skill {
            let skill = format!("skills/{}", file_name(&self.skill));
            let own = [".venv/bin", "bin"].map(|folder| place(&format!("{skill}/{folder}")));
            format!("{}:{SYSTEM_PATH}:{}", own[0], own[1])
        } else {
            SYSTEM_PATH.to_owned()
        };
        for tools in &self.tools {
            path.push_str(&format!(":{}", tools.programs.display()));
        }
        let mut variables = vec![
            ("HOME".to_owned(), place(home(&self.skill).as_str())),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("OUTPUT_DIR".to_owned(), place("out")),
            ("PATH".to_owned(), path),
            ("RUN_DIR".to_owned(), place(run)),
            ("SKILLS_DIR".to_owned(), place("skills")),
            ("TMPDIR".to_owned(), place(&format!("{run}/tmp"))),
            ("WORKSPACE_DIR".to_owned(), place("")),
            ("WORK_DIR".to_owned(), place("work")),
        ];
        if is_of_a_skill {
            variables.push(("SKILL_NAME".to_owned(), self.skill.clone()));
        }
        if self.has_terminal {
            variables.push(("TERM".to_owned(), TERMINAL.to_owned()));
        }
        if let Some(proxy) = proxy {
            let names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
            for name in names {
                variables.push((name.to_owned(), proxy.to_owned()));
                variables.push((name.to_lowercase(), proxy.to_owned()));
            }
        }
        variables.extend(self.configured.iter().cloned());
        variables.extend(self.called.iter().map(|(name, value)| (name.clone(), value.clone())));
        variables
    }
}

/// Names that metier sets itself.
const OWN: [&str; 10] = [
    "HOME",
    "LANG",
    "OUTPUT_DIR",
    "PATH",
    "RUN_DIR",
    "SKILLS_DIR",
    "SKILL_NAME",
    "TMPDIR",
    "WORKSPACE_DIR",
    "WORK_DIR",
];

/// Checks variables of the configuration.
///
/// # Errors
///
/// For the first that may not be set.
pub fn check_configured(variables: &[(String, String)]) -> Result<(), VariableError> {
    variables.iter().try_for_each(|(name, value)| check(name, value))
}

/// Checks variables of a call.
///
/// # Errors
///
/// For the first that may not be set, or is set already.
pub fn check_called(
    called: &BTreeMap<String, String>,
    configured: &[(String, String)],
) -> Result<(), VariableError> {
    let (count, bytes) =
        (called.len(), called.iter().map(|(name, it)| name.len() + it.len()).sum());
    if count > MAX_CALLED || bytes > MAX_CALLED_BYTES {
        return Err(VariableError::TooMany { count, bytes });
    }
    for (name, value) in called {
        check(name, value)?;
        if configured.iter().any(|(other, _)| other == name) {
            return Err(VariableError::Taken(name.clone()));
        }
    }
    Ok(())
}

fn check(name: &str, value: &str) -> Result<(), VariableError> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.is_empty() || !name.bytes().all(is_word) || name.as_bytes()[0].is_ascii_digit() {
        return Err(VariableError::Name(name.escape_debug().to_string()));
    }
    if value.contains('\0') {
        return Err(VariableError::Value(name.to_owned()));
    }
    if OWN.contains(&name) {
        return Err(VariableError::Taken(name.to_owned()));
    }
    if is_loader_variable(name) { Err(VariableError::Blocked(name.to_owned())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_a_call_are_bounded() {
        let called = |count: usize, bytes: usize| {
            let named = (0..count).map(|it| (format!("A{it:03}"), "a".repeat(bytes)));
            check_called(&named.collect(), &[])
        };
        assert_eq!(called(MAX_CALLED, 1), Ok(()));
        let refused = called(MAX_CALLED + 1, 1).expect_err("too many");
        insta::assert_snapshot!(refused, @"it has 257 variables of 1285 bytes; the limit is 256 variables of 524288 bytes together");
        assert!(matches!(called(1, MAX_CALLED_BYTES), Err(VariableError::TooMany { .. })));
    }

    #[test]
    fn what_decides_what_is_loaded_may_not_be_set() {
        for name in [
            "LD_PRELOAD",
            "ld_preload",
            "LD_AUDIT",
            "DYLD_INSERT_LIBRARIES",
            "BASH_ENV",
            "ENV",
            "PS4",
            "SHELLOPTS",
            "GIT_SSH_COMMAND",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "https_proxy",
            "NO_PROXY",
            "SSL_CERT_FILE",
            "BASH_FUNC_ls%%",
            "PATH",
            "HOME",
            "WORK_DIR",
            "TMPDIR",
            "A=B",
            "",
            "1A",
            "A B",
            "METIER_HOME",
        ] {
            assert!(check(name, "x").is_err(), "{name}");
        }
        for name in ["A", "_x", "API_KEY", "DEBUG", "LDAP", "GITHUB_TOKEN", "LESSON", "TEXT"] {
            assert_eq!(check(name, "x"), Ok(()), "{name}");
        }
        assert!(check("A", "x\0y").is_err());
    }

    #[test]
    fn installed_tools_take_the_place_of_nothing_else() {
        let tools = vec![InstalledTools {
            folder: "/state/tools/ship".into(),
            programs: "/state/tools/ship/.bin".into(),
        }];
        let surroundings =
            Surroundings { skill: "ship".to_owned(), tools, ..Surroundings::default() };
        let variables = surroundings.variables(Path::new("/workspace"), None);
        let (_, path) = variables.iter().find(|(name, _)| name == "PATH").unwrap();
        assert!(path.ends_with("/bin:/workspace/skills/ship/bin:/state/tools/ship/.bin"), "{path}");
    }

    #[test]
    fn a_call_may_not_change_what_was_configured() {
        let configured = vec![("TOKEN".to_owned(), "secret".to_owned())];
        let called = BTreeMap::from([("TOKEN".to_owned(), "other".to_owned())]);
        assert_eq!(check_called(&called, &configured), Err(VariableError::Taken("TOKEN".into())));
    }
}
