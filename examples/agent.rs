//! An agent over a folder of skills: a model, sessions that are kept, and commands in the sandbox.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use metier_agent::{Agent, Folders, Library, Offline, Task, stop, unwatched};
use metier_session::{SessionKey, SqliteStore};
use metier_workspace::Runner;

fn main() -> Result<(), Box<dyn Error>> {
    metier_sandbox::helper(); // First of all: to confine a command, the sandbox starts this program again.
    let state = tempfile::tempdir()?; // A real program has a folder that stays.
    tokio::runtime::Runtime::new()?.block_on(ask(state.path(), "Count the words of a text."))
}

async fn ask(state: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    let skills = Arc::new(Folders::new([concat!(env!("CARGO_MANIFEST_DIR"), "/skills").into()]));
    for problem in &skills.snapshot().problems {
        eprintln!("{problem}"); // A folder that is not there, a header that cannot be read, …
    }
    let model = Arc::new(Offline::new(skills.snapshot())); // Needs no key; `metier_model::open` makes others.
    let runner = Runner::sandboxed(state)?; // Makes the folder if need be.
    let sessions = Arc::new(SqliteStore::open(&state.join("sessions.db"))?);
    let agent = Agent::new(model, skills, sessions, runner);
    let session = SessionKey::new("examples", "ada", "first")?;
    let (_stopper, stop) = stop();
    let outcome = agent.run(&session, Task::new(text), unwatched(), &stop).await?;
    print!("{}", outcome.answer()?); // Or how the turn ended without one.
    Ok(())
}
