//! Decisions of people: from what is stored to what is judged by, and back.

use metier_approval::{Entry, Pinned, Policy, Remembered};
use metier_session::{Decision, Rule};

use crate::foreign::{PinnedTool, RememberedTool, ToolPolicy};

/// Lets a policy allow what people decided.
pub fn take_decisions(policy: &mut Policy, decisions: impl IntoIterator<Item = Decision>) {
    for Decision { id, rule, .. } in decisions {
        match rule {
            Rule::Pattern { pattern, arguments, directory } => {
                policy.entries.push(Entry { id, pattern, arguments, directory });
            }
            Rule::Exact { program, sha256, words, directory, variables } => {
                let exact = Remembered { id, program, sha256, words, directory, variables };
                policy.remembered.push(exact);
            }
            // Not about commands.
            Rule::Tool { .. } => {}
        }
    }
}

/// Lets a policy for tools allow what people decided.
pub fn take_tool_decisions(policy: &mut ToolPolicy, decisions: impl IntoIterator<Item = Decision>) {
    for Decision { id, rule, .. } in decisions {
        if let Rule::Tool { server, tool, sha256 } = rule {
            let tool = PinnedTool { server, tool, sha256 };
            policy.remembered.push(RememberedTool { id, tool });
        }
    }
}

/// What is stored when somebody allows a tool for good.
#[must_use]
pub fn rule_of_tool(tool: PinnedTool) -> Rule {
    let PinnedTool { server, tool, sha256 } = tool;
    Rule::Tool { server, tool, sha256 }
}

/// What is stored when somebody allows a command for good.
#[must_use]
pub fn rule_of(pinned: Pinned) -> Rule {
    let Pinned { command, program, sha256, directory } = pinned;
    Rule::Exact { program, sha256, words: command.words, directory, variables: command.variables }
}
