//! The rules of `lint` for people who look one up: on a terminal, as JSON, and as the page of the reference.

use std::fmt::Write as _;

use metier_skill::diagnostic::{Code, Level, Severity};
use metier_skill::explanation::{Content, Example, explain};
use metier_skill::search::edit_distance;
use serde_json::{Value, json};

use crate::failure::{Failure, OK};
use crate::output::{Output, severity_style, style, styled, wrapped};

/// Most codes that are named when one is not known.
const MAX_NEAREST: usize = 3;
/// How far what belongs to a heading is set in on a terminal.
const INDENT: &str = "  ";

/// Explains some rules, or lists all of them.
///
/// # Errors
///
/// When there is no such rule.
pub(super) fn print(codes: &[String], json: bool, output: Output) -> Result<u8, Failure> {
    let found = codes.iter().map(|code| find(code)).collect::<Result<Vec<_>, _>>()?;
    match (json, found.as_slice()) {
        (true, []) => output.json(&Code::ALL.iter().map(|code| brief(*code)).collect::<Vec<_>>()),
        (true, found) => output.json(&found.iter().map(|code| whole(*code)).collect::<Vec<_>>()),
        (false, []) => output.print(&list()),
        (false, found) => {
            let texts: Vec<String> = found.iter().map(|it| shown(*it, output.width())).collect();
            output.print(&texts.join("\n"));
        }
    }
    Ok(OK)
}

/// A rule by its code, in any case.
fn find(text: &str) -> Result<Code, Failure> {
    let wanted = text.trim().to_ascii_uppercase();
    if let Some(code) = Code::ALL.iter().find(|code| code.as_str() == wanted) {
        return Ok(*code);
    }
    let mut near: Vec<(usize, &str)> = Code::ALL
        .iter()
        .map(|code| (edit_distance(&wanted, code.as_str()), code.as_str()))
        .collect();
    near.sort_unstable();
    let least = near.first().map_or(0, |(distance, _)| *distance);
    let near = near.iter().filter(|(distance, _)| *distance == least && *distance <= 2);
    let near: Vec<String> = near.take(MAX_NEAREST).map(|(_, code)| format!("`{code}`")).collect();
    let list = "`metier skills lint --explain` lists all of them";
    let hint = match near.as_slice() {
        [] => list.to_owned(),
        near => format!("did you mean {}? {list}", near.join(" or ")),
    };
    Err(Failure::usage(format!("there is no rule `{}`", text.escape_debug())).hint(hint))
}

fn brief(code: Code) -> Value {
    json!({
        "code": code.as_str(),
        "rule": code.summary(),
        "strict": code.severity(Level::Strict),
        "otherwise": code.severity(Level::Lenient),
    })
}

fn whole(code: Code) -> Value {
    let explanation = explain(code);
    let mut rule = brief(code);
    rule["meaning"] = explanation.meaning.into();
    rule["bad"] = example_json(&explanation.bad);
    rule["good"] = example_json(&explanation.good);
    rule
}

fn example_json(example: &Example) -> Value {
    let files = example.files.iter().map(|file| match file.content {
        Content::Text(text) => json!({ "path": file.path, "text": text }),
        Content::Link(target) => json!({ "path": file.path, "link": target }),
    });
    json!({ "files": files.collect::<Vec<_>>(), "commands": example.steps() })
}

fn list() -> String {
    Code::ALL.iter().fold(String::new(), |mut text, code| {
        let _infallible = writeln!(text, "{}  {}", styled(style::NAME, code), code.summary());
        text
    })
}

/// A rule on a terminal.
fn shown(code: Code, width: usize) -> String {
    let explanation = explain(code);
    let mut text = format!(
        "{}  {}\n{}\n\n{}\n",
        styled(style::NAME, code),
        styled(style::HEADING, code.summary()),
        severity(code, |severity| styled(severity_style(severity), severity)),
        wrapped(explanation.meaning, width),
    );
    for (word, example) in [("Bad", &explanation.bad), ("Good", &explanation.good)] {
        let _infallible = write!(text, "\n{}\n", styled(style::HEADING, word));
        text.push_str(&example_text(example));
    }
    text
}

/// How much a breach matters, in a few words.
fn severity(code: Code, shown: impl Fn(Severity) -> String) -> String {
    let (usual, strict) = (code.severity(Level::Lenient), code.severity(Level::Strict));
    let usually = shown(usual);
    if usual == strict {
        return usually;
    }
    format!("{usually}, and {} with `--strict`", shown(strict))
}

fn example_text(example: &Example) -> String {
    let mut text = String::new();
    for file in &example.files {
        match file.content {
            Content::Text(content) => {
                let _infallible = writeln!(text, "{INDENT}{}", styled(style::DIM, file.path));
                for line in content.lines() {
                    let line = format!("{INDENT}{INDENT}{line}");
                    text.push_str(line.trim_end());
                    text.push('\n');
                }
            }
            Content::Link(target) => {
                let link = styled(style::DIM, format!("{} -> {target}", file.path));
                let _infallible = writeln!(text, "{INDENT}{link}");
            }
        }
    }
    for command in &example.commands {
        let _infallible = writeln!(text, "{INDENT}$ {command}");
    }
    text
}

/// The page of the reference.
pub(super) fn page() -> String {
    let mut text = String::from(
        "# Rules\n\nMade by `cargo xtask docs` from the program itself.\n\n\
         What `metier skills lint` and `metier skills list` look for. The strict column is the severity under \
         `lint --strict`, the other one everywhere else. A code never changes its meaning. \
         `metier skills lint --explain CODE` prints the entry of a code.\n\n\
         | code | rule | strict | otherwise |\n|---|---|---|---|\n",
    );
    for code in Code::ALL {
        let (strict, lenient) = (code.severity(Level::Strict), code.severity(Level::Lenient));
        let (anchor, rule) = (code.as_str().to_lowercase(), code.summary());
        let _infallible = writeln!(text, "| [{code}](#{anchor}) | {rule} | {strict} | {lenient} |");
    }
    let mut topic = "";
    for code in Code::ALL {
        if topic_of(*code) != topic {
            topic = topic_of(*code);
            let _infallible = write!(text, "\n## {topic}\n");
        }
        text.push_str(&entry(*code));
    }
    text
}

/// What a group of codes is about.
fn topic_of(code: Code) -> &'static str {
    match &code.as_str()[1..3] {
        "00" | "01" => "The file and its header",
        "02" => "Name",
        "03" => "Description",
        "04" | "05" => "Other fields",
        "06" | "07" => "The body and the other files",
        _ => "Finding skills",
    }
}

fn entry(code: Code) -> String {
    format!(
        "\n### {code}\n\n**{}.** Severity: {}.\n\n{}",
        code.summary(),
        severity(code, |severity| severity.to_string()),
        markdown(code),
    )
}

/// The meaning of a rule, as plain text.
pub(super) fn text(code: Code) -> String {
    let meaning = explain(code).meaning;
    format!("{meaning}\n\n`metier skills lint --explain {code}` shows examples.")
}

/// The meaning of a rule with its examples, as Markdown.
pub(super) fn markdown(code: Code) -> String {
    let explanation = explain(code);
    let mut text = format!("{}\n", explanation.meaning);
    for (word, example) in [("Bad", &explanation.bad), ("Good", &explanation.good)] {
        let _infallible = write!(text, "\n**{word}**\n{}", example_markdown(example));
    }
    text
}

fn example_markdown(example: &Example) -> String {
    let mut text = String::new();
    for file in &example.files {
        let _infallible = match file.content {
            Content::Text(content) => {
                let block = block(language(file.path), content);
                write!(text, "\n`{}`\n\n{block}", file.path)
            }
            Content::Link(target) => write!(text, "\n`{}` is a link to `{target}`\n", file.path),
        };
    }
    if !example.commands.is_empty() {
        let commands: String =
            example.commands.iter().map(|command| format!("$ {command}\n")).collect();
        let _infallible = write!(text, "\n{}", block("console", &commands));
    }
    text
}

/// Code in a fence that nothing in it closes.
fn block(language: &str, code: &str) -> String {
    let fence = if code.contains("```") { "````" } else { "```" };
    format!("{fence}{language}\n{code}{fence}\n")
}

fn language(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("md") => "markdown",
        Some("json") => "json",
        Some("toml") => "toml",
        _ => "text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_in_any_case_and_others_are_guessed() {
        let told = |text: &str| match find(text) {
            Ok(code) => code.to_string(),
            Err(failure) => format!("{failure} / {}", failure.remedy().unwrap_or_default()),
        };
        insta::assert_snapshot!(["M023", " m023 ", "M23", "M099", "23", "lowercase", ""].map(told).join("\n"), @"
        M023
        M023
        there is no rule `M23` / did you mean `M023`? `metier skills lint --explain` lists all of them
        there is no rule `M099` / did you mean `M009` or `M049` or `M069`? `metier skills lint --explain` lists all of them
        there is no rule `23` / did you mean `M023`? `metier skills lint --explain` lists all of them
        there is no rule `lowercase` / `metier skills lint --explain` lists all of them
        there is no rule `` / `metier skills lint --explain` lists all of them
        ");
    }

    #[test]
    fn no_code_in_an_example_closes_its_fence() {
        insta::assert_snapshot!(block("sh", "```\n"), @"
        ````sh
        ```
        ````
        ");
    }
}
