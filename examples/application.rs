//! The whole product in a program: a trusted checkout with its skills, and a prompter of the program's own.

use std::{error::Error, path::Path, sync::Arc};

use metier_agent::{stop, unwatched};
use metier_app::{AgentChoices, App, Decision, ExecutorKind, Prompter, Question};
use metier_app::{SkillLibrary, TurnMessage, TurnRequest};

#[derive(Debug)]
struct AlwaysOnce; // A real program asks a person; this one says yes, once.

#[async_trait::async_trait]
impl Prompter for AlwaysOnce {
    async fn ask(&self, question: &Question) -> Option<Decision> {
        println!("{}", question.shown().ok()?.heading); // Safe to show: escaped, secrets masked.
        Some(Decision::Once)
    }
}

async fn work(state: &Path, checkout: &str) -> Result<(), Box<dyn Error>> {
    let app = App::open_local(state, checkout)?; // The configuration in the state folder, if there is one.
    app.trust(&app.project(None)?)?; // As it is now; a skill that changes is refused.
    let choices = AgentChoices { executor: Some(ExecutorKind::Host), ..AgentChoices::configured() };
    let skills = Arc::new(SkillLibrary::open(&app, &choices.sources).await?);
    let agent = app.agent(&choices, skills, Arc::new(AlwaysOnce))?;
    let message =
        TurnMessage { text: "How many lines has the poem?".into(), ..TurnMessage::default() };
    let request = TurnRequest { message, files: &[] };
    let (session, (_stopper, stop)) = (app.session_key("first")?, stop());
    let (outcome, _) = app.turn(&agent, &session, request, (unwatched(), &stop)).await?;
    print!("{}", outcome.answer()?);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    metier_sandbox::helper(); // First of all: to own its commands, the sandbox starts this program again.
    let state = tempfile::tempdir()?; // A real program has a folder that stays.
    let checkout = concat!(env!("CARGO_MANIFEST_DIR"), "/checkout");
    tokio::runtime::Runtime::new()?.block_on(work(state.path(), checkout))
}
