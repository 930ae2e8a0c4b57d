//! What a line of a chat means.

use metier_app::turn::message::{command_in, first_word};
use metier_app::turn::names::EXIT;
use metier_app::turn::{SkillCommands, TurnMessage};

/// What a person said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing.
    Nothing,
    /// Something for the model.
    Message(TurnMessage),
    /// Something for the chat itself.
    Order(Order),
    /// A command that takes nothing, with something behind it.
    Needless {
        /// The command.
        word: String,
    },
    /// A command that there is not.
    Unknown {
        /// The command.
        word: String,
        /// The one that comes closest.
        nearest: Option<String>,
    },
}

/// Something for the chat itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Show the commands.
    Help,
    /// Show the skills that fit these words; all without any.
    Skills(String),
    /// Bring a file along.
    Attach(String),
    /// Show the model, or ask this one.
    Model(Option<String>),
    /// Show the session, or go on with this one.
    Session(Option<String>),
    /// Begin a new session.
    New,
    /// Show the tokens of the session.
    Usage,
    /// Leave.
    Quit,
}

/// Reads a line. A command is a `/` and one word; a path is none.
pub(super) fn read(line: &str, names: &SkillCommands) -> Said {
    let line = line.trim();
    if line.is_empty() {
        return Said::Nothing;
    }
    let Some((word, rest)) = command_in(line) else {
        return Said::Message(TurnMessage::of(line, names));
    };
    let given = || Some(rest.to_owned()).filter(|it| !it.is_empty());
    Said::Order(match word {
        "help" | "" => Order::Help,
        "skills" => Order::Skills(rest.to_owned()),
        "attach" => Order::Attach(rest.to_owned()),
        "model" => Order::Model(given()),
        "session" => Order::Session(given()),
        "new" | "usage" | "quit" | EXIT if !rest.is_empty() => {
            return Said::Needless { word: word.to_owned() };
        }
        "new" => Order::New,
        "usage" => Order::Usage,
        "quit" | EXIT => Order::Quit,
        "skill" => {
            let (skill, rest) = first_word(rest);
            return called(skill, rest, names);
        }
        _ => return called(word, rest, names),
    })
}

/// A skill that is called by its command.
fn called(word: &str, rest: &str, names: &SkillCommands) -> Said {
    match TurnMessage::calling(word, rest, names) {
        Some(message) => Said::Message(message),
        None => {
            let nearest = names.nearest(word).map(str::to_owned);
            Said::Unknown { word: word.to_owned(), nearest }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> String {
        let pairs = [("csv_stats", "csv-stats"), ("help_2", "help"), ("number_lab", "number-lab")];
        let pairs = pairs.map(|(command, skill)| (command.to_owned(), skill.to_owned()));
        let names = SkillCommands { pairs: pairs.to_vec() };
        let told = lines.iter().map(|line| match read(line, &names) {
            Said::Message(message) => {
                format!("{line:?}: {:?} loads {:?}", message.text, message.loads)
            }
            Said::Order(order) => format!("{line:?}: {order:?}"),
            other => format!("{line:?}: {other:?}"),
        });
        told.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn commands_of_the_chat_win_over_skills() {
        let lines = [
            "/help",
            "/",
            " /skills  plot data ",
            "/model",
            "/model a/b",
            "/session x",
            "/new",
            "/usage",
            "/attach a b.txt",
            "/exit",
            "",
        ];
        insta::assert_snapshot!(told(&lines), @r#"
        "/help": Help
        "/": Help
        " /skills  plot data ": Skills("plot data")
        "/model": Model(None)
        "/model a/b": Model(Some("a/b"))
        "/session x": Session(Some("x"))
        "/new": New
        "/usage": Usage
        "/attach a b.txt": Attach("a b.txt")
        "/exit": Quit
        "": Nothing
        "#);
    }

    #[test]
    fn commands_that_take_nothing_are_not_obeyed_with_something() {
        let lines = ["/new foo", "/usage x", "/quit now", "/exit now", "/new "];
        insta::assert_snapshot!(told(&lines), @r#"
        "/new foo": Needless { word: "new" }
        "/usage x": Needless { word: "usage" }
        "/quit now": Needless { word: "quit" }
        "/exit now": Needless { word: "exit" }
        "/new ": New
        "#);
    }

    #[test]
    fn a_skill_is_loaded_by_its_command() {
        let lines = [
            "/csv_stats",
            "/csv-stats a.csv",
            "/skill csv-stats a.csv",
            "/help_2 x",
            "/skill number-lab with $csv-stats",
            "/skill",
        ];
        insta::assert_snapshot!(told(&lines), @r#"
        "/csv_stats": "Use the skill `csv-stats`." loads ["csv-stats"]
        "/csv-stats a.csv": "Use the skill `csv-stats`.\n\na.csv" loads ["csv-stats"]
        "/skill csv-stats a.csv": "Use the skill `csv-stats`.\n\na.csv" loads ["csv-stats"]
        "/help_2 x": "Use the skill `help`.\n\nx" loads ["help"]
        "/skill number-lab with $csv-stats": "Use the skill `number-lab`.\n\nwith $csv-stats" loads ["number-lab", "csv-stats"]
        "/skill": Unknown { word: "", nearest: None }
        "#);
    }

    #[test]
    fn a_skill_is_loaded_where_a_message_names_it() {
        let lines = [
            "use $csv-stats, then $number_lab and $csv-stats",
            "costs $5 in $HOME, $HELP",
            "US$csv-stats",
            "a $ b$",
            "$csv-statsx",
            "($csv-stats)",
        ];
        insta::assert_snapshot!(told(&lines), @r#"
        "use $csv-stats, then $number_lab and $csv-stats": "use $csv-stats, then $number_lab and $csv-stats" loads ["csv-stats", "number-lab"]
        "costs $5 in $HOME, $HELP": "costs $5 in $HOME, $HELP" loads []
        "US$csv-stats": "US$csv-stats" loads []
        "a $ b$": "a $ b$" loads []
        "$csv-statsx": "$csv-statsx" loads []
        "($csv-stats)": "($csv-stats)" loads ["csv-stats"]
        "#);
    }

    #[test]
    fn what_is_no_command_is_a_message_or_has_a_nearest_one() {
        let lines =
            ["/etc/passwd has what?", "/hlep", "/csv", "/skill numberlab x", "/frobnicate now"];
        insta::assert_snapshot!(told(&lines), @r#"
        "/etc/passwd has what?": "/etc/passwd has what?" loads []
        "/hlep": Unknown { word: "hlep", nearest: Some("help") }
        "/csv": Unknown { word: "csv", nearest: Some("csv_stats") }
        "/skill numberlab x": Unknown { word: "numberlab", nearest: Some("number_lab") }
        "/frobnicate now": Unknown { word: "frobnicate", nearest: None }
        "#);
    }
}
