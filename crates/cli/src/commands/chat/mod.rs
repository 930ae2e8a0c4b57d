//! `metier chat`: messages and answers in a session, until the person leaves.
//!
//! What goes wrong is said and the chat goes on. Without a terminal each line of standard input is a message,
//! answers are on standard output, and the exit code says whether all went well.

mod editor;
mod files;
mod lines;
mod orders;
mod talk;
mod words;

use std::io::{self, IsTerminal};

use metier_agent::Library;

use self::lines::{Line, Lines};
use self::talk::Chat;
use self::words::{Order, Said};
use crate::args::ChatArgs;
use crate::context::Context;
use crate::failure::{FAILED, Failure, INTERRUPTED, OK};
use crate::output::{style, styled};
use metier_app::sessions::CLEANUP_LIMIT;

/// Talks until there is nothing more to say.
pub(super) fn run(arguments: &ChatArgs, context: &Context) -> Result<u8, Failure> {
    let mut chat = Chat::begin(context, &arguments.agent)?;
    let mut lines = Lines::open(context)?;
    // What runs left behind whose metier was killed.
    metier_sandbox::remove_leftovers();
    let is_alone = !io::stdin().is_terminal();
    if !is_alone {
        greet(&chat)?;
    }
    let mut code = OK;
    loop {
        match lines.next(&chat.names(), &chat.runtime)? {
            Line::Text(text) => {
                // They may have changed while nothing was said.
                chat.refresh()?;
                match answer(&mut chat, &text) {
                    Answered::Well => {}
                    Answered::Badly if is_alone => code = FAILED,
                    Answered::Badly => {}
                    Answered::Leaving => break,
                }
            }
            Line::Interrupted if is_alone => {
                code = INTERRUPTED;
                break;
            }
            Line::Interrupted => {
                context
                    .output
                    .say(&styled(style::DIM, "Ctrl-D leaves, /help shows what you can type"));
            }
            Line::End => break,
        }
    }
    if !is_alone || chat.has_begun()? {
        chat.show_session()?;
    }
    if let Some(foreign) = &chat.agent.foreign {
        chat.runtime.block_on(foreign.servers.close());
    }
    let workspaces = &chat.agent.runner.workspaces;
    // The chat is over; `metier gc` says what is wrong with workspaces.
    let _removed = workspaces.remove_unused_daily(context.app.workspace_ttl(), CLEANUP_LIMIT);
    Ok(code)
}

/// What became of a message.
enum Answered {
    Well,
    Badly,
    Leaving,
}

fn greet(chat: &Chat<'_>) -> Result<(), Failure> {
    let out = &chat.context.output;
    out.note(style::DIM, "model ", chat.agent.model.name());
    chat.show_session()?;
    out.say(&styled(style::DIM, "/help shows what you can type, Ctrl-D leaves"));
    Ok(())
}

fn answer(chat: &mut Chat<'_>, text: &str) -> Answered {
    let names = chat.names();
    let is_good = match words::read(text, &names) {
        Said::Nothing => return Answered::Well,
        Said::Order(Order::Quit) => return Answered::Leaving,
        Said::Message(message) => chat.say(message),
        Said::Order(order) => {
            let result = chat.obey(order, &names);
            tell(chat, result)
        }
        Said::Needless { word } => {
            tell(chat, Err(Failure::usage(format!("`/{word}` takes nothing behind it"))))
        }
        Said::Unknown { word, nearest } => {
            let failure = unknown(chat, &word, nearest.as_deref());
            tell(chat, Err(failure))
        }
    };
    if is_good { Answered::Well } else { Answered::Badly }
}

/// Says what went wrong, if anything did.
fn tell(chat: &Chat<'_>, result: Result<(), Failure>) -> bool {
    let Err(failure) = result else { return true };
    let settings = chat.context.app.environment.settings_file();
    chat.context.output.failure(&failure.naming(&settings));
    false
}

fn unknown(chat: &Chat<'_>, word: &str, nearest: Option<&str>) -> Failure {
    let snapshot = chat.skills.snapshot();
    if let Some(entry) = snapshot.find(word).filter(|entry| !entry.verdict.is_eligible()) {
        return Failure::of_unusable(entry);
    }
    let failure = match word {
        "" => Failure::usage("`/skill` needs the name of a skill"),
        word => Failure::usage(format!("there is no command `/{word}`")),
    };
    match nearest.filter(|_| !word.is_empty()) {
        Some(nearest) => failure.hint(format!("did you mean `/{nearest}`?")),
        None => failure.hint("`/help` shows the commands, `/skills` the skills"),
    }
}
