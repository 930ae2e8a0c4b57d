//! The names by which a person calls skills and commands.
//!
//! A skill's command is its name in `[a-z0-9_]`, at most 32 of them; the commands of the chat keep their
//! names, and of two skills with one name the second has `_2` behind it.

use metier_skill::library::Snapshot;
use metier_skill::search::edit_distance;

/// Most characters of a command.
const MAX_NAME: usize = 32;
/// Characters by which commands begin alike.
const ALIKE: usize = 3;
/// Wrong characters with which a command is still recognised.
const MAX_SLIPS: usize = 2;

/// The commands of the chat: name, what comes after it, what it does.
pub const ORDERS: [(&str, &str, &str); 9] = [
    ("help", "", "show this"),
    ("attach", "FILE", "bring a file along with the next message"),
    ("model", "[P/N]", "show the model, or ask another from now on"),
    ("session", "[ID]", "show the session, or go on with another"),
    ("new", "", "begin a new session"),
    ("usage", "", "show the tokens of the session"),
    ("quit", "", "leave; so does Ctrl-D"),
    ("skills", "[words]", "show the skills, or those that fit the words"),
    ("skill", "NAME [text]", "load a skill and say something"),
];

/// What also leaves, because people try it.
pub const EXIT: &str = "exit";

/// The skills that a person may call, each with its command, in order of the commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillCommands {
    /// Command and skill.
    pub pairs: Vec<(String, String)>,
}

impl SkillCommands {
    /// Those of the skills there are.
    pub fn of(snapshot: &Snapshot) -> Self {
        let entries = snapshot.entries.iter().filter(|entry| entry.is_user_invocable());
        Self::new(entries.map(|entry| entry.name.as_str()))
    }

    fn new<'a>(skills: impl Iterator<Item = &'a str>) -> Self {
        let mut skills: Vec<&str> = skills.collect();
        skills.sort_unstable();
        let mut pairs: Vec<(String, String)> = Vec::new();
        for skill in skills {
            let is_taken =
                |name: &str| is_order(name) || pairs.iter().any(|(command, _)| command == name);
            let base = command_of(skill);
            let numbered = |count: usize| {
                let end = format!("_{count}");
                format!("{}{end}", &base[..base.len().min(MAX_NAME - end.len())])
            };
            let mut names = std::iter::once(base.clone()).chain((2..).map(numbered));
            let free = names.find(|name| !is_taken(name)).unwrap_or_default();
            pairs.push((free, skill.to_owned()));
        }
        pairs.sort();
        Self { pairs }
    }

    /// The skill of a command; its own name counts as well.
    pub fn skill(&self, word: &str) -> Option<&str> {
        self.exactly(word).or_else(|| self.exactly(&command_of(word)))
    }

    /// The skill of exactly this name or command.
    pub fn exactly(&self, word: &str) -> Option<&str> {
        let by_name = self.pairs.iter().find(|(_, skill)| skill == word);
        let found = by_name.or_else(|| self.pairs.iter().find(|(command, _)| command == word));
        found.map(|(_, skill)| skill.as_str())
    }

    /// The command of a skill.
    pub fn command(&self, skill: &str) -> Option<&str> {
        self.pairs.iter().find(|(_, own)| own == skill).map(|(command, _)| command.as_str())
    }

    /// The command that comes closest to a word.
    pub fn nearest(&self, word: &str) -> Option<&str> {
        let commands = || self.commands().filter(|it| !it.is_empty());
        let slips = |it: &&str| edit_distance(it, word);
        let close = commands().min_by_key(slips).filter(|it| slips(it) <= MAX_SLIPS);
        let start: String = word.chars().take(ALIKE).collect();
        close.or_else(|| commands().find(|it| !start.is_empty() && it.starts_with(&start)))
    }

    /// The command of a skill that comes closest to a word.
    pub fn nearest_skill(&self, word: &str) -> Option<&str> {
        self.nearest(word).filter(|it| !is_order(it))
    }

    /// How a line could go on: where the word begins, and what it could be.
    pub fn completions(&self, line: &str) -> (usize, Vec<String>) {
        let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let word = &line[start..];
        let skills = self.pairs.iter().map(|(_, skill)| skill.as_str());
        // Others cannot be written with a `$`, and may not be fit for a terminal.
        let skills = skills.filter(|skill| skill.chars().all(is_of_name));
        let found: Vec<String> = if let Some(begun) = word.strip_prefix('$') {
            skills.filter(|it| it.starts_with(begun)).map(|it| format!("${it} ")).collect()
        } else if line[..start].trim_end() == "/skill" {
            skills.filter(|it| it.starts_with(word)).map(|it| format!("{it} ")).collect()
        } else if let (0, Some(begun)) = (start, word.strip_prefix('/')) {
            let begun = begun.replace('-', "_");
            let mut found: Vec<&str> =
                self.commands().filter(|it| it.starts_with(&begun)).collect();
            found.sort_unstable();
            found.into_iter().map(|it| format!("/{it} ")).collect()
        } else {
            Vec::new()
        };
        (start, found)
    }

    fn commands(&self) -> impl Iterator<Item = &str> {
        let orders = ORDERS.iter().map(|(order, ..)| *order);
        orders.chain(self.pairs.iter().map(|(command, _)| command.as_str()))
    }
}

/// Whether a word is a command of the chat.
pub fn is_order(word: &str) -> bool {
    word == EXIT || ORDERS.iter().any(|(order, ..)| *order == word)
}

/// Whether a character can be in the name of a skill.
pub fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
}

/// A name as a command.
fn command_of(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let mut command = words.collect::<Vec<_>>().join("_");
    command.truncate(MAX_NAME);
    if command.is_empty() { "skill".to_owned() } else { command }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(skills: &[&str]) -> SkillCommands {
        SkillCommands::new(skills.iter().copied())
    }

    fn told(names: &SkillCommands) -> String {
        let pairs = names.pairs.iter().map(|(command, skill)| format!("/{command} {skill}"));
        pairs.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn commands_are_short_plain_and_never_twice() {
        let long = "a".repeat(40);
        let skills = [
            "csv-stats",
            "csv.stats",
            "CSV stats",
            "help",
            "exit",
            "skill",
            "技能",
            "\u{1b}[2J",
            &long,
            &format!("{long}b"),
        ];
        insta::assert_snapshot!(told(&names(&skills)).replace('\u{1b}', "^"), @"
        /2j ^[2J
        /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_2 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab
        /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
        /csv_stats CSV stats
        /csv_stats_2 csv-stats
        /csv_stats_3 csv.stats
        /exit_2 exit
        /help_2 help
        /skill_2 skill
        /skill_3 技能
        ");
    }

    #[test]
    fn a_skill_is_called_by_its_command_or_its_name() {
        let names = names(&["csv-stats", "csv_stats", "help"]);
        let cases = ["csv-stats", "csv_stats", "csv_stats_2", "CSV-Stats", "help", "help_2", "x"];
        let told = cases.map(|word| format!("{word}: {:?}", names.skill(word)));
        insta::assert_snapshot!(told.join("\n"), @r#"
        csv-stats: Some("csv-stats")
        csv_stats: Some("csv_stats")
        csv_stats_2: Some("csv_stats")
        CSV-Stats: Some("csv_stats")
        help: Some("help")
        help_2: Some("help")
        x: None
        "#);
    }

    #[test]
    fn the_nearest_command_is_a_slip_away_or_begins_alike() {
        let names = names(&["csv-stats"]);
        let cases = ["hlep", "skils", "csv", "csv_statistics", "quitt", "frobnicate"];
        let told = cases.map(|word| format!("{word}: {:?}", names.nearest(word)));
        insta::assert_snapshot!(told.join("\n"), @r#"
        hlep: Some("help")
        skils: Some("skills")
        csv: Some("csv_stats")
        csv_statistics: Some("csv_stats")
        quitt: Some("quit")
        frobnicate: None
        "#);
    }

    #[test]
    fn commands_and_skills_are_completed_where_they_can_be() {
        let names = names(&["csv-stats", "csv-tools", "evil\u{1b}[2J"]);
        let lines =
            ["/", "/s", "/csv-s", "say /s", "use $csv", "$csv-t", "/skill cs", "x", "/skill $e"];
        let told = lines.map(|line| format!("{line:?}: {:?}", names.completions(line)));
        insta::assert_snapshot!(told.join("\n"), @r#"
        "/": (0, ["/attach ", "/csv_stats ", "/csv_tools ", "/evil_2j ", "/help ", "/model ", "/new ", "/quit ", "/session ", "/skill ", "/skills ", "/usage "])
        "/s": (0, ["/session ", "/skill ", "/skills "])
        "/csv-s": (0, ["/csv_stats "])
        "say /s": (4, [])
        "use $csv": (4, ["$csv-stats ", "$csv-tools "])
        "$csv-t": (0, ["$csv-tools "])
        "/skill cs": (7, ["csv-stats ", "csv-tools "])
        "x": (0, [])
        "/skill $e": (7, [])
        "#);
    }
}
