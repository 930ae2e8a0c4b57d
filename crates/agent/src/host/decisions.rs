//! Decisions of people: from what is stored to what is judged by, and back.

use metier_approval::{ArgumentRule, Entry, Pinned, Policy, Remembered};
use metier_session::{Decision, Rule};

use crate::foreign::{PinnedTool, RememberedTool, ToolPolicy};

/// Lets a policy allow what people decided.
pub fn take_decisions(policy: &mut Policy, decisions: impl IntoIterator<Item = Decision>) {
    for decision in decisions {
        match CommandDecision::of(decision) {
            Some(CommandDecision::Entry(entry)) => policy.entries.push(entry),
            Some(CommandDecision::Remembered(exact)) => policy.remembered.push(exact),
            None => {}
        }
    }
}

/// A decision about commands, as it is judged by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandDecision {
    /// A program, by a pattern.
    Entry(Entry),
    /// One command, exactly.
    Remembered(Remembered),
}

impl CommandDecision {
    /// Reads a stored decision; none if it is about something else.
    #[must_use]
    pub fn of(decision: Decision) -> Option<Self> {
        let id = decision.id;
        match decision.rule {
            Rule::Pattern { pattern, arguments, any_arguments, directory } => {
                let arguments = argument_rule(arguments, any_arguments);
                Some(Self::Entry(Entry { id, pattern, arguments, directory }))
            }
            Rule::Exact { program, sha256, words, directory, variables } => {
                let exact = Remembered { id, program, sha256, words, directory, variables };
                Some(Self::Remembered(exact))
            }
            Rule::Tool { .. } => None,
        }
    }
}

/// Returns the arguments that a stored rule covers. A pattern is narrower than any, and counts if both are there.
fn argument_rule(pattern: Option<String>, any_arguments: bool) -> ArgumentRule {
    match pattern {
        Some(pattern) => ArgumentRule::Like(pattern),
        None if any_arguments => ArgumentRule::Any,
        None => ArgumentRule::Known,
    }
}

/// Returns what is stored for an entry.
#[must_use]
pub fn rule_of_entry(entry: Entry) -> Rule {
    let Entry { pattern, arguments, directory, .. } = entry;
    let any_arguments = arguments == ArgumentRule::Any;
    let arguments = match arguments {
        ArgumentRule::Like(pattern) => Some(pattern),
        ArgumentRule::Known | ArgumentRule::Any => None,
    };
    Rule::Pattern { pattern, arguments, any_arguments, directory }
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
