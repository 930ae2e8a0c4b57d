//! Which example of a skill fits a task, and how it is made to use the files that came with it.
//!
//! A file takes the place of an example's only where there is no doubt: it has the same name, or the same
//! extension and there are as many of both, or there are as many files as the command has examples. Where
//! there are more files and all have one name, the first are meant. A number takes the place of another
//! where the task and the command have one each.

use std::collections::BTreeMap;
use std::ops::Range;

use metier_approval::quote;
use metier_skill::examples::Example;
use metier_skill::search::{Document, Index};

use super::talk::Attached;

/// Where files are brought to.
const INPUTS: &str = "work/inputs";
/// Folders of skills in which files are examples.
const EXAMPLE_FOLDERS: [&str; 3] = ["assets/", "examples/", "example/"];
/// What comes before the name of a file that is written.
const WRITES: [&str; 6] = ["-o", "--out", "--output", "--output-file", ">", ">>"];
/// Programs whose first argument is a program.
const INTERPRETERS: [&str; 10] =
    ["bash", "bun", "deno", "node", "npx", "perl", "python", "python3", "ruby", "sh"];
/// Words of capitals that stand for a file.
const STANDS_FOR_A_FILE: [&str; 6] = ["FILE", "FILENAME", "INPUT", "INPUT_FILE", "PATH", "INFILE"];

/// A command that is ready.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Adapted {
    /// The command.
    pub(super) command: String,
    /// What has to be brought in for it: from where, and to where.
    pub(super) inputs: Vec<(String, String)>,
    /// How many of the files it uses.
    placed: usize,
}

/// What an example is chosen for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish<'a> {
    /// The words of the task.
    pub(super) words: &'a [String],
    /// The only number in it.
    pub(super) number: Option<&'a str>,
    /// The files that came with it, or before it.
    pub(super) files: &'a [Attached],
    /// Whether they came with it: those from before say nothing of what it is about.
    pub(super) are_its_own: bool,
    /// Commands that were run already.
    pub(super) tried: &'a [String],
}

/// The example that uses most of the files of the task, then has most of the words, then comes first.
pub(super) fn choose(examples: &[Example], wish: Wish<'_>) -> Option<Adapted> {
    let mut best: Option<((usize, usize), Adapted)> = None;
    for example in examples {
        let command = with_number(&example.command, wish.number);
        let Some(adapted) = adapt(&command, wish.files) else { continue };
        if wish.tried.contains(&adapted.command) {
            continue;
        }
        let placed = if wish.are_its_own { adapted.placed } else { 0 };
        let fits = (placed, common(example, wish.words));
        if best.as_ref().is_none_or(|(most, _)| fits > *most) {
            best = Some((fits, adapted));
        }
    }
    best.map(|(_, adapted)| adapted)
}

/// A command with the number of a task in the place of its own, if it has one and no other.
fn with_number(command: &str, number: Option<&str>) -> String {
    let words = words_of(command);
    let mut numbers = words.iter().filter(|word| is_number(&word.text));
    match (number, numbers.next(), numbers.next()) {
        (Some(number), Some(word), None) => {
            [&command[..word.at.start], number, &command[word.at.end..]].concat()
        }
        _ => command.to_owned(),
    }
}

/// A command with the files in it; nothing if something in it is left to be filled in.
pub(super) fn adapt(command: &str, files: &[Attached]) -> Option<Adapted> {
    let words = words_of(command);
    let arguments: Vec<&Word> = arguments(&words);
    let mut distinct: Vec<&Word> = Vec::new();
    for word in &arguments {
        if !distinct.iter().any(|it| it.text == word.text) {
            distinct.push(word);
        }
    }
    let places = places(&distinct, files);
    let is_open = |word: &Word| word.is_placeholder() && !places.contains_key(word.text.as_str());
    if words.iter().any(|word| is_open(word) || word.is_unfinished()) {
        return None;
    }
    let mut adapted = Adapted { placed: places.len(), ..Adapted::default() };
    let mut end = 0;
    for word in &arguments {
        let Some(file) = places.get(word.text.as_str()) else { continue };
        adapted.command.push_str(&command[end..word.at.start]);
        adapted.command.push_str(&quote(&path_of(file)));
        end = word.at.end;
    }
    adapted.command.push_str(&command[end..]);
    let brought = places.values().filter(|file| inside(file).is_none());
    adapted.inputs = brought.map(|file| (file.reference.clone(), path_of(file))).collect();
    Some(adapted)
}

/// Whether a command reads a file that came with its skill as an example.
pub(super) fn reads_an_example(command: &str) -> bool {
    let words = words_of(command);
    arguments(&words).iter().any(|word| word.is_example())
}

/// Whether a command uses a file.
pub(super) fn uses(command: &str, file: &Attached) -> bool {
    command.contains(&quote(&path_of(file)))
}

/// The files without those that would be brought to the place of one before them.
pub(super) fn apart(files: &[Attached]) -> Vec<Attached> {
    let mut apart: Vec<Attached> = Vec::new();
    for file in files {
        if !apart.iter().any(|it| path_of(it) == path_of(file)) {
            apart.push(file.clone());
        }
    }
    apart
}

/// What tells a file from others of its name.
pub(super) fn place_of(file: &Attached) -> &str {
    inside(file).unwrap_or(&file.reference)
}

/// Where a file is for commands that start in the folder of a skill.
fn path_of(file: &Attached) -> String {
    inside(file).map_or_else(|| format!("{INPUTS}/{}", file.name), str::to_owned)
}

/// Whether a file is in the workspace already.
pub(super) fn is_inside(file: &Attached) -> bool {
    inside(file).is_some()
}

/// The place of a file that is in the workspace, below a folder that every skill has a link to.
fn inside(file: &Attached) -> Option<&str> {
    let path = file.reference.strip_prefix("workspace://")?;
    ["work/", "out/"].iter().any(|folder| path.starts_with(folder)).then_some(path)
}

/// Which file takes the place of which word.
fn places<'a>(words: &[&'a Word], files: &'a [Attached]) -> Places<'a> {
    let mut places = Places::new();
    place(&mut places, words, files, |word, file| word.file_name() == file.name);
    place(&mut places, words, files, |word, file| same_extension(word.file_name(), &file.name));
    place(&mut places, words, files, |word, _| word.is_placeholder());
    place(&mut places, words, files, |word, _| word.is_example());
    places
}

/// Files by the words they take the place of.
type Places<'a> = BTreeMap<&'a str, &'a Attached>;

/// Places files that fit, where there are as many of them as of words they fit, or more but of one name; both in
/// their order.
fn place<'a>(
    places: &mut Places<'a>,
    words: &[&'a Word],
    files: &'a [Attached],
    fits: impl Fn(&Word, &Attached) -> bool,
) {
    let is_placed = |file: &Attached| places.values().any(|it| *it == file);
    let files: Vec<&Attached> = files.iter().filter(|file| !is_placed(file)).collect();
    let words = words.iter().filter(|word| !places.contains_key(word.text.as_str()));
    let words: Vec<&'a Word> = words.copied().collect();
    for word in &words {
        let same: Vec<&'a Attached> =
            files.iter().copied().filter(|file| fits(word, file)).collect();
        let Some(first) = same.first() else { continue };
        let mut rivals = words.iter().filter(|rival| fits(rival, first));
        let wanted = rivals.clone().count();
        let have_one_name = same.iter().all(|file| file.name == first.name);
        if (wanted == same.len() || wanted < same.len() && have_one_name)
            && let Some(at) = rivals.position(|rival| rival.text == word.text)
        {
            places.insert(&word.text, same[at]);
        }
    }
}

fn same_extension(left: &str, right: &str) -> bool {
    match (extension(left), extension(right)) {
        (Some(left), Some(right)) => left.eq_ignore_ascii_case(right),
        _ => false,
    }
}

/// The extension of a name; a number is none.
pub(super) fn extension(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_one = !stem.is_empty()
        && extension.len() <= 8
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_one.then_some(extension)
}

/// Whether a word is a whole number.
pub(super) fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// How many words of a task an example has, beside the names of its files.
fn common(example: &Example, words: &[String]) -> usize {
    let of_command = words_of(&example.command);
    let files = arguments(&of_command);
    let is_file = |word: &&Word| files.iter().any(|file| file.at == word.at);
    let texts = of_command.iter().filter(|word| !is_file(word)).map(|word| word.text.as_str());
    let text = texts.chain([example.about.as_str()]).collect::<Vec<_>>().join(" ");
    let index = Index::new([Document { name: "", description: &text, headings: &[] }]);
    words.iter().filter(|word| !index.search(word, 1).is_empty()).count()
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    /// Where it stands, its quotes included.
    at: Range<usize>,
    /// What it says.
    text: String,
}

impl Word {
    fn file_name(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or_default()
    }

    /// Whether it stands for something that has to be filled in.
    fn is_placeholder(&self) -> bool {
        let text = self.text.as_str();
        let is_framed = |(open, close)| {
            let inner = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
            inner.is_some_and(|it: &str| !it.is_empty() && it.chars().all(is_of_name))
        };
        [('<', '>'), ('{', '}')].into_iter().any(is_framed)
            || text.contains("path/to/")
            || STANDS_FOR_A_FILE.contains(&text)
    }

    /// Whether it has a part that has to be filled in, which no file can be.
    fn is_unfinished(&self) -> bool {
        let text = self.text.as_str();
        // What is quoted may be markup.
        let is_quoted = self.at.len() != text.len();
        let has_open = text.match_indices('<').any(|(at, _)| {
            let rest = &text[at + 1..];
            let name = rest.split('>').next().unwrap_or_default();
            name.starts_with(char::is_alphabetic) && name.chars().all(is_of_name)
        });
        let is_yours = text.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("your"));
        !is_quoted && has_open && !self.is_placeholder()
            || is_yours
            || text.ends_with("...")
            || text.ends_with('…')
    }

    fn is_example(&self) -> bool {
        EXAMPLE_FOLDERS.iter().any(|folder| self.text.starts_with(folder))
    }

    fn is_file(&self) -> bool {
        let plain = !self.text.contains(['*', '?', '$', '=', '(', '|', ';']);
        plain && !self.text.contains("://") && extension(self.file_name()).is_some()
    }
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || " _-./".contains(character)
}

/// The words of a command that name files it reads, or stand for some.
fn arguments(words: &[Word]) -> Vec<&Word> {
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate().skip(1) {
        let before = words[index - 1].text.as_str();
        let is_script = index == 1 && INTERPRETERS.contains(&before);
        let is_written =
            WRITES.contains(&before) || word.text.starts_with("out/") || word.text.starts_with('>');
        let is_ours = word.text.starts_with('-') || word.text.starts_with("scripts/");
        if !is_script && !is_written && !is_ours && (word.is_file() || word.is_placeholder()) {
            found.push(word);
        }
    }
    found
}

/// The words of a command, as a shell would see them, roughly.
fn words_of(command: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let (mut begin, mut text, mut quote) = (None, String::new(), None);
    for (at, character) in command.char_indices() {
        match quote {
            Some(open) if open == character => quote = None,
            None if matches!(character, '\'' | '"') => {
                quote = Some(character);
                begin = begin.or(Some(at));
            }
            None if character.is_whitespace() => {
                if let Some(begin) = begin.take() {
                    words.push(Word { at: begin..at, text: std::mem::take(&mut text) });
                }
            }
            _ => {
                begin = begin.or(Some(at));
                text.push(character);
            }
        }
    }
    words.extend(begin.map(|begin| Word { at: begin..command.len(), text }));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> Vec<Attached> {
        let file = |name: &&str| Attached {
            name: (*name).to_owned(),
            reference: format!("workspace://work/inputs/{name}"),
        };
        names.iter().map(file).collect()
    }

    #[test]
    fn files_take_the_place_of_examples_where_there_is_no_doubt() {
        let cases: &[(&str, &[&str])] = &[
            ("python3 scripts/s.py profile assets/sales.csv", &["mine.csv"]),
            ("python3 scripts/s.py profile assets/sales.csv", &[]),
            ("s a.csv --sum x a.csv --output b.csv > c.csv", &["mine.csv"]),
            ("d assets/old.conf assets/new.conf", &["a.txt", "b.txt"]),
            ("d assets/old.conf assets/new.conf", &["new.conf", "old.conf"]),
            ("d old.txt new.txt", &["a.txt", "b.txt"]),
            ("join people.csv layout.json", &["b.json", "a.csv"]),
            ("s 'two words.csv'", &["it's mine.csv"]),
            ("s <file>", &["a.csv"]),
            ("s FILE 0.5", &["a.csv"]),
            ("s path/to/x.csv", &["a.csv"]),
            ("tail -n 5 assets/x.log | sh scripts/l.sh status", &["y.log"]),
            // Which one is meant, nobody knows.
            ("s a.csv", &["b.csv", "c.csv"]),
            ("d old.txt new.txt", &["a.txt"]),
            ("d assets/old.conf assets/new.conf", &["a.txt"]),
            ("s scripts/x.py out/y.csv", &["x.py", "y.csv"]),
            // What is left open cannot be run.
            ("s <file>", &[]),
            ("s <input file>", &["a.csv"]),
            ("s {name} x", &[]),
            ("s --in=<file>", &["a.csv"]),
            ("s x.csv ...", &["a.csv"]),
            ("s out/<name>.md x.csv", &["a.csv"]),
            ("s <folder>/x.csv", &["a.csv"]),
            ("s your_program.py", &["a.csv"]),
            // Braces and brackets of programs are not.
            ("awk '{print $1}' x.csv", &["a.csv"]),
            ("grep '<b>x</b>' x.csv", &["a.csv"]),
            ("sh run.sh x.csv", &["a.csv", "b.sh"]),
            ("s <from> <to>", &["a.csv"]),
        ];
        let shown = cases.iter().map(|(command, names)| {
            let adapted = adapt(command, &files(names));
            let adapted = adapted.map_or("nothing".to_owned(), |it| it.command);
            format!("{command}  {names:?}\n    {adapted}\n")
        });
        insta::assert_snapshot!(shown.collect::<String>());
    }

    #[test]
    fn a_number_takes_the_place_of_the_only_one() {
        let cases = [
            ("terms fibonacci --count 10", Some("20"), "terms fibonacci --count 20"),
            ("bases.py '255' --to 2,8,16", Some("7"), "bases.py 7 --to 2,8,16"),
            ("check 97 91", Some("5"), "check 97 91"),
            ("terms fibonacci", Some("5"), "terms fibonacci"),
            ("terms --count 10", None, "terms --count 10"),
        ];
        for (command, number, expected) in cases {
            assert_eq!(with_number(command, number), expected);
        }
    }

    #[test]
    fn a_file_that_is_not_in_the_workspace_is_brought_in() {
        let reference = "artifact://a.csv@0".to_owned();
        let files = [Attached { name: "a.csv".to_owned(), reference: reference.clone() }];
        let adapted = adapt("s x.csv", &files).unwrap();
        assert_eq!(adapted.command, "s work/inputs/a.csv");
        assert_eq!(adapted.inputs, [(reference, "work/inputs/a.csv".to_owned())]);
    }
}
