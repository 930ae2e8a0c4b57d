//! What a person can do about an error, as data.

use std::path::PathBuf;

use metier_skill::library::Entry;
use metier_skill::problem::Problem;

use crate::approvals::{ApprovalSettingsError, PreapprovalError, PreapprovalFault};
use crate::error::{AppError, is_disk_full};
use crate::grants::GrantError;
use crate::library::lookup::SkillLookupError;
use crate::models::ModelChoiceError;
use crate::ops::trust::ProjectTrustError;
use crate::servers::ToolServerProblem;
use crate::sessions::SessionLookupError;
use crate::sources::archives::ArchiveSourceError;
use crate::sources::remote::RemoteSkillError;
use crate::state::StateError;
use crate::turn::{AttachmentError, AttachmentFault};

/// What a person can do about an error. A front end words it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Advice {
    /// Free space on the disk of the state directory.
    FreeDiskSpace,
    /// Choose another state directory.
    ChooseStateDirectory,
    /// Choose another folder for workspaces.
    ChooseWorkspaceFolder,
    /// Choose another folder for the agent.
    ChooseAgentFolder,
    /// Use the name that comes closest.
    UseName(String),
    /// Look at the list of skills.
    ListSkills,
    /// Do what the finding says.
    FollowFinding(Box<Problem>),
    /// Remove what is in the way of a skill.
    UnblockSkill(Box<Entry>),
    /// Check the path.
    CheckPath,
    /// Name the project.
    NameProject,
    /// Put skills into a folder of the project that is searched.
    PutSkillsIntoProject,
    /// Make the files of the skill readable.
    MakeSkillReadable,
    /// Look at the list of what is trusted.
    ListTrusted,
    /// Look at the list of sessions.
    ListSessions,
    /// Begin a session.
    BeginSession,
    /// Wait for the other command, or use another session.
    WaitForSession,
    /// Wait for the other command.
    WaitForCommand,
    /// Use another session or state directory.
    UseOtherSession,
    /// Name the server.
    NameServer,
    /// Write the command or address of the server.
    WriteServer,
    /// List the skills, which fetches the archive.
    FetchArchive,
    /// Try again.
    TryAgain,
    /// Try again; else the server is at fault.
    TryAgainOrBlameServer,
    /// Make the file readable.
    MakeReadable(PathBuf),
    /// Unpack the archive, and name the folder.
    UnpackArchive,
    /// Write the new digest, if the change is wanted.
    WriteDigest,
    /// Choose another folder by the variable.
    ChooseFolderBy(&'static str),
    /// Try again later.
    TryLater,
    /// Set the address of a provider.
    SetProviderAddress(String),
    /// Write a list of addresses for this setting.
    WriteNetwork(String),
    /// Ask the author of the skill to correct what it asks of the network.
    AskAuthorAboutNetwork(String),
    /// Write a name or a whole path of programs.
    WriteProgramPattern,
    /// Write a whole path.
    WriteWholePath,
    /// Write a shorter pattern.
    WriteShorterPattern,
    /// Write a regular expression for all arguments.
    WriteArgumentPattern,
    /// Allow any arguments of the program.
    AllowAnyArguments(String),
    /// List the servers, which waits longer for one that has to fetch itself first.
    ListServers,
    /// Write a tool as `mcp:SERVER/TOOL`.
    WriteToolName,
    /// Set the setting to a value between these.
    SetWithin {
        /// The smallest value.
        min: usize,
        /// The largest value, if there is one.
        max: Option<usize>,
    },
    /// Write the task as one argument, and files after it.
    QuoteTask,
    /// Attach a part of the file.
    AttachPart,
}

impl Advice {
    pub(crate) fn for_error(error: &AppError) -> Option<Self> {
        if is_disk_full(error) {
            return Some(Self::FreeDiskSpace);
        }
        Some(match error {
            AppError::State(error) => match error {
                StateError::Directory { .. } => Self::ChooseStateDirectory,
                StateError::WorkspaceFolder { .. } => Self::ChooseWorkspaceFolder,
                StateError::AgentFolder { .. } => Self::ChooseAgentFolder,
            },
            AppError::Lookup(error) => match error {
                SkillLookupError::Missing { nearest: Some(name), .. } => {
                    Self::UseName(name.clone())
                }
                SkillLookupError::Missing { nearest: None, .. } => Self::ListSkills,
                SkillLookupError::Unreadable { problem, .. } => {
                    Self::FollowFinding(problem.clone())
                }
                SkillLookupError::Blocked { entry } => Self::UnblockSkill(entry.clone()),
                SkillLookupError::NotUnpacked { .. } => Self::ChooseStateDirectory,
                SkillLookupError::NotFetched { .. } => return None,
            },
            AppError::ProjectTrust(error) => match error {
                ProjectTrustError::NoFolder { .. } => Self::CheckPath,
                ProjectTrustError::StateDirectory => Self::NameProject,
                ProjectTrustError::NoSkills { .. } => Self::PutSkillsIntoProject,
                ProjectTrustError::Unreadable { .. } => Self::MakeSkillReadable,
                ProjectTrustError::NotTrusted { .. } => Self::ListTrusted,
            },
            AppError::SessionLookup(error) => match error {
                SessionLookupError::Missing { .. } => Self::ListSessions,
                SessionLookupError::None => Self::BeginSession,
                SessionLookupError::WorkspaceInUse { .. } => Self::WaitForSession,
                SessionLookupError::NotRemoved { .. } => Self::WaitForCommand,
                SessionLookupError::NoWorkspace { .. } => Self::UseOtherSession,
            },
            AppError::RemoteSkill(RemoteSkillError::UnknownServer { .. }) => Self::NameServer,
            AppError::RemoteSkill(RemoteSkillError::Unusable { .. }) => return None,
            AppError::ServerFlag(_) => Self::WriteServer,
            AppError::Archive(error) => match error {
                ArchiveSourceError::NotFetched => Self::FetchArchive,
                ArchiveSourceError::NothingToKeep => Self::TryAgainOrBlameServer,
                ArchiveSourceError::NoDigest => Self::TryAgain,
                ArchiveSourceError::Unreadable { file, .. } => Self::MakeReadable(file.clone()),
                ArchiveSourceError::TooLarge { .. } => Self::UnpackArchive,
                ArchiveSourceError::OtherDigest { .. } => Self::WriteDigest,
                ArchiveSourceError::NotKept { chosen_by, .. } => Self::ChooseFolderBy(chosen_by),
                ArchiveSourceError::Download(_) | ArchiveSourceError::Unpack(_) => return None,
            },
            AppError::ModelChoice(ModelChoiceError::NoAddress { provider }) => {
                Self::SetProviderAddress(provider.clone())
            }
            AppError::Grant(GrantError::Setting { setting, .. }) => {
                Self::WriteNetwork(setting.clone())
            }
            AppError::Grant(GrantError::Request { skill, .. }) => {
                Self::AskAuthorAboutNetwork(skill.clone())
            }
            AppError::Approval(ApprovalSettingsError::ProgramPattern { .. }) => {
                Self::WriteProgramPattern
            }
            AppError::Approval(ApprovalSettingsError::TrustedFolder { .. }) => Self::WriteWholePath,
            AppError::Preapproval(PreapprovalError { source, program, .. }) => match source {
                PreapprovalFault::TooWild => Self::WriteShorterPattern,
                PreapprovalFault::Unreadable => Self::WriteArgumentPattern,
                PreapprovalFault::CoversNothing { .. } => Self::AllowAnyArguments(program.clone()),
            },
            AppError::ToolName(_) => Self::WriteToolName,
            AppError::ToolServer(ToolServerProblem::Late { .. }) => Self::ListServers,
            AppError::Assembly(error) => Self::SetWithin { min: error.min, max: error.max },
            AppError::Attachment(error) => match error {
                AttachmentError::Unreadable { source: AttachmentFault::Io(error), .. }
                    if error.kind() == std::io::ErrorKind::NotFound =>
                {
                    Self::QuoteTask
                }
                AttachmentError::Unreadable { .. } => return None,
                AttachmentError::TooLarge { .. } => Self::AttachPart,
                AttachmentError::NotStored { .. } => Self::ChooseStateDirectory,
            },
            _ => return None,
        })
    }
}
