//! Notices, findings and progress of the application, in words for a terminal.

use metier_app::state::privacy::ExposedFile;
use metier_app::{
    Activity, AppError, ErrorWording, Notice, OngoingActivity, Reporter, SessionChoice, WatchLimit,
};
use metier_approval::quote;
use metier_config::ConfigError;
use metier_skill::problem::Problem;
use metier_workspace::executor::Preparing;

use crate::failure::Failure;
use crate::output::{Output, Working, counted, plain, size, style};

/// Reports to the person at the terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TerminalReporter {
    output: Output,
}

impl TerminalReporter {
    /// Reports through an output.
    pub(crate) fn new(output: Output) -> Self {
        Self { output }
    }
}

impl Reporter for TerminalReporter {
    fn notice(&self, notice: &Notice) {
        let (word, text) = notice_words(notice);
        self.output.note(style::WARN, word, &text);
    }

    fn problems(&self, problems: &[Problem]) {
        self.output.problems(problems);
    }

    fn begin(&self, activity: &Activity) -> Box<dyn OngoingActivity> {
        Box::new(TerminalActivity(self.output.working(&activity_words(activity))))
    }

    fn wording(&self, error: &AppError) -> ErrorWording {
        let failure = Failure::from(error);
        let hint = failure.remedy().map(str::to_owned);
        ErrorWording { message: failure.to_string(), hint }
    }

    fn config_hint(&self, error: &ConfigError) -> Option<String> {
        Failure::hint_of_config(error)
    }
}

/// The line of an activity.
struct TerminalActivity(Working);

impl OngoingActivity for TerminalActivity {
    fn update(&self, activity: &Activity) {
        self.0.set(&activity_words(activity));
    }
}

/// Returns the line of an activity.
fn activity_words(activity: &Activity) -> String {
    match activity {
        Activity::LookingForSkills => "looking for skills".to_owned(),
        Activity::AskingServers { names } => {
            format!("asking for the skills of {}", names.join(", "))
        }
        Activity::ReadingSkill { name } => format!("reading {name}"),
        Activity::ReadingSkills { count } => {
            format!("reading the files of {}", counted(*count, "skill"))
        }
        Activity::FetchingSkill { name, server } => format!("fetching {name} from {server}"),
        Activity::Downloading { address, received: None } => format!("fetching {address}"),
        Activity::Downloading { address, received: Some(bytes) } => {
            format!("fetching {address}, {}", size(*bytes))
        }
        Activity::Unpacking { address } => format!("unpacking {address}"),
        _ => "working".to_owned(),
    }
}

/// Returns the word and the text of a notice.
fn notice_words(notice: &Notice) -> (&'static str, String) {
    let text = match notice {
        Notice::ToolsShared { folder, error } => format!(
            "programs in `{}` cannot be given to the skills they were installed for: {error}",
            folder.display()
        ),
        Notice::NotWatched(WatchLimit::Polled(why)) => {
            return ("warning: ", format!("files are polled: {why}"));
        }
        Notice::NotWatched(WatchLimit::Unwatched(error)) => {
            let text = format!("{}; changes are not noticed", Failure::of(error));
            return ("warning: ", text);
        }
        Notice::AddressWithoutModel { variable, provider } => format!(
            "{variable} names no model, so the offline planner answers; `--model {provider}/NAME` asks that server"
        ),
        Notice::ServerUnused(fault) => {
            format!("the server `{}` is not used: {}", fault.name, fault.fault)
        }
        Notice::HarmlessUsesAllowed { pattern, beyond } => format!(
            "`--yes-to {pattern}` covers only uses that are known to be harmless ({}); `--yes-to '{pattern} REGEX'` names others",
            plain(beyond)
        ),
        Notice::UnknownToolServer { pattern, server } => {
            format!("`--yes-to {pattern}`: no tools of a server `{server}` are used")
        }
        Notice::AllowedWithoutHost => {
            "`--yes-to` is about commands on the host; add `--executor host`".to_owned()
        }
        Notice::ChoiceKept { choice, kept, wanted } => {
            let flag = match choice {
                SessionChoice::Tools => "--tools",
                SessionChoice::Placement => "--placement",
            };
            format!(
                "the session began with `{flag} {kept}` and keeps it; a new one can have `{wanted}`"
            )
        }
        Notice::ExecutorChanged { began_on_host } => {
            let where_then = if *began_on_host { "on the host" } else { "confined" };
            format!(
                "the model of this session was told that commands run {where_then}, which they do not any more; \
                 a new session knows better"
            )
        }
        Notice::ExposedFile(exposed) => return ("warning: ", exposed_words(exposed)),
        _ => String::new(),
    };
    ("note: ", text)
}

/// Returns what is done before a command can run, in words for a terminal.
pub(crate) fn preparing_words(preparing: Preparing<'_>) -> Option<String> {
    match preparing {
        Preparing::Image { name, bytes: 0 } => Some(format!("fetching the image {}", plain(name))),
        Preparing::Image { name, bytes } => {
            Some(format!("fetching the image {}, {}", plain(name), size(bytes)))
        }
        _ => None,
    }
}

/// Returns a sentence about a file or folder of keys, with the command that protects it.
pub(crate) fn exposed_words(exposed: &ExposedFile) -> String {
    match exposed {
        ExposedFile::Readable(file) => {
            let (shown, quoted) = (file.display(), quote(&file.display().to_string()));
            format!("others can read `{shown}`, which holds keys; run `chmod 600 {quoted}`")
        }
        ExposedFile::WritableFolder(folder) => {
            let (shown, quoted) = (folder.display(), quote(&folder.display().to_string()));
            format!("others can write to `{shown}`, where keys are kept; run `chmod 700 {quoted}`")
        }
    }
}
