//! `metier config set`, `unset`, `edit` and `path`: changes of the person's own file.
//!
//! They work where the configuration cannot be loaded, since that is how a mistake is corrected. What would not load is
//! not written.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use metier_config::{
    ConfigEdit, FileReaders, SettingKey, SettingKind, check_file_text, replace_file,
};
use metier_sandbox::{Job, Limits, Policy, Program, Stdio};

use crate::ask;
use crate::context::no_state;
use crate::environment::has_state;
use crate::failure::{Failure, OK};
use crate::output::{Output, plain};
use metier_app::Environment;

/// Largest value that is read from standard input.
const MAX_VALUE: u64 = 64 << 10;
/// The longest time that an editor may stay open.
const MAX_EDITING: Duration = Duration::from_hours(24 * 7);
/// The editor where no variable names one.
const USUAL_EDITOR: &str = "vi";

/// Prints the path of the file.
pub(super) fn path(environment: &Environment, output: Output) -> Result<u8, Failure> {
    let file = file_of(environment)?;
    output.print(&format!("{}\n", plain(&file.display().to_string())));
    Ok(OK)
}

/// Sets a setting.
pub(super) fn set(
    key: &str,
    value: &str,
    environment: &Environment,
    output: Output,
) -> Result<u8, Failure> {
    let file = file_of(environment)?;
    let mut edit = ConfigEdit::open(&file)?;
    let given = match value {
        "-" => read_value()?,
        value => value.to_owned(),
    };
    edit.set(key, &given)?;
    write_config(&file, &edit.text()?, readers_for(key))?;
    output.say(&format!("set {} in {}", plain(key), plain(&file.display().to_string())));
    Ok(OK)
}

/// Removes a setting.
pub(super) fn unset(key: &str, environment: &Environment, output: Output) -> Result<u8, Failure> {
    let file = file_of(environment)?;
    let mut edit = ConfigEdit::open(&file)?;
    let (name, shown) = (plain(key), file.display().to_string());
    if edit.unset(key)? {
        write_config(&file, &edit.text()?, FileReaders::Owner)?;
        output.say(&format!("removed {name} from {}", plain(&shown)));
    } else {
        output.say(&format!("{name} is not set in {}", plain(&shown)));
    }
    Ok(OK)
}

/// Opens the file in an editor.
pub(super) fn edit(environment: &Environment, output: Output) -> Result<u8, Failure> {
    let file = file_of(environment)?;
    let before = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(not_written(&file, &error)),
    };
    // The copy is what is edited, so that nothing reads a file that would not load.
    let folder = tempfile::tempdir().map_err(|error| Failure::of_temporary_folder(&error))?;
    let copy = folder.path().join("config.toml");
    replace_file(&copy, &before, FileReaders::OwnerOnly)
        .map_err(|error| not_written(&copy, &error))?;
    loop {
        run_editor(environment, &copy)?;
        let text = fs::read_to_string(&copy).map_err(|error| not_written(&copy, &error))?;
        if text == before {
            output.say("nothing was changed");
            return Ok(OK);
        }
        let Err(error) = check_file_text(&file, &text) else {
            write_config(&file, &text, FileReaders::Owner)?;
            output.say(&format!("changed {}", plain(&file.display().to_string())));
            return Ok(OK);
        };
        let failure = Failure::from(error);
        if !ask::can_ask() {
            return Err(failure.within("nothing was changed"));
        }
        output.failure(&failure);
        if !ask::confirm(&output, "Edit it again? Otherwise nothing is changed.")? {
            return Err(Failure::new("nothing was changed"));
        }
    }
}

/// Writes the person's own file.
///
/// # Errors
///
/// When it cannot be written.
pub(in crate::commands) fn write_config(
    file: &Path,
    text: &str,
    readers: FileReaders,
) -> Result<(), Failure> {
    replace_file(file, text, readers).map_err(|error| not_written(file, &error))
}

/// Who may read the file once it has a value of this setting.
pub(in crate::commands) fn readers_for(key: &str) -> FileReaders {
    match SettingKey::find(key) {
        Some(SettingKey { kind: SettingKind::Secret, .. }) => FileReaders::OwnerOnly,
        _ => FileReaders::Owner,
    }
}

fn file_of(environment: &Environment) -> Result<PathBuf, Failure> {
    if has_state(environment) { Ok(environment.settings_file()) } else { Err(no_state()) }
}

/// Reads a value from standard input, without the line break at its end.
fn read_value() -> Result<String, Failure> {
    let mut text = String::new();
    let read = io::stdin().lock().take(MAX_VALUE + 1).read_to_string(&mut text);
    read.map_err(|error| Failure::of_input(&error))?;
    if text.len() as u64 > MAX_VALUE {
        return Err(Failure::usage("the value on standard input is too long; the limit is 64 KiB"));
    }
    let value = text.strip_suffix('\n').unwrap_or(&text);
    Ok(value.strip_suffix('\r').unwrap_or(value).to_owned())
}

fn run_editor(environment: &Environment, file: &Path) -> Result<(), Failure> {
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| environment.variable(name));
    let editor = editor.unwrap_or(USUAL_EDITOR);
    let advice =
        "set EDITOR to an editor that waits until you are done, such as `vi` or `code --wait`";
    let variables = environment.variables.iter();
    let words = ["/bin/sh".into(), "-c".into(), format!("{editor} \"$@\"").into(), "editor".into()];
    let job = Job {
        program: Program {
            // People write an editor with its options, which a shell splits.
            command: metier_sandbox::Command::Arguments(
                words.into_iter().chain([OsString::from(file)]).collect(),
            ),
            environment: variables.map(|(name, value)| (name.into(), value.into())).collect(),
            directory: environment.folder.clone(),
        },
        policy: Policy::unconfined(),
        limits: Limits {
            wall: MAX_EDITING,
            cpu_seconds: MAX_EDITING.as_secs(),
            memory: 16 << 30,
            processes: 4096,
            ..Limits::default()
        },
    };
    let stdio = Stdio::inherited().map_err(|error| Failure::of_system(&error))?;
    let child = metier_sandbox::spawn(&job, &stdio);
    let ended = child.map_err(|error| Failure::brief(&error).hint(advice))?.wait();
    match ended.map_err(|error| Failure::of_system(&error))?.code {
        Some(0) => Ok(()),
        _ => {
            Err(Failure::new(format!("the editor `{editor}` failed; nothing was changed"))
                .hint(advice))
        }
    }
}

fn not_written(file: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot write `{}`: {error}", file.display()))
        .hint("set METIER_HOME to a folder that you can write to")
        .unless_full(error)
}
