//! Errors without a hint. Each has a reason: whoever adds one thinks of what a person can do.

use super::{sheet, sources};

/// It says itself what to do, or which rule is broken.
const ITSELF: &str = "the message says what to write, or which rule is broken";
/// The person decided it.
const DECIDED: &str = "the person said no, or stopped it";
/// Words of another error follow, or its hint.
const CARRIED: &str = "it carries the words of another error, and its hint where there is one";

/// The source has the hint further down.
const SHARED: &str = "its hint is that of the message after it, or is added later";

/// The heading, the variant or message (`*` for all), and why there is no hint.
const HINTLESS: &[(&str, &str, &str)] = &[
    ("agent: AgentError", "Busy", ITSELF),
    ("app: AttachmentError", "Unreadable", "the system says why"),
    ("app: AttachmentFault", "NotAFile", ITSELF),
    ("app: SkillLookupError", "NotFetched", "the agent fetches them and asks again"),
    ("config: ConfigError", "Agent", ITSELF),
    ("config: ConfigError", "Server", ITSELF),
    ("config: ConfigError", "WrongKind", ITSELF),
    ("mcp: McpClientError", "Stopped", DECIDED),
    ("session: SessionError", "Full", ITSELF),
    ("session: SessionError", "Locked", ITSELF),
    ("session: SessionError", "Damaged", ITSELF),
    ("session: SessionError", "Storage", ITSELF),
    ("skill: Obstacle", "*", "the command that was in the way is the hint"),
    ("cli: commands/config/change.rs", "nothing was changed", DECIDED),
    ("workspace: RunError", "Namesake", ITSELF),
    ("workspace: ArtifactError", "Name", ITSELF),
    ("workspace: ArtifactError", "Id", ITSELF),
    ("workspace: ArtifactError", "MimeType", ITSELF),
    ("workspace: ArtifactError", "Reference", ITSELF),
    ("workspace: ArtifactError", "Full", ITSELF),
    ("workspace: ArtifactError", "TooManyVersions", ITSELF),
    ("workspace: ArtifactError", "TooManyNames", ITSELF),
    ("workspace: ArtifactError", "CleanedAway", ITSELF),
    ("workspace: ContainerError", "Address", ITSELF),
    ("workspace: ContainerError", "Path", ITSELF),
    ("workspace: ContainerError", "Busy", ITSELF),
    ("workspace: ContainerError", "Cancelled", DECIDED),
    ("workspace: ExecuteError", "Container", CARRIED),
    ("workspace: ExecuteError", "NotInteractive", ITSELF),
    ("workspace: ExecuteError", "HostOnly", ITSELF),
    ("workspace: InputError", "Path", ITSELF),
    ("workspace: InputError", "Scheme", ITSELF),
    ("workspace: InputError", "Target", ITSELF),
    ("workspace: PathError", "*", ITSELF),
    ("workspace: PatternError", "*", ITSELF),
    ("workspace: RunError", "Command", ITSELF),
    ("workspace: RunError", "Directory", CARRIED),
    ("workspace: RunError", "Variable", CARRIED),
    ("workspace: RunError", "Pattern", CARRIED),
    ("workspace: RunError", "Input", CARRIED),
    ("workspace: RunError", "Artifact", CARRIED),
    ("workspace: RunError", "Stage", CARRIED),
    ("workspace: RunError", "Owner", CARRIED),
    ("workspace: StageError", "Altered", ITSELF),
    ("workspace: StageError", "Changed", ITSELF),
    ("workspace: StageError", "Digest", ITSELF),
    ("workspace: VariableError", "*", ITSELF),
    ("cli: commands/artifacts.rs", "*", "the system says why"),
    ("cli: commands/bench/laboratory.rs", "the script does not fit the skills: {why}", ITSELF),
    ("cli: commands/chat/lines.rs", "*", ITSELF),
    ("cli: commands/chat/mod.rs", "`/{word}` takes nothing behind it", ITSELF),
    ("cli: commands/chat/mod.rs", "`/skill` needs the name of a skill", SHARED),
    (
        "cli: commands/exec/request.rs",
        "{name} is not a request: `{place}`: {inner}",
        "the place and what was expected there are in the message",
    ),
    ("cli: commands/mcp/install/mod.rs", "nothing was changed", DECIDED),
    ("cli: commands/read.rs", "`{path}` cannot be read: {error}", CARRIED),
    ("cli: commands/setup/mod.rs", "nothing was changed", DECIDED),
    ("cli: commands/skills/docs.rs", "`{wanted.name}` has no doc `{path}`", SHARED),
    ("cli: commands/skills/install/mod.rs", "nothing was installed", DECIDED),
    ("cli: commands/turn/report.rs", "*", CARRIED),
    ("cli: failure/mod.rs", "the skill `{name}` cannot be used: {block}", SHARED),
];

/// What has no hint, as headings with the variant or message.
fn without_hint() -> Vec<(String, String)> {
    let text = [sheet().render(), sources::worded_by_commands()].concat();
    let (mut heading, mut label, mut is_open, mut found) = ("", "", false, Vec::new());
    for line in text.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text;
        } else if line.trim_start().starts_with("hint: ") {
            if is_open {
                found.pop();
            }
            is_open = false;
        } else if let Some(message) = line.trim_start().strip_prefix("error: ") {
            let name = label.split(" (exit code").next().unwrap_or_default();
            let what = if name.starts_with('(') { message } else { name };
            // What comes before another error has the hint of that one.
            is_open = label != "(before another)";
            if is_open {
                found.push((heading.to_owned(), what.to_owned()));
            }
        } else if !line.is_empty() {
            label = line;
        }
    }
    found
}

#[test]
fn every_error_says_what_to_do_or_there_is_a_reason() {
    let found = without_hint();
    let fits = |entry: &(&str, &str, &str), it: &(String, String)| {
        entry.0 == it.0 && (entry.1 == "*" || entry.1 == it.1)
    };
    let is_listed = |it: &&(String, String)| HINTLESS.iter().any(|entry| fits(entry, it));
    let bare: Vec<_> = found.iter().filter(|it| !is_listed(it)).collect();
    assert!(bare.is_empty(), "say what to do about these, or why nothing can be: {bare:#?}");
    for entry in HINTLESS {
        assert!(found.iter().any(|it| fits(entry, it)), "{entry:?} has a hint, or is gone");
    }
}
