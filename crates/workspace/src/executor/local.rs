//! The executors on this machine: the sandbox, and the host itself.

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use metier_sandbox::{
    Access, Command, Conversation, Job, Level, Network as Reach, Observer, Outcome, PROXY_PORT,
    Policy, Program, SpawnError, Stream, converse, run, unprivileged_owner,
};
use tokio::runtime::Handle;

use super::{ExecuteError, Executed, Execution, Firmness, Network, StagedTree, VIEW, Watch};
use crate::copies::place_copies;
use crate::layout::{WRITABLE, home, venv};
use crate::manner::Manner;
use crate::order::InstalledTools;
use crate::proxy::{Proxy, ProxyOptions, Refusal};
use crate::request::Confinement;
use crate::way;

/// Runs commands on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalExecutor {
    /// Confined by the kernel.
    Sandbox(Firmness),
    /// Not confined.
    Host,
}

impl LocalExecutor {
    /// Runs a command as firmly as it can.
    pub(crate) fn execute(
        self,
        execution: &Execution,
        watch: &mut Watch,
    ) -> Result<Executed, ExecuteError> {
        let firmness = match self {
            Self::Host => return execute_at(Level::None, "host", execution, watch),
            Self::Sandbox(firmness) => firmness,
        };
        let missing = match execute_at(Level::Full, "sandbox", execution, watch) {
            Err(ExecuteError::Spawn(missing @ SpawnError::Unavailable(_))) => missing,
            result => return result,
        };
        if firmness == Firmness::Full {
            return Err(ExecuteError::Required { missing });
        }
        let missing = match execute_at(Level::Landlock, "sandbox", execution, watch) {
            Err(ExecuteError::Spawn(missing @ SpawnError::Unavailable(_))) => missing,
            result => return result,
        };
        if firmness != Firmness::Anything {
            return Err(ExecuteError::NoSandbox { missing });
        }
        execute_at(Level::None, "sandbox", execution, watch)
    }
}

fn execute_at(
    level: Level,
    executor: &'static str,
    execution: &Execution,
    watch: &mut Watch,
) -> Result<Executed, ExecuteError> {
    let reach = match (&execution.network, level) {
        (Network::None, _) => Reach::None,
        (Network::Host, _) => Reach::Host,
        (Network::Listed(..), Level::Full) => Reach::Proxy,
        (Network::Listed(..), _) => return Err(ExecuteError::NoProxy),
    };
    let root = execution.workspace.root();
    let view = if level == Level::Full { PathBuf::from(VIEW) } else { root.to_owned() };
    let mut restored = Vec::new();
    if level != Level::Full {
        restored = place_copies(&execution.workspace, &execution.staged)?;
    }
    if level == Level::Landlock
        && let Some(folder) = way::open(&execution.workspace)?
    {
        return Err(ExecuteError::Barred { folder });
    }
    let policy = policy(level, execution, &view).network(reach);
    let (command, arguments) = command(execution)?;
    let inside = || execution.directory.under(&view);
    let directory = execution.outside.clone().unwrap_or_else(inside);
    let proxy = (reach == Reach::Proxy).then(|| format!("http://127.0.0.1:{PROXY_PORT}"));
    let environment = execution.surroundings.variables(&view, proxy.as_deref());
    let program = Program {
        command,
        environment: environment
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        directory: directory.clone(),
    };
    let confinement = confinement(executor, level, &policy, &execution.network);
    let job = Job { program, policy, limits: execution.limits };
    let cancel = watch.cancel.clone();
    let dialogue = watch.dialogue.as_ref().map(|it| (it.console.clone(), it.terminal));
    let mut attendant = Attendant::new(watch, &execution.network);
    let outcome = match &dialogue {
        None => run(&job, &execution.input, &mut attendant, &cancel)?,
        Some((console, terminal)) => {
            let conversation = Conversation { console, terminal: *terminal };
            converse(&job, conversation, &mut attendant, &cancel)?
        }
    };
    let refused_addresses = attendant.stop_proxy();
    let Outcome { ended, timed_out, cancelled, duration, not_promised } = outcome;
    Ok(Executed {
        ended,
        timed_out,
        cancelled,
        duration,
        arguments,
        directory: directory.display().to_string(),
        confinement: Confinement {
            not_promised: not_promised.into_iter().map(str::to_owned).collect(),
            ..confinement
        },
        refused_addresses,
        warnings: restored.into_iter().chain(attendant.warnings).collect(),
    })
}

/// Is there while a program runs.
struct Attendant<'a> {
    watch: &'a mut Watch,
    network: &'a Network,
    proxy: Option<Proxy>,
    warnings: Vec<String>,
}

impl Observer for Attendant<'_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        (self.watch.output)(stream, bytes);
    }

    fn started(&mut self) {
        if let Some(dialogue) = &mut self.watch.dialogue {
            (dialogue.started)();
        }
    }

    fn proxy(&mut self, listener: TcpListener) {
        if let Network::Listed(allowed) = self.network {
            match Proxy::start(listener, allowed.clone(), ProxyOptions::STANDARD) {
                Ok(proxy) => self.proxy = Some(proxy),
                // The program runs already, and without a proxy it reaches nothing.
                Err(error) => self.warnings.push(format!(
                    "no address could be reached: the proxy for the allowed addresses did not start: {error}"
                )),
            }
        }
    }
}

impl<'a> Attendant<'a> {
    fn new(watch: &'a mut Watch, network: &'a Network) -> Self {
        Self { watch, network, proxy: None, warnings: Vec::new() }
    }

    fn stop_proxy(&mut self) -> Vec<Refusal> {
        let proxy = self.proxy.take();
        proxy.map(|proxy| Handle::current().block_on(proxy.stop())).unwrap_or_default()
    }
}

/// What is run, and its arguments if it is one program.
fn command(execution: &Execution) -> Result<(Command, Vec<String>), ExecuteError> {
    let arguments = match &execution.manner {
        Manner::Plan(walk) => return Ok((Command::Plan(walk.clone()), Vec::new())),
        Manner::Arguments(arguments) => arguments.clone(),
        Manner::Shell => {
            let shell = shell().ok_or(ExecuteError::NoShell)?;
            vec![shell.to_owned(), "-c".to_owned(), execution.command.clone()]
        }
    };
    let words = arguments.iter().map(OsString::from).collect();
    Ok((Command::Arguments(words), arguments))
}

/// The shell that runs commands.
fn shell() -> Option<&'static str> {
    let shells = ["/bin/bash", "/usr/bin/bash", "/bin/sh", "/usr/bin/sh"];
    shells.into_iter().find(|shell| Path::new(shell).exists())
}

/// What a run may reach.
fn policy(level: Level, execution: &Execution, view: &Path) -> Policy {
    let root = execution.workspace.root();
    let mut policy = Policy::deny_all(level).with_system();
    for StagedTree { folder, content, .. } in &execution.staged {
        let inside = Path::new("skills").join(folder);
        let source = if level == Level::Full { content.clone() } else { root.join(&inside) };
        policy = policy.grant(&source, &view.join(inside), Access::Read);
    }
    let run = execution.surroundings.run.as_str();
    let skill = &execution.surroundings.skill;
    let (home, venv) = (home(skill), venv(skill));
    for folder in WRITABLE.into_iter().chain([run, home.as_str(), venv.as_str()]) {
        policy = policy.grant(&root.join(folder), &view.join(folder), Access::Write);
    }
    // As somebody else, and without mounts, a program could not come there.
    if level == Level::Full || unprivileged_owner().is_none() {
        for InstalledTools { folder, .. } in &execution.surroundings.tools {
            policy = policy.grant(folder, folder, Access::Read);
        }
    }
    policy
}

fn confinement(
    executor: &'static str,
    level: Level,
    policy: &Policy,
    network: &Network,
) -> Confinement {
    let shown = |access| policy.reachable(access).map(|path| path.display().to_string()).collect();
    Confinement {
        executor: executor.to_owned(),
        level: (executor == "sandbox").then_some(level),
        readable: shown(Access::Read),
        writable: shown(Access::Write),
        network: match network {
            Network::None if level == Level::None => Network::Host.to_string(),
            network => network.to_string(),
        },
        not_promised: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use metier_sandbox::Cancel;

    use super::*;

    #[tokio::test]
    async fn a_proxy_that_does_not_start_is_told_with_the_reason() {
        let entries = vec!["localhost:80".to_owned()];
        let network = Network::listed(&entries).unwrap();
        let output = Box::new(|_, _: &[u8]| {});
        let mut watch = Watch { cancel: Cancel::new().unwrap(), output, dialogue: None };
        let mut attendant = Attendant::new(&mut watch, &network);
        // Nobody can wait for a file as for a socket.
        let no_socket = OwnedFd::from(tempfile::tempfile().unwrap());
        attendant.proxy(TcpListener::from(no_socket));
        assert!(attendant.proxy.is_none());
        insta::assert_snapshot!(attendant.warnings.join("\n"), @"no address could be reached: the proxy for the allowed addresses did not start: Operation not permitted (os error 1)");
    }
}
