//! The errors of the application as people meet them: an exit code, a message, and its advice in words.

use std::borrow::Cow;

use metier_app::approvals::{ApprovalSettingsError, PreapprovalFault};
use metier_app::grants::GrantError;
use metier_app::library::lookup::SkillLookupError;
use metier_app::models::ModelChoiceError;
use metier_app::servers::{ToolNameError, ToolServerProblem};
use metier_app::sources::archives::ArchiveSourceError;
use metier_app::sources::remote::{FetchedSkillError, RemoteSkillError, ServerFlagError};
use metier_app::turn::AttachmentError;
use metier_app::{Advice, AppError, ErrorKind};

use super::advice::ProblemText;
use super::remedies::{FREE_SPACE, OTHER_STATE, WHICH_SESSIONS};
use super::{FAILED, Failure, USAGE};

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        Self::from(&error)
    }
}

/// Makes failures of the errors that modules of the application return.
macro_rules! from_module {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::from(AppError::from(error))
            }
        }
    )*};
}

from_module!(
    ApprovalSettingsError,
    AttachmentError,
    GrantError,
    ServerFlagError,
    SkillLookupError,
    ToolNameError
);

/// Errors of other crates have words of their own. The application's own say what they are about, and their advice is data.
impl From<&AppError> for Failure {
    fn from(error: &AppError) -> Self {
        use AppError as E;
        let failure = match error {
            E::Config(error) => error.into(),
            E::Keys(error) => error.into(),
            E::Pattern(error) => error.into(),
            E::Trust(error) => error.into(),
            E::Tree(error) => error.into(),
            E::Library(error) => error.into(),
            E::McpClient(error) | E::ToolServer(ToolServerProblem::Client(error)) => error.into(),
            E::RemoteStore(error) => error.into(),
            E::Network(error) => error.into(),
            E::Model(error) => error.into(),
            E::Session(error) => error.into(),
            E::Artifact(error) => error.into(),
            E::Agent(error) => error.into(),
            E::Archive(ArchiveSourceError::Download(error)) => error.into(),
            E::Archive(ArchiveSourceError::Unpack(error)) => error.into(),
            E::RemoteSkill(unusable @ RemoteSkillError::Unusable { source, .. }) => {
                Self::from(&**source).within(unusable.to_string())
            }
            E::Preapproval(preapproval) => {
                let pattern = &preapproval.pattern;
                let message = match &preapproval.source {
                    PreapprovalFault::CoversNothing { because } => {
                        format!("`--yes-to {pattern}` allows nothing: {because}")
                    }
                    fault => format!("`--yes-to {pattern}`: {fault}"),
                };
                Self::new(message).advised(error)
            }
            E::Lookup(SkillLookupError::Unreadable { name, problem }) => {
                let place =
                    format!("{}:{}:{}", problem.path.display(), problem.line, problem.column);
                let why = ProblemText::of(problem).message;
                Self::new(format!("`{name}` was found and cannot be used: {place}: {why}"))
                    .advised(error)
            }
            E::ModelChoice(ModelChoiceError::NoAddress { provider }) => {
                Self::new(format!("`models.providers.{provider}.base_url` is not set"))
                    .advised(error)
            }
            E::Approval(ApprovalSettingsError::TrustedFolder { folder }) => {
                let message =
                    format!("`approvals.trusted_dirs` has `{folder}`, which is no whole path");
                Self::new(message).advised(error)
            }
            E::Grant(_) => Self::brief(error).advised(error),
            _ => Self::of(error).advised(error),
        };
        Self { code: exit_code(error.kind()), ..failure }
    }
}

impl From<&FetchedSkillError> for Failure {
    fn from(error: &FetchedSkillError) -> Self {
        match error {
            FetchedSkillError::Files(error) => error.into(),
            FetchedSkillError::Server(error) => error.into(),
            late => Self::of(late).hint("try again later"),
        }
    }
}

/// Returns the exit code for a kind of error.
const fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Usage => USAGE,
        _ => FAILED,
    }
}

impl Failure {
    /// The same with the advice of an error in words.
    fn advised(self, error: &AppError) -> Self {
        match error.advice().and_then(|advice| advice_words(&advice)) {
            Some(words) => self.hint(words),
            None => self,
        }
    }
}

/// Returns advice in the words of the command line.
fn advice_words(advice: &Advice) -> Option<String> {
    let fixed = match advice {
        Advice::UseName(name) => return Some(format!("did you mean `{name}`?")),
        Advice::FollowFinding(problem) => {
            return ProblemText::of(problem).help.map(Cow::into_owned);
        }
        Advice::UnblockSkill(entry) => {
            return Failure::of_unusable(entry).remedy().map(str::to_owned);
        }
        Advice::ChooseFolderBy(variable) => {
            return Some(format!("set {variable} to a folder that you can write to"));
        }
        Advice::SetProviderAddress(_) => {
            "set it to where the provider is asked, such as `http://127.0.0.1:8080/v1`"
        }
        Advice::WriteNetwork(setting) => {
            return Some(format!("`{setting}` is `none`, `host` or a list of `host:port`"));
        }
        Advice::AskAuthorAboutNetwork(skill) => {
            return Some(format!("ask the author of `{skill}` to correct `sandbox.network`"));
        }
        Advice::AllowAnyArguments(program) => {
            return Some(format!("`--yes-to '{program} .*'` allows any arguments"));
        }
        Advice::SetWithin { min, max: Some(max) } => {
            return Some(format!("set it to a number from {min} to {max}"));
        }
        Advice::SetWithin { min, max: None } => return Some(format!("set it to {min} or more")),
        Advice::FreeDiskSpace => FREE_SPACE,
        Advice::ChooseStateDirectory => OTHER_STATE,
        Advice::ChooseWorkspaceFolder => "set `workspace.folder` to a folder that you can write to",
        Advice::ChooseAgentFolder => "`metier setup --workspace DIR` chooses another",
        Advice::ListSkills => "`metier skills list --all` shows every skill that was found",
        Advice::CheckPath => "check the path",
        Advice::NameProject => "name the project: `metier trust PATH`",
        Advice::PutSkillsIntoProject => {
            "skills of a project are in .metier/skills, .agents/skills or .claude/skills"
        }
        Advice::MakeSkillReadable => "make its files readable for you",
        Advice::ListTrusted => "`metier trust --list` shows what is",
        Advice::ListSessions => WHICH_SESSIONS,
        Advice::BeginSession => "`metier run` and `metier exec` make one",
        Advice::WaitForSession => {
            "wait until the command that uses it has ended, or name another session"
        }
        Advice::WaitForCommand => "wait until the command that uses it has ended",
        Advice::UseOtherSession => {
            "name another session, or set METIER_HOME to a folder that you can write to"
        }
        Advice::NameServer => "name it with `--mcp`, or in the configuration with `skills = true`",
        Advice::WriteServer => "write `--mcp \"PROGRAM ARGUMENT…\"`, or an address",
        Advice::FetchArchive => "`metier skills list` fetches it",
        Advice::TryAgain => "try again",
        Advice::TryAgainOrBlameServer => "try again; else the server does not answer as it should",
        Advice::MakeReadable(_) => "make it readable for you",
        Advice::UnpackArchive => "unpack it yourself, and name the folder",
        Advice::WriteDigest => "if the change is wanted, write the new digest behind `#sha256=`",
        Advice::TryLater => "try again later",
        Advice::WriteProgramPattern => {
            "write a name such as `ls`, or a whole path such as `/usr/bin/*` or `~/bin/tool`"
        }
        Advice::WriteWholePath => "write it from `/` or `~/` on",
        Advice::WriteShorterPattern => "write a shorter pattern, with fewer `*`",
        Advice::WriteArgumentPattern => {
            "it must match all arguments together, such as `status( --short)?`"
        }
        Advice::WriteToolName => {
            "write it as `mcp:SERVER/TOOL`, with `*` for any part of the tool's name"
        }
        Advice::ListServers => {
            "`metier mcp servers` waits longer for one that has to fetch itself first"
        }
        Advice::QuoteTask => "the task is one argument in quotes; the files come after it",
        Advice::AttachPart => "attach a part of it",
        _ => return None,
    };
    Some(fixed.to_owned())
}
