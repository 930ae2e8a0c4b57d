//! The settings that are one of a few words. Each word is written once, here: files, variables, flags, the reference
//! and the schema take it from the same list.

use crate::key::{SettingKind, WordChoice};
use crate::setting::SettingType;
use crate::value::SettingValue;

/// A setting whose value is one of a few words.
pub trait ConfigWord: Copy + Sized + 'static {
    /// Every value. Where a project may tighten the setting, the one that allows least comes first.
    const ALL: &'static [Self];
    /// The words, in the same order.
    const CHOICE: &'static WordChoice;

    /// The word for this value.
    fn word(self) -> &'static str;

    /// The value that a word stands for.
    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.word() == word)
    }
}

macro_rules! config_words {
    ($($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $help:literal])+ $variant:ident = $word:literal,)+ })+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $help])+ $variant,)+
        }

        impl ConfigWord for $name {
            const ALL: &'static [Self] = &[$(Self::$variant,)+];
            const CHOICE: &'static WordChoice = &WordChoice { words: &[$($word,)+] };

            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl SettingType for $name {
            const KIND: SettingKind = SettingKind::Choice(Self::CHOICE);

            fn of_value(value: &SettingValue) -> Option<Self> {
                value.as_text().and_then(Self::from_word)
            }
        }

        impl SettingType for Option<$name> {
            const KIND: SettingKind = SettingKind::Choice($name::CHOICE);

            fn of_value(value: &SettingValue) -> Option<Self> {
                value.as_text().map($name::from_word)
            }
        }
    )+};
}

config_words! {
    /// Which commands may run on the host.
    ApprovalMode {
        /// None.
        Deny = "deny",
        /// Those that somebody allowed.
        Allowlist = "allowlist",
        /// All of them.
        Full = "full",
    }
    /// When a person is asked about a command on the host.
    ApprovalAsk {
        /// Before every command.
        Always = "always",
        /// Before commands that have not been allowed.
        OnMiss = "on_miss",
        /// Never.
        Off = "off",
    }
    /// How long a skill stays loaded.
    SkillLoadMode {
        /// Until the next message of the user.
        Turn = "turn",
        /// For one request.
        Once = "once",
        /// Until the session ends.
        Session = "session",
    }
    /// Where the text of a loaded skill goes.
    SkillPlacement {
        /// Into the result of the tool that loaded it, where it stays.
        ToolResult = "tool_result",
        /// Into the system message.
        System = "system",
    }
    /// A source whose skills have an entry of `skills.entries` only if the entry names it.
    EntrySource {
        /// Skills of a project.
        Project = "project",
        /// Skills of a plugin.
        Plugin = "plugin",
        /// Skills of another server.
        Remote = "remote",
    }
    /// The program that installs packages for Node.
    NodeManager {
        /// npm.
        Npm = "npm",
        /// pnpm.
        Pnpm = "pnpm",
        /// Yarn.
        Yarn = "yarn",
        /// Bun.
        Bun = "bun",
    }
    /// Where commands of skills run.
    ExecutorKind {
        /// In the kernel sandbox.
        Sandbox = "sandbox",
        /// Directly on the host, after approval.
        Host = "host",
        /// In a container.
        Container = "container",
    }
    /// The least that the sandbox must promise.
    RequiredLevel {
        /// Level `full`.
        Full = "full",
    }
    /// The tools that a model is given.
    AgentToolSet {
        /// All of them.
        Full = "full",
        /// Without tools that run commands.
        Knowledge = "knowledge",
        /// One tool with the catalog in its description.
        Single = "single",
        /// Tools that read files and run commands.
        Files = "files",
    }
    /// What requests begin with.
    PromptKind {
        /// The instruction, the catalog and the guidance.
        Full = "full",
        /// The same without the catalog.
        Minimal = "minimal",
    }
    /// The wire format of a provider.
    ProviderFormat {
        /// OpenAI's chat completions.
        ChatCompletions = "chat_completions",
        /// OpenAI's responses.
        Responses = "responses",
        /// Anthropic's messages.
        Messages = "messages",
    }
    /// How the choice of a skill is enforced.
    ProviderToolChoice {
        /// The model chooses freely.
        Auto = "auto",
        /// The server enforces a valid choice.
        Constrained = "constrained",
    }
}
