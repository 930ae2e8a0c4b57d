//! Commands that the body of a skill shows, in its order.
//!
//! They stand in shell code, after `Command:`, in inline code after a word such as "Run", and in the rows
//! of tables. Nothing here knows whether a command can be run: that depends on the machine, and on what
//! stands for something else in it.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::text::Span;

/// Languages of code that is for a shell.
const SHELL_LANGUAGES: [&str; 5] = ["bash", "sh", "shell", "zsh", "console"];
/// The one of them in which only lines with a prompt are commands.
const WITH_PROMPT: &str = "console";
/// What stands before inline code that is a command.
const BEFORE_CODE: [&str; 4] = ["command", "execute", "run", "try"];
/// What a command line begins with, outside of code.
const COMMAND: &str = "command:";
/// Most examples that are looked at.
const MAX_EXAMPLES: usize = 100;
/// Characters that are looked at before and after inline code.
const MAX_ABOUT: usize = 200;
/// Longest command that is one, in bytes.
const MAX_COMMAND: usize = 4096;

/// What begins a line that is no command by itself, or only prepares one.
const NOT_ALONE: &[&str] = &[
    "alias", "apt", "apt-get", "brew", "case", "cd", "do", "done", "elif", "else", "esac",
    "export", "fi", "for", "function", "if", "npm", "pip", "pip3", "set", "source", "sudo", "then",
    "until", "while",
];

/// A command that a body shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The command, on one line.
    pub command: String,
    /// What the row of its table says about it.
    pub about: String,
}

/// The commands that a body shows, in its order.
pub fn examples(body: &str) -> Vec<Example> {
    let mut found: Vec<(usize, Example)> = Vec::new();
    let mut add = |at: usize, command: &str, about: &str| {
        let command = command.trim();
        if is_command(command) && found.len() < MAX_EXAMPLES {
            let (command, about) = (command.to_owned(), about.to_owned());
            found.push((at, Example { command, about }));
        }
    };
    let (mut command, mut block) = (String::new(), 0);
    for code in shell_code(body, Span::new(0, body.len())) {
        if code.block != block {
            block = code.block;
            command.clear();
        }
        for line in code.span.slice(body).lines() {
            let line = line.trim();
            let begins = command.is_empty();
            let prompted = line.strip_prefix("$ ");
            if begins && (line.starts_with('#') || code.needs_prompt && prompted.is_none()) {
                continue;
            }
            command.push_str(if begins { prompted.unwrap_or(line) } else { line });
            if command.ends_with('\\') {
                command.pop();
                continue;
            }
            add(code.span.start, &command, "");
            command.clear();
        }
    }
    for (at, command, about) in inline(body) {
        add(at, &command, &about);
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, example)| example).collect()
}

/// A piece of shell code.
pub(crate) struct ShellCode {
    /// Where it is.
    pub(crate) span: Span,
    /// Which block it belongs to: in lists and quotes, each line of one is a piece.
    pub(crate) block: usize,
    /// Whether only lines with a prompt are commands.
    pub(crate) needs_prompt: bool,
}

/// The shell code in the body of a text.
pub(crate) fn shell_code(text: &str, body: Span) -> Vec<ShellCode> {
    let mut pieces = Vec::new();
    let (mut shell, mut block) = (None, 0);
    for (event, range) in Parser::new(body.slice(text)).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                let language = language.split_whitespace().next().unwrap_or_default();
                let is_shell = SHELL_LANGUAGES.contains(&language);
                shell = is_shell.then_some(language == WITH_PROMPT);
                block += 1;
            }
            Event::End(TagEnd::CodeBlock) => shell = None,
            Event::Text(_) => {
                let span = Span::new(body.start + range.start, body.start + range.end);
                pieces.extend(shell.map(|needs_prompt| ShellCode { span, block, needs_prompt }));
            }
            _ => {}
        }
    }
    pieces
}

/// Commands outside of blocks of code, with where they are and what their row says.
fn inline(body: &str) -> Vec<(usize, String, String)> {
    let mut found = Vec::new();
    let (mut in_code, mut line, mut seen) = (false, Span::new(0, 0), None);
    for (event, range) in Parser::new(body).into_offset_iter() {
        if found.len() >= MAX_EXAMPLES {
            break;
        }
        // Looked up once for each line: there may be very much in one.
        if !(line.start..line.end).contains(&range.start) {
            let start = body[..range.start].rfind('\n').map_or(0, |at| at + 1);
            let end = body[range.start..].find('\n').map_or(body.len(), |at| range.start + at);
            line = Span::new(start, end);
        }
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(_) if !in_code && seen != Some(line.start) => {
                seen = Some(line.start);
                let command = after_command(line.slice(body));
                found.extend(command.map(|it| (line.start, it, String::new())));
            }
            Event::Code(code) if range.end <= line.end => {
                let before = end_of(&body[line.start..range.start]);
                if body[line.start..].trim_start().starts_with('|') {
                    if is_surely_command(&code) {
                        let about = [before, beginning_of(&body[range.end..line.end])].concat();
                        let about = about.replace('|', " ");
                        found.push((range.start, code.replace("\\|", "|"), about));
                    }
                } else if is_before_code(before) {
                    found.push((range.start, code.into_string(), String::new()));
                }
            }
            _ => {}
        }
    }
    found
}

/// The last characters of a text.
fn end_of(text: &str) -> &str {
    let begin = text.char_indices().rev().nth(MAX_ABOUT - 1);
    begin.map_or(text, |(begin, _)| &text[begin..])
}

/// The first characters of a text.
fn beginning_of(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_ABOUT);
    end.map_or(text, |(end, _)| &text[..end])
}

/// The command of a line such as `Command: python3 run.py`, without what makes it bold or code.
fn after_command(line: &str) -> Option<String> {
    let line = line.trim_start_matches(|it: char| it.is_whitespace() || "*-+>_".contains(it));
    let rest = line.get(COMMAND.len()..)?;
    if !line[..COMMAND.len()].eq_ignore_ascii_case(COMMAND) {
        return None;
    }
    let rest = rest.trim_start_matches(['*', '_']).trim();
    // Code is found as such.
    (!rest.starts_with('`')).then(|| rest.to_owned())
}

/// Whether what stands before inline code says that it is a command.
fn is_before_code(before: &str) -> bool {
    let word = before.trim_end_matches(|it: char| !it.is_alphanumeric());
    let word = word.rsplit(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
    BEFORE_CODE.contains(&word.to_lowercase().as_str())
}

/// Whether code that nothing says is a command looks like one: it has an option or a path.
fn is_surely_command(code: &str) -> bool {
    code.split_whitespace().skip(1).any(|word| word.starts_with('-') || word.contains('/'))
}

/// Whether a line is a whole command that begins with a program.
fn is_command(line: &str) -> bool {
    let Some(program) = line.split_whitespace().find(|word| !is_assignment(word)) else {
        return false;
    };
    let is_whole = ["'", "\""].iter().all(|quote| line.matches(quote).count() % 2 == 0);
    let is_path = program.contains('/') && program.bytes().all(is_of_path);
    line.len() <= MAX_COMMAND
        && is_whole
        && !line.contains("<<")
        && (is_program(program) || is_path)
        && NOT_ALONE.binary_search(&program).is_err()
}

fn is_of_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+./".contains(&byte)
}

/// Whether a word of a command sets a variable.
pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Whether a word can be the name of a program.
pub(crate) fn is_program(word: &str) -> bool {
    let first = word.bytes().next().unwrap_or_default();
    first.is_ascii_alphabetic()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-+.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> String {
        let line = |it: Example| match it.about.trim() {
            "" => format!("{}\n", it.command),
            about => format!("{} ({about})\n", it.command),
        };
        examples(body).into_iter().map(line).collect()
    }

    #[test]
    fn the_table_is_sorted_for_the_search() {
        assert!(NOT_ALONE.is_sorted());
    }

    #[test]
    fn commands_are_found_where_bodies_show_them() {
        insta::assert_snapshot!(shown(r"
# Title

Run `scripts/first --now`, or try: `second a.txt`. The option `--third` is none, `fourth` neither.

Command: fifth *.csv
- **Command:** `sixth x`
- **Command:** seventh x

```bash
# A remark.
cd somewhere
$ eighth \
    --more
NAME=value ninth 'a b'
```

| task | command |
|---|---|
| count | `tenth -x \| eleventh` |
| name | `twelfth` |
| code | `speed = fast` |

1. In a list:

   ```sh
   thirteenth \
     --more
   ```

```console
$ fourteenth
its output
```
"), @"
        scripts/first --now
        second a.txt
        fifth *.csv
        sixth x
        seventh x
        eighth --more
        NAME=value ninth 'a b'
        tenth -x | eleventh (count)
        thirteenth --more
        fourteenth
        ");
    }

    #[test]
    fn a_body_of_one_long_line_takes_no_long_time() {
        let body = "| x | `a -b` ".repeat(30_000) + "\n\nRun `c`.\n";
        let begun = std::time::Instant::now();
        assert_eq!(examples(&body).len(), MAX_EXAMPLES);
        assert_eq!(examples(&"`a` Run ".repeat(30_000)).len(), MAX_EXAMPLES);
        assert_eq!(examples(&"` ` ".repeat(100_000)).len(), 0);
        assert!(begun.elapsed().as_secs() < 60);
    }

    #[test]
    fn what_is_no_whole_command_is_no_example() {
        let body = r#"
```sh
for file in *.csv; do
  echo "a
pip install x
cat <<EOF
{ "json": 1 }
<program> x
```

```python
run()
```

Run `--help` or `*.txt`. Runs `well`. Command:

    Command: indented
"#;
        assert_eq!(shown(body), "");
    }
}
