//! Which tool a model means.

/// The existing tool that is meant by a name, or by an id when the name is empty.
///
/// Names are tried from the strictest reading to the loosest: as it is; without case; without the
/// punctuation and prefixes that models add (`functions.read_file`, `mcp__files__read_file`,
/// `readFile`); cut where a call's syntax begins (`read_file(path`). A reading that fits several
/// tools fits none.
pub(crate) fn resolve<'a>(name: &str, id: &str, tools: &[&'a str]) -> Option<&'a str> {
    let name = name.trim();
    if name.is_empty() {
        return from_id(id, tools);
    }
    closest(name, tools).or_else(|| {
        let end = name.find(['"', '\'', '<', '(', '{', ' ', '\n'])?;
        let start = name[..end].trim();
        if start.is_empty() { None } else { closest(start, tools) }
    })
}

fn closest<'a>(name: &str, tools: &[&'a str]) -> Option<&'a str> {
    if let Some(tool) = tools.iter().find(|tool| **tool == name) {
        return Some(tool);
    }
    only(tools, |tool| tool.eq_ignore_ascii_case(name))
        .or_else(|| only(tools, |tool| plain(tool) == plain(name)))
        .or_else(|| shortened(name, tools))
}

/// Leaves out one prefix after another.
fn shortened<'a>(name: &str, tools: &[&'a str]) -> Option<&'a str> {
    let mut rest = name;
    while let Some((end, length)) = separator(rest) {
        rest = &rest[end + length..];
        if let Some(tool) = only(tools, |tool| tool.eq_ignore_ascii_case(rest)) {
            return Some(tool);
        }
    }
    None
}

/// Where a prefix ends, and how long what separates it is.
fn separator(name: &str) -> Option<(usize, usize)> {
    let single = name.find(['.', '/', ':']).map(|at| (at, 1));
    let double = name.find("__").map(|at| (at, 2));
    match (single, double) {
        (Some(single), Some(double)) => Some(single.min(double)),
        (single, double) => single.or(double),
    }
}

/// Ids such as `functions.read_file:0`, `tool_read_file_1`, `call_read_file`.
fn from_id<'a>(id: &str, tools: &[&'a str]) -> Option<&'a str> {
    let id = id.trim_end_matches(|character: char| character.is_ascii_digit());
    let id = id.trim_end_matches([':', '_', '-', '.']);
    let id = id.rsplit_once(['.', '/']).map_or(id, |(_, last)| last);
    let bare =
        ["tool_", "call_", "function_", "toolu_"].iter().find_map(|start| id.strip_prefix(start));
    tools.iter().find(|tool| **tool == id || Some(**tool) == bare).copied()
}

/// Letters and digits alone, without case.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn only<'a>(tools: &[&'a str], fits: impl Fn(&str) -> bool) -> Option<&'a str> {
    let mut fitting = tools.iter().filter(|tool| fits(tool));
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 6] = ["skill_load", "read_file", "Exec", "exec", "a.b", "web__get"];

    #[test]
    fn names_are_read_from_the_strictest_to_the_loosest() {
        let cases = [
            ("read_file", "", Some("read_file")),
            (" read_file\n", "", Some("read_file")),
            ("Read_File", "", Some("read_file")),
            ("readFile", "", Some("read_file")),
            ("read-file", "", Some("read_file")),
            ("functions.read_file", "", Some("read_file")),
            ("default_api/skill_load", "", Some("skill_load")),
            ("mcp__metier__skill_load", "", Some("skill_load")),
            ("web__get", "", Some("web__get")),
            ("a/b", "", Some("a.b")),
            ("read_file\" path=\"x", "", Some("read_file")),
            ("read_file<|channel|>", "", Some("read_file")),
            ("read_file({\"a\":1})", "", Some("read_file")),
            // Two tools fit, unless one fits exactly.
            ("EXEC", "", None),
            ("Exec", "", Some("Exec")),
            ("read", "", None),
            ("write_file", "", None),
            ("", "functions.read_file:0", Some("read_file")),
            ("", "tool_exec_1", Some("exec")),
            ("", "call_skill_load", Some("skill_load")),
            ("", "call_8Hn2", None),
            ("", "", None),
            ("...", "", None),
        ];
        for (name, id, expected) in cases {
            assert_eq!(resolve(name, id, &TOOLS), expected, "{name:?} {id:?}");
        }
    }
}
