//! An executor of the program itself: it keeps a list of what ran, and confines commands with a policy of its own.
//!
//! An executor may as well send commands to another machine. Whatever it does, staging, inputs, outputs and the record
//! of a run stay as they are, and approvals are asked for by what it says in `sees_host`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use metier_agent::{Agent, Folders, Library, Offline, Task, stop, unwatched};
use metier_sandbox::{Access, Command, Job, Level, Outcome, Policy, Program};
use metier_session::{MemoryStore, SessionKey};
use metier_workspace::executor::{
    CustomCommand, CustomExecutor, CustomOutcome, CustomRun, CustomWatch, ExecuteError,
};
use metier_workspace::{Confinement, Runner};

/// Where programs find the workspace.
const PLACE: &str = "/job";

/// Runs commands without any network, whatever the settings say, and remembers them.
#[derive(Debug, Default)]
struct Listed {
    ran: Mutex<Vec<String>>,
}

#[async_trait]
impl CustomExecutor for Listed {
    fn name(&self) -> &'static str {
        "listed"
    }

    /// Programs see nothing of this machine but what the policy below grants, so nobody has to be asked.
    fn sees_host(&self) -> bool {
        false
    }

    fn view(&self, _: &Path) -> PathBuf {
        PLACE.into()
    }

    async fn execute(
        &self,
        run: CustomRun,
        mut watch: CustomWatch,
    ) -> Result<CustomOutcome, ExecuteError> {
        // What the record will say: the folders of the run, and no network.
        let confinement = Confinement { network: "none".to_owned(), ..run.confinement() };
        let words = match run.command {
            CustomCommand::Shell(text) => vec!["/bin/sh".to_owned(), "-c".to_owned(), text],
            CustomCommand::Arguments(words) => words,
            // Plans are for executors that see the host.
            _ => return Err(ExecuteError::HostOnly(self.name())),
        };
        if let (Ok(mut ran), Some(last)) = (self.ran.lock(), words.last()) {
            ran.push(last.clone());
        }
        // The folders of the workspace appear at the place that `view` names, and nothing else of this machine but
        // the system's programs.
        let mut policy = Policy::deny_all(Level::Full).with_system();
        let read = run.readable.iter().map(|folder| (folder, Access::Read));
        let write = run.writable.iter().map(|folder| (folder, Access::Write));
        for (folder, access) in read.chain(write) {
            let (source, target) = (run.workspace.join(folder), Path::new(PLACE).join(folder));
            policy = policy.grant(&source, &target, access);
        }
        let environment = run.environment.into_iter();
        let program = Program {
            command: Command::Arguments(words.into_iter().map(Into::into).collect()),
            environment: environment.map(|(name, value)| (name.into(), value.into())).collect(),
            directory: run.directory,
        };
        let job = Job { program, policy, limits: run.limits };
        // The sandbox waits for the program, so it gets a thread of its own. It ends the program when its time is up
        // and when the run is cancelled.
        let running = move || {
            let cancel = watch.cancel();
            metier_sandbox::run(&job, &run.input, &mut watch, &cancel)
        };
        let ran = tokio::task::spawn_blocking(running).await.map_err(std::io::Error::other)?;
        let Outcome { ended, timed_out, cancelled, not_promised, .. } = ran?;
        let not_promised = not_promised.into_iter().map(str::to_owned).collect();
        let confinement = Confinement { not_promised, ..confinement };
        Ok(CustomOutcome { ended, timed_out, cancelled, confinement, warnings: Vec::new() })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    metier_sandbox::helper();
    let state = tempfile::tempdir()?;
    tokio::runtime::Runtime::new()?.block_on(ask(state.path()))
}

async fn ask(state: &Path) -> Result<(), Box<dyn Error>> {
    let skills = Arc::new(Folders::new([concat!(env!("CARGO_MANIFEST_DIR"), "/skills").into()]));
    let model = Arc::new(Offline::new(skills.snapshot()));
    let listed = Arc::new(Listed::default());
    let executor = Arc::clone(&listed).into();
    let runner = Runner { executor, ..Runner::sandboxed(state)? };
    let agent = Agent::new(model, skills, Arc::new(MemoryStore::new()), runner);

    let session = SessionKey::new("examples", "ada", "listed")?;
    let (_stopper, stop) = stop();
    let outcome =
        agent.run(&session, Task::new("Count the words of a text."), unwatched(), &stop).await?;
    print!("{}", outcome.answer()?);
    for command in listed.ran.lock().map_err(|_| "a run panicked")?.iter() {
        println!("ran: {command}");
    }
    Ok(())
}
