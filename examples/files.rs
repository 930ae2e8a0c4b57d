//! A file in and a file out: a text comes with the task, a skill counts its words, and what that wrote is kept.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use metier_agent::session_identity::artifact_owner;
use metier_agent::{Agent, Folders, Task, stop, unwatched};
use metier_model::Scripted;
use metier_session::{MemoryStore, SessionKey};
use metier_workspace::Runner;
use metier_workspace::artifact::ArtifactKey;
use tokio::io::AsyncReadExt;

/// What the model replies. A real one finds out by itself: it is told where the file is, and that results go to `out/`.
const REPLIES: &str = r#"
{"calls": [{"name": "skill_load", "arguments": {"skill": "word-count"}}]}
{"calls": [{"name": "skill_run", "arguments": {"skill": "word-count", "command": "sh scripts/count.sh $WORK_DIR/inputs/letter.txt > $OUTPUT_DIR/count.txt", "outputs": {"globs": ["out/*.txt"], "save": true}}}]}
{"text": "I counted the words of letter.txt; out/count.txt has the result."}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    metier_sandbox::helper();
    let state = tempfile::tempdir()?;
    tokio::runtime::Runtime::new()?.block_on(ask(state.path()))
}

async fn ask(state: &Path) -> Result<(), Box<dyn Error>> {
    let skills = Arc::new(Folders::new([concat!(env!("CARGO_MANIFEST_DIR"), "/skills").into()]));
    let model = Arc::new(Scripted::from_text(REPLIES)?);
    let sessions = Arc::new(MemoryStore::new());
    let agent = Agent::new(model, skills, sessions, Runner::sandboxed(state)?);
    let session = SessionKey::new("examples", "ada", "letters")?;

    // In: the bytes may come from anywhere, and go to the workspace of the session.
    let letter = agent.attach(&session, "letter.txt", b"Dear Bob,\nall is well.\n".into()).await?;
    let task = Task { attachments: vec![letter], ..Task::new("Count the words of my letter.") };
    let (_stopper, stop) = stop();
    let outcome = agent.run(&session, task, unwatched(), &stop).await?;
    println!("{}", outcome.answer()?);

    // Out: what the command was asked to keep is an artifact of the session, in versions.
    let artifacts = &agent.runner.artifacts;
    let owner = artifact_owner(&session)?;
    for kept in artifacts.list(&owner.session_scope()).await? {
        let key = ArtifactKey::new(&owner, &kept.name)?;
        let mut text = String::new();
        artifacts.load(&key, None).await?.content.read_to_string(&mut text).await?;
        print!("{}, version {}:\n{text}", kept.name, kept.newest.version);
    }
    Ok(())
}
