//! Advice about skills in the words of the command line: which command to run, which setting to change.
//!
//! The library says what is to be done as [`SkillAdvice`]. A list of problems has shorter words for some of it than
//! the page of one skill, and puts some behind the message instead of below it.

use std::borrow::Cow;

use metier_config::toml_key;
use metier_skill::advice::{EntryVariable, ProgramSource, SkillAdvice};
use metier_skill::header::RefusedOption;
use metier_skill::library::{Block, Entry, EntryRefusal};
use metier_skill::problem::Problem;

/// A problem in the words of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProblemText<'a> {
    /// The fault, and the remedy if it is short.
    pub(crate) message: Cow<'a, str>,
    /// The remedy otherwise.
    pub(crate) help: Option<Cow<'a, str>>,
}

impl<'a> ProblemText<'a> {
    /// Returns the words for a problem.
    pub(crate) fn of(problem: &'a Problem) -> Self {
        let same = Cow::Borrowed(problem.message.as_str());
        let below = |message, help: String| Self { message, help: Some(help.into()) };
        let behind = |help: &str| Self {
            message: format!("{}; {help}", problem.message).into(),
            help: None,
        };
        let Some(advice) = problem.advice.as_deref() else {
            return Self { message: same, help: problem.help.as_deref().map(Cow::Borrowed) };
        };
        match advice {
            SkillAdvice::TrustProject => behind("look at what is there, then run `metier trust`"),
            SkillAdvice::TrustOfferedSkills { .. } => behind(&words(advice)),
            SkillAdvice::TrustChanges => {
                below(same, "look at the changes, then run `metier trust`".to_owned())
            }
            SkillAdvice::CorrectEntry { key, refusal } => {
                let message =
                    format!("`skills.entries.{key}` is not for this skill: the entry {refusal}");
                let is_of_another = matches!(refusal, EntryRefusal::OtherSource(_));
                let help = (!is_of_another).then(|| words(advice).into());
                Self { message: message.into(), help }
            }
            advice => below(same, words(advice)),
        }
    }
}

/// Returns the words for what to do about something that keeps a skill from being used.
pub(crate) fn remedy(entry: &Entry, block: &Block) -> Option<String> {
    entry.advice(block).as_ref().map(words)
}

/// Returns the words for a piece of advice.
pub(crate) fn words(advice: &SkillAdvice) -> String {
    match advice {
        SkillAdvice::EnableSkills => "set `skills.enabled = true`".to_owned(),
        SkillAdvice::EnableSkill { key } => {
            format!("set `skills.entries.{}.enabled = true`", toml_key(key))
        }
        SkillAdvice::RemoveDeniedPattern { pattern } => {
            format!("take `{pattern}` out of `skills.denied`")
        }
        SkillAdvice::TrustProject => "look at its files, then run `metier trust`".to_owned(),
        SkillAdvice::TrustChanges => {
            "look at the changes, then run `metier trust` again".to_owned()
        }
        SkillAdvice::TrustRemoteSkill { skill } => format!(
            "read it with `metier read skill://{skill}/SKILL.md`, then run `metier skills trust {skill}`, both with the `--mcp` of its server, unless it is configured"
        ),
        SkillAdvice::TrustRemoteChanges { .. } => {
            "look at it, then run `metier skills trust`".to_owned()
        }
        SkillAdvice::TrustOfferedSkills { .. } => {
            "`metier skills trust NAME` shows one and asks".to_owned()
        }
        SkillAdvice::CorrectHeader { folder: Some(folder) } => {
            format!("`metier skills lint {}` shows where", folder.display())
        }
        SkillAdvice::SetVariable { variable, entry: Some(entry) } => {
            format!("set {variable}, or {}", setting_of(variable, entry))
        }
        SkillAdvice::DescribeServer { server } => {
            let key = toml_key(server);
            format!(
                "describe it in your configuration as `[mcp.servers.{key}]`, or see in `metier mcp servers` why it is not used"
            )
        }
        SkillAdvice::AllowTool { server } => {
            let server = toml_key(server);
            format!("look at `mcp.servers.{server}.tools` and `mcp.servers.{server}.deny`")
        }
        SkillAdvice::InstallPrograms { skill, programs, sources, refused, is_for_system } => {
            let mut text = match &sources[..] {
                [] => format!("install {}", programs.join(" or ")),
                sources => {
                    let sources: Vec<String> =
                        sources.iter().map(ProgramSource::to_string).collect();
                    let sources = sources.join(" or ");
                    format!("run `metier skills install-deps {skill}`, which uses {sources}")
                }
            };
            for RefusedOption { id, reason } in refused {
                text.push_str(&format!("; the install option `{id}` is refused: {reason}"));
            }
            if *is_for_system {
                text.push_str(", for the whole system: in /usr/bin or /usr/local/bin");
            }
            text
        }
        SkillAdvice::AllowFolderLinkTarget => {
            "move the skills into the project, or add the target to `skills.allow_symlink_targets`"
                .to_owned()
        }
        SkillAdvice::AllowLinkTarget => {
            "move the skill into the root, or add its target to `skills.allow_symlink_targets`"
                .to_owned()
        }
        // Its own words name nothing that the command line calls otherwise.
        advice => advice.to_string(),
    }
}

/// Returns the setting that holds a variable for one skill, and what else its entry must say.
fn setting_of(variable: &str, entry: &EntryVariable) -> String {
    let key = toml_key(&entry.key);
    let setting = match entry.is_primary {
        true => format!("`skills.entries.{key}.api_key`"),
        false => format!("`skills.entries.{key}.env.{variable}`"),
    };
    match entry.source {
        Some(source) => format!("{setting} with `source = \"{source}\"`"),
        None => setting,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use metier_skill::diagnostic::Code;
    use metier_skill::discover::Source;
    use metier_skill::header::InstallKind;
    use metier_skill::name::SkillName;

    use super::*;

    fn name(name: &str) -> SkillName {
        SkillName::new(name).unwrap()
    }

    /// Every piece of advice, once.
    fn every_advice() -> Vec<SkillAdvice> {
        use SkillAdvice as A;
        let variable = |key: &str, is_primary, source| {
            let entry = EntryVariable { key: key.into(), is_primary, source };
            A::SetVariable { variable: "PDF_KEY".into(), entry: Some(entry) }
        };
        let entry = |refusal| A::CorrectEntry { key: "pdf".into(), refusal };
        let programs = |sources: &[(InstallKind, &str)], is_for_system| A::InstallPrograms {
            skill: name("pdf"),
            programs: vec!["pdftotext".into(), "mutool".into()],
            sources: sources
                .iter()
                .map(|(kind, target)| ProgramSource { kind: *kind, target: (*target).into() })
                .collect(),
            refused: Vec::new(),
            is_for_system,
        };
        let refused = RefusedOption { id: "1".into(), reason: "it has no package".into() };
        vec![
            A::EnableSkills,
            A::EnableSkill { key: "a.b".into() },
            A::RemoveDeniedPattern { pattern: "git-*".into() },
            A::AllowSkill { skill: name("pdf"), list: "`skills.allowed`".into() },
            A::TrustProject,
            A::TrustChanges,
            A::TrustRemoteSkill { skill: name("pdf") },
            A::TrustRemoteChanges { skill: name("pdf") },
            A::TrustOfferedSkills { server: name("far") },
            A::CorrectHeader { folder: Some("/skills/pdf".into()) },
            A::CorrectHeader { folder: None },
            A::SetVariable { variable: "PDF_KEY".into(), entry: None },
            variable("pdf", true, None),
            variable("my_tools:pdf", false, Some(Source::Plugin)),
            A::SetSetting { key: "browser.enabled".into() },
            A::DescribeServer { server: "far".into() },
            A::AllowTool { server: "far".into() },
            programs(&[], true),
            programs(&[(InstallKind::Brew, "poppler"), (InstallKind::Apt, "mupdf")], false),
            A::InstallPrograms {
                skill: name("pdf"),
                programs: vec!["pdftotext".into()],
                sources: Vec::new(),
                refused: vec![refused],
                is_for_system: false,
            },
            A::AllowLinkTarget,
            entry(EntryRefusal::SourceNotNamed(Source::Project)),
            entry(EntryRefusal::DottedKey),
        ]
    }

    #[test]
    fn advice_about_skills_names_commands_and_settings() {
        let lines: Vec<String> = every_advice().iter().map(words).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        set `skills.enabled = true`
        set `skills.entries."a.b".enabled = true`
        take `git-*` out of `skills.denied`
        add `pdf` to `skills.allowed`
        look at its files, then run `metier trust`
        look at the changes, then run `metier trust` again
        read it with `metier read skill://pdf/SKILL.md`, then run `metier skills trust pdf`, both with the `--mcp` of its server, unless it is configured
        look at it, then run `metier skills trust`
        `metier skills trust NAME` shows one and asks
        `metier skills lint /skills/pdf` shows where
        ask its author to correct its header
        set PDF_KEY
        set PDF_KEY, or `skills.entries.pdf.api_key`
        set PDF_KEY, or `skills.entries."my_tools:pdf".env.PDF_KEY` with `source = "plugin"`
        set `browser.enabled`
        describe it in your configuration as `[mcp.servers.far]`, or see in `metier mcp servers` why it is not used
        look at `mcp.servers.far.tools` and `mcp.servers.far.deny`
        install pdftotext or mutool, for the whole system: in /usr/bin or /usr/local/bin
        run `metier skills install-deps pdf`, which uses brew `poppler` or apt `mupdf`
        install pdftotext; the install option `1` is refused: it has no package
        move the skill into the root, or add its target to `skills.allow_symlink_targets`
        if this skill should have it, add `source = "project"` to the entry
        give the skill a name without dots
        "#);
    }

    /// What models and programs that use the library read.
    #[test]
    fn the_words_of_the_library_name_neither() {
        for advice in every_advice() {
            let text = advice.to_string();
            let is_ours = |it: &SkillAdvice| matches!(it, SkillAdvice::AllowSkill { .. });
            assert!(is_ours(&advice) || !crate::failure::names_setting(&text), "{text}");
            assert!(!text.contains("metier"), "{text}");
        }
    }

    #[test]
    fn a_problem_has_its_advice_behind_the_message_or_below_it() {
        let said = |advice| {
            let problem = Problem::new(Code::Untrusted, Path::new("/p"), "not used").advise(advice);
            let ProblemText { message, help } = ProblemText::of(&problem);
            format!("{message} | {}", help.as_deref().unwrap_or("-"))
        };
        let entry = |refusal| SkillAdvice::CorrectEntry { key: "pdf".into(), refusal };
        insta::assert_snapshot!(
            [
                said(SkillAdvice::TrustProject),
                said(SkillAdvice::TrustOfferedSkills { server: name("far") }),
                said(SkillAdvice::TrustChanges),
                said(SkillAdvice::TrustRemoteChanges { skill: name("pdf") }),
                said(SkillAdvice::AllowLinkTarget),
                said(entry(EntryRefusal::SourceNotNamed(Source::Project))),
                said(entry(EntryRefusal::OtherSource(Source::Plugin))),
                said(entry(EntryRefusal::DottedKey)),
            ]
            .join("\n"),
            @r#"
            not used; look at what is there, then run `metier trust` | -
            not used; `metier skills trust NAME` shows one and asks | -
            not used | look at the changes, then run `metier trust`
            not used | look at it, then run `metier skills trust`
            not used | move the skill into the root, or add its target to `skills.allow_symlink_targets`
            `skills.entries.pdf` is not for this skill: the entry does not say `source = "project"` | if this skill should have it, add `source = "project"` to the entry
            `skills.entries.pdf` is not for this skill: the entry says `source = "plugin"` | -
            `skills.entries.pdf` is not for this skill: the entry cannot have a key with a dot | give the skill a name without dots
            "#
        );
        let helped = Problem::new(Code::Untrusted, Path::new("/p"), "not used").help("say so");
        let text = ProblemText { message: "not used".into(), help: Some("say so".into()) };
        assert_eq!(ProblemText::of(&helped), text);
    }
}
