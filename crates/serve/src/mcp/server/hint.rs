//! What is typed after the command of a skill, from the hint in its header.
//!
//! A hint is words for people, such as `<file> [csv|json]`. One that is nothing but such placeholders gives an
//! argument for each; any other is the description of a single one, which takes whatever is typed.

/// Most arguments that are made of a hint.
const MAX_ARGUMENTS: usize = 8;
/// The argument that takes anything.
const REQUEST: &str = "request";
/// What it is where nobody says.
const REQUEST_MEANS: &str = "What to do, in words";

/// An argument of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    /// Its name.
    pub name: String,
    /// What it means, for people.
    pub description: String,
    /// Whether it must be there.
    pub is_required: bool,
    /// The values it may have; any, if there are none.
    pub choices: Vec<String>,
}

/// The arguments that a hint promises.
pub(super) fn arguments(hint: Option<&str>) -> Vec<Argument> {
    let hint = hint.map(str::trim).filter(|hint| !hint.is_empty());
    let placeholders = hint.and_then(placeholders);
    placeholders.unwrap_or_else(|| {
        vec![Argument {
            name: REQUEST.to_owned(),
            description: hint.unwrap_or(REQUEST_MEANS).to_owned(),
            is_required: false,
            choices: Vec::new(),
        }]
    })
}

/// The placeholders of a hint that has nothing else.
fn placeholders(hint: &str) -> Option<Vec<Argument>> {
    let mut arguments: Vec<Argument> = Vec::new();
    let mut rest = hint;
    while !rest.is_empty() {
        let (closing, is_required) = match rest.chars().next()? {
            '<' => ('>', true),
            '[' => (']', false),
            _ => return None,
        };
        let (inside, behind) = rest[1..].split_once(closing)?;
        let argument = argument(inside, is_required)?;
        if arguments.iter().any(|it| it.name == argument.name) || arguments.len() == MAX_ARGUMENTS {
            return None;
        }
        arguments.push(argument);
        rest = behind.strip_prefix("...").unwrap_or(behind).trim_start();
    }
    Some(arguments)
}

/// One placeholder: a name of one or more words, or values to choose from.
fn argument(inside: &str, is_required: bool) -> Option<Argument> {
    let inside = inside.trim().trim_end_matches("...");
    let is_of_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.');
    let is_word = |it: &str| it.starts_with(char::is_alphanumeric) && it.chars().all(is_of_word);
    let choices: Vec<&str> = inside.split('|').map(str::trim).collect();
    if choices.len() > 1 {
        let choices: Option<Vec<String>> =
            choices.into_iter().map(|it| is_word(it).then(|| it.to_owned())).collect();
        let choices = choices?;
        let name = choices.join("-or-").to_lowercase();
        return Some(Argument { name, description: inside.to_owned(), is_required, choices });
    }
    let words: Vec<&str> = inside.split_whitespace().collect();
    if words.is_empty() || !words.iter().all(|it| is_word(it)) {
        return None;
    }
    let name = words.join("-").to_lowercase();
    Some(Argument { name, description: inside.to_owned(), is_required, choices: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(hint: &str) -> String {
        let told = arguments(Some(hint)).into_iter().map(|it| {
            let sign = if it.is_required { "!" } else { "" };
            format!("{}{sign} ({}) {}", it.name, it.description, it.choices.join(","))
        });
        told.map(|it| it.trim_end().to_owned()).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn placeholders_become_arguments_and_anything_else_is_one() {
        let hints = [
            "",
            "[issue number]",
            "<file> [csv|json]",
            "[files...]",
            "<path>... [out.csv]",
            "PR number or branch",
            "add [tag] | remove [tag]",
            "[--fast]",
            "[a] [a]",
            "<",
            "[]",
        ];
        let told = hints.map(|hint| format!("{hint:?}: {}", told(hint)));
        insta::assert_snapshot!(told.join("\n"), @r#"
        "": request (What to do, in words)
        "[issue number]": issue-number (issue number)
        "<file> [csv|json]": file! (file); csv-or-json (csv|json) csv,json
        "[files...]": files (files)
        "<path>... [out.csv]": path! (path); out.csv (out.csv)
        "PR number or branch": request (PR number or branch)
        "add [tag] | remove [tag]": request (add [tag] | remove [tag])
        "[--fast]": request ([--fast])
        "[a] [a]": request ([a] [a])
        "<": request (<)
        "[]": request ([])
        "#);
    }
}
