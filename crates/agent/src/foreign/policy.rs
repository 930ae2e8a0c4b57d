//! May this tool be called: what people allow, and what follows from it.

use metier_approval::{Ask, Mode, Rules};

use super::PinnedTool;

/// Everything that decides about calls of tools of other servers.
///
/// What a server says of its tools, be it that they only read, is no part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPolicy {
    /// How much may be called, and when a person is asked: the same as for commands on the host.
    pub rules: Rules,
    /// Tools that may be called whatever their definition is.
    pub allowed: Vec<AllowedTools>,
    /// Tools that people allowed for good when they were asked.
    pub remembered: Vec<RememberedTool>,
}

/// Tools of a server that may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedTools {
    /// What this is known by.
    pub id: String,
    /// The server.
    pub server: String,
    /// Lists of names, with `*` for any part. Each of them must have a tool.
    pub lists: Vec<Vec<String>>,
}

/// A tool that a person allowed for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedTool {
    /// What this is known by.
    pub id: String,
    /// The tool, as it was described.
    pub tool: PinnedTool,
}

/// What is decided about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolVerdict {
    /// It may be made. If somebody allowed the tool, that is known by an id.
    Allow(Option<String>),
    /// A person has to decide.
    Ask {
        /// Why.
        reason: String,
        /// What allows it besides, where every call is asked about.
        allowed_by: Option<String>,
    },
    /// It may not be made.
    Deny {
        /// Why.
        reason: String,
    },
}

/// Decides about a call of a tool.
pub(crate) fn judge_tool(tool: &PinnedTool, policy: &ToolPolicy) -> ToolVerdict {
    let Rules { mode, ask, .. } = policy.rules;
    let by = policy.allowing(tool);
    let is_allowed = by.is_some() || mode == Mode::Full;
    let unknown = || format!("nobody allowed `{}` of `{}` for good", tool.tool, tool.server);
    match (mode, ask) {
        (Mode::Deny, _) => {
            let reason = "no tool of another server may be called: the mode is `deny`".to_owned();
            ToolVerdict::Deny { reason }
        }
        (_, Ask::OnMiss | Ask::Off) if is_allowed => ToolVerdict::Allow(by.map(str::to_owned)),
        (_, Ask::Off) => ToolVerdict::Deny { reason: with_advice(&unknown(), tool) },
        (_, Ask::OnMiss) => ToolVerdict::Ask { reason: unknown(), allowed_by: None },
        (_, Ask::Always) => {
            let reason = "every call is asked about".to_owned();
            ToolVerdict::Ask { reason, allowed_by: by.map(str::to_owned) }
        }
    }
}

impl ToolVerdict {
    /// What becomes of it where nobody can be asked.
    pub(crate) fn without_a_person(self, tool: &PinnedTool, rules: &Rules) -> Self {
        let Self::Ask { reason, allowed_by } = self else { return self };
        match (rules.fallback.min(rules.mode), allowed_by) {
            (Mode::Full, by) => Self::Allow(by),
            (Mode::Allowlist, Some(by)) => Self::Allow(Some(by)),
            _ => {
                Self::Deny { reason: with_advice(&format!("nobody can be asked: {reason}"), tool) }
            }
        }
    }
}

impl ToolPolicy {
    /// Who allows a tool.
    fn allowing(&self, tool: &PinnedTool) -> Option<&str> {
        let remembered = self.remembered.iter().find(|it| it.tool == *tool).map(|it| &it.id);
        let listed = || {
            let mut entries = self.allowed.iter().filter(|it| it.server == tool.server);
            entries.find(|it| it.has(&tool.tool)).map(|it| &it.id)
        };
        remembered.or_else(listed).map(String::as_str)
    }
}

impl AllowedTools {
    fn has(&self, tool: &str) -> bool {
        let names = |list: &Vec<String>| list.iter().any(|pattern| is_like(tool, pattern));
        !self.lists.is_empty() && self.lists.iter().all(names)
    }
}

/// Whether a name is as a pattern says, in which `*` stands for any part.
#[must_use]
pub fn is_like(name: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|start| name.strip_prefix(start)) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn with_advice(reason: &str, tool: &PinnedTool) -> String {
    let PinnedTool { server, .. } = tool;
    format!(
        "{reason}; the user can allow it with `metier approvals add 'mcp:{tool}'`, or with `mcp.servers.{server}.allow` in the configuration"
    )
}
