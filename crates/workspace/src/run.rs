//! The one way to run a command of a skill.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use metier_sandbox::{Cancel, Limits, Stream};
use metier_secrets::Redactor;
use rustix::fs::OFlags;
use thiserror::Error;
use tokio::task::spawn_blocking;
use tracing::field::Empty;

use crate::artifact::{ArtifactError, ArtifactStore, DirectoryStore, Owner};
use crate::attached::bring_attached;
use crate::collect::{Collected, Collector, Ran};
use crate::copies::repair_warning;
use crate::encode::file_name;
use crate::environment::Surroundings;
use crate::executor::{
    Executed, Execution, Executor, Firmness, Live, LocalExecutor, StagedTree, Watch,
};
use crate::input::{BroughtIn, Intake};
use crate::layout::{
    HOMES, INPUTS, Moment, VENVS, WRITABLE, Workspace, Workspaces, changed, give_open_to_program,
    home, make_private, venv,
};
use crate::manner::Manner;
use crate::order::{NO_SKILL, RunError, RunOrder, RunSettings};
use crate::path::{Inside, PathError};
use crate::plan::Plan;
use crate::publish::Publication;
use crate::record::{Record, RecordedFile};
use crate::request::{Denial, DenialKind, RunOutput, RunRequest};
use crate::space::DiskReserve;
use crate::spans;
use crate::stage::{StageError, StagedContent, Tree, TreeEntry, stage_content};
use crate::staged_entries::StagedEntries;
use crate::stream::{MaskedStreams, Streams, advised};

/// How often the clock of files is looked at until it has gone on; it does every few milliseconds.
const MAX_TICKS: u32 = 50;
/// Most warnings of a run that are listed.
const MAX_WARNINGS: usize = 50;

/// What is said of a run that failed and had a workspace of its own.
const UNSEEN: &str = "the configuration gives this skill variables or network access of its own, so the run saw of `work/` and `out/` only what the skill itself wrote there; name other files in `inputs`";

/// Runs commands.
#[derive(Clone, Debug)]
pub struct Runner {
    /// Where workspaces are.
    pub workspaces: Workspaces,
    /// Where artifacts are kept.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// Who runs commands.
    pub executor: Executor,
    /// Masks the values of all configured keys in whatever comes back of a run: what it writes, names and texts of
    /// its files, and the record. The files themselves are left as they are.
    pub redactor: Redactor,
}

/// Why the folder of a runner cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The folders of workspaces cannot be made.
    #[error("the folder of workspaces cannot be made: {0}")]
    Workspaces(#[source] io::Error),
    /// The folder of artifacts cannot be opened.
    #[error(transparent)]
    Artifacts(#[from] ArtifactError),
}

impl Runner {
    /// A runner that confines commands with the kernel and keeps everything below one folder: `workspaces`,
    /// `content` and `artifacts`. Where the kernel does not let it confine them, nothing runs.
    ///
    /// The program has to call `metier_sandbox::helper` before anything else in `main`. This makes folders, and returns when
    /// they are on the disk.
    ///
    /// # Errors
    ///
    /// When a folder cannot be made or opened.
    pub fn sandboxed(folder: &Path) -> Result<Self, OpenError> {
        let (workspaces, content) = (folder.join("workspaces"), folder.join("content"));
        let firmness = Firmness::Confined;
        Ok(Self {
            workspaces: Workspaces::open(&workspaces, &content).map_err(OpenError::Workspaces)?,
            artifacts: Arc::new(DirectoryStore::open(&folder.join("artifacts"))?),
            executor: LocalExecutor::Sandbox(firmness).into(),
            redactor: Redactor::default(),
        })
    }

    /// The same for commands that no person wrote, as [`Executor::never_degraded`] says.
    #[must_use]
    pub fn never_degraded(&self) -> Self {
        Self { executor: self.executor.clone().never_degraded(), ..self.clone() }
    }

    /// Runs a command of a skill in the workspace of a session, and gives what it wrote and made.
    ///
    /// A command that fails, is cancelled or runs out of time is a result, not an error. `live` is told what it writes
    /// while it does; the result has the beginning and the end, and files of the run have all of it. When the future is
    /// dropped the command goes on to its end or its limit: whoever wants it to end uses `cancel`. The page of
    /// [the crate](crate) has an example.
    ///
    /// # Errors
    ///
    /// When something in the request is wrong, or the command cannot be started. It has not run then.
    pub async fn run(
        &self,
        order: RunOrder,
        live: Live,
        cancel: Cancel,
    ) -> Result<RunOutput, RunError> {
        self.see_through(order, Watch { cancel, output: live, dialogue: None }).await
    }

    /// Prepares a run, has it executed and collects what it made; whoever watches it, and whether
    /// or not it is talked to.
    pub(crate) async fn see_through(
        &self,
        order: RunOrder,
        watch: Watch,
    ) -> Result<RunOutput, RunError> {
        let RunOrder { key, request, trees, settings, manner, identity, outside } = order;
        manner.check(outside.as_deref(), &self.executor)?;
        let tree = trees.iter().find(|tree| tree.name == request.skill);
        // A tree of that name would take the home of commands of no skill.
        if tree.is_some() == (request.skill == NO_SKILL) {
            return Err(RunError::UnknownSkill(request.skill));
        }
        let owner = Owner::of(&key).map_err(RunError::Owner)?;
        let settings = settings.granted(&self.executor)?;
        // Reading patterns may take a moment, in which nobody else must wait.
        let planning = move || {
            let plan = Plan::new(&request, &settings)?;
            Ok::<_, RunError>((request, settings, plan))
        };
        let planned = spawn_blocking(planning).await.map_err(io::Error::other);
        let (request, settings, plan) = planned.map_err(RunError::Workspace)??;
        let shared = self.workspaces.workspace(&key).map_err(RunError::Workspace)?;
        let _held = shared.hold_folders(&request.skill, identity.as_deref())?;
        let workspace = settings.workspace_of(&shared, &request.skill)?;
        let staged = stage_all(&self.workspaces, &trees)?;
        let mut warnings = tree.map(hidden_entries).unwrap_or_default();
        warnings.extend(staged.iter().filter_map(|it| it.warning.clone()));
        let digest_of = |tree: &Tree| (tree.name.clone(), tree.digest.clone());
        let digests = trees.iter().map(digest_of).collect();
        let since =
            make_run_folder(&workspace, &plan, &request.skill).map_err(RunError::Workspace)?;
        // Also where the run has a workspace of its own: there is its record.
        make_private(&shared.root().join("runs").join(&plan.id)).map_err(RunError::Workspace)?;
        let running = Running {
            runner: self,
            shared,
            workspace,
            owner,
            request,
            digests,
            plan,
            settings,
            manner,
            outside,
        };
        let brought = running.bring_in(&trees, &staged).await?;
        warnings.extend(brought.warnings);
        running.check_directory().map_err(RunError::Directory)?;
        let (executed, streams) = running.execute(staged, watch).await?;
        let span = tracing::info_span!("workspace.collect", otel.status_code = Empty);
        let collecting = running.collect(&executed, since, &brought.files);
        let mut collected = spans::step(span, collecting).await?;
        collected.warnings.splice(0..0, warnings);
        running.publish(&executed, &brought.files, &mut collected).await;
        Ok(running.finish(&brought.files, executed, &streams, collected))
    }
}

/// Returns warnings of entries of a skill that metier's own names hide.
fn hidden_entries(tree: &Tree) -> Vec<String> {
    let StagedEntries { reserved, diverted, .. } = StagedEntries::of(tree);
    let say = |why: &'static str| {
        move |entry: &TreeEntry| format!("`{}` of the skill is hidden: {why}", entry.path)
    };
    let reserved = reserved.into_iter().take(3).map(say("metier uses its name"));
    let diverted = diverted.into_iter().take(3);
    reserved.chain(diverted.map(say("it is a link through a name that metier uses"))).collect()
}

/// A run that is under way.
struct Running<'a> {
    runner: &'a Runner,
    /// The workspace of the session, which has the record.
    shared: Workspace,
    /// Where the run takes place, which may be a workspace of the skill's own.
    workspace: Workspace,
    owner: Owner,
    request: RunRequest,
    /// The digests of all skills that the run sees, by name.
    digests: BTreeMap<String, String>,
    plan: Plan,
    settings: RunSettings,
    manner: Manner,
    outside: Option<PathBuf>,
}

impl Running<'_> {
    async fn bring_in(&self, trees: &[Tree], staged: &[StagedTree]) -> Result<BroughtIn, RunError> {
        let names = trees.iter().map(|tree| tree.name.clone());
        let staged: Vec<(String, PathBuf)> =
            names.zip(staged.iter().map(|staged| staged.content.clone())).collect();
        let intake = Intake {
            workspace: &self.workspace,
            shared: &self.shared,
            artifacts: &*self.runner.artifacts,
            owner: &self.owner,
            staged: &staged,
            host_inputs: &self.settings.host_inputs,
            sees_host: self.runner.executor.sees_host(),
            run: &self.plan.run,
            most_bytes: self.settings.limits.disk_bytes,
            reserve: self.reserve(),
        };
        let span = tracing::info_span!("workspace.stage.inputs", otel.status_code = Empty);
        let bringing = async {
            let attached = self.bring_attached().map_err(RunError::Workspace)?;
            let named = intake.bring_in(&self.request.inputs).await.map_err(RunError::Input)?;
            Ok(attached.and(named))
        };
        spans::step(span, bringing).await
    }

    /// Returns what must stay free of the disk when files are copied for the run.
    fn reserve(&self) -> DiskReserve {
        DiskReserve::new(self.settings.limits.disk_left)
    }

    /// Brings attached files into a workspace of the skill's own; the shared one has them.
    fn bring_attached(&self) -> io::Result<BroughtIn> {
        if self.settings.has_keys() {
            bring_attached(&self.shared, &self.workspace)
        } else {
            Ok(BroughtIn::default())
        }
    }

    /// Whether the directory is what it seems; in a skill, only its own links can be on the way.
    fn check_directory(&self) -> Result<(), PathError> {
        let directory = &self.plan.directory;
        if directory.top() == "skills" || self.outside.is_some() {
            return Ok(());
        }
        match self.workspace.open(directory, OFlags::PATH | OFlags::DIRECTORY) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(PathError::NoFolder(directory.to_string()))
            }
            Err(_) => Err(PathError::Link(directory.to_string())),
        }
    }

    async fn execute(
        &self,
        staged: Vec<StagedTree>,
        watch: Watch,
    ) -> Result<(Executed, Streams), RunError> {
        let (plan, request, settings) = (&self.plan, &self.request, &self.settings);
        let folder = self.shared.root().join("runs").join(&plan.id);
        let streams = Streams::in_folder(&folder).map_err(RunError::Workspace)?;
        let Watch { cancel, output: live, dialogue } = watch;
        let streams = MaskedStreams::new(&self.runner.redactor, streams, live);
        let streams = Arc::new(Mutex::new(streams));
        let taking = Arc::clone(&streams);
        let output = move |stream: Stream, bytes: &[u8]| {
            taking.lock().unwrap_or_else(PoisonError::into_inner).take(stream, bytes);
        };
        let surroundings = Surroundings {
            skill: request.skill.clone(),
            run: plan.run.clone(),
            configured: settings.variables.clone(),
            called: request.env.clone(),
            tools: settings.tools.clone(),
            has_terminal: dialogue.as_ref().is_some_and(|it| it.terminal.is_some()),
        };
        let limits = Limits {
            wall: plan.timeout,
            cpu_seconds: settings.limits.cpu_seconds.max(plan.timeout.as_secs() + 1),
            ..settings.limits
        };
        let execution = Execution {
            workspace: self.workspace.clone(),
            staged,
            command: request.command.clone(),
            manner: self.manner.clone(),
            outside: self.outside.clone(),
            directory: plan.directory.clone(),
            surroundings,
            input: request.stdin.clone().unwrap_or_default().into_bytes(),
            limits,
            network: settings.network.clone(),
        };
        let watch = Watch { cancel, output: Box::new(output), dialogue };
        let executed = self.runner.executor.clone().execute(execution, watch).await;
        let streams = streams.lock().unwrap_or_else(PoisonError::into_inner).end();
        Ok((executed?, streams))
    }

    async fn collect(
        &self,
        executed: &Executed,
        since: Moment,
        inputs: &[RecordedFile],
    ) -> Result<Collected, RunError> {
        let collector = Collector {
            workspace: &self.workspace,
            artifacts: &*self.runner.artifacts,
            owner: &self.owner,
            patterns: &self.plan.patterns,
            spec: &self.plan.spec,
            omit_content: self.request.omit_inline_content,
            reserve: self.reserve(),
        };
        let ran = Ran { failed: executed.ended.code != Some(0), since, inputs };
        collector.collect(ran).await.map_err(RunError::Workspace)
    }

    /// Shares what a run made in a workspace of its own, and tells whoever reads a failure what the run
    /// did not see.
    async fn publish(
        &self,
        executed: &Executed,
        inputs: &[RecordedFile],
        collected: &mut Collected,
    ) {
        if !self.settings.has_keys() {
            return;
        }
        if executed.ended.code != Some(0) {
            collected.warnings.push(UNSEEN.to_owned());
        }
        let publication = Publication {
            from: self.workspace.clone(),
            to: self.shared.clone(),
            run: self.plan.run.clone(),
            inputs: inputs.to_vec(),
            most_bytes: self.settings.limits.disk_bytes,
            least_left: self.settings.limits.disk_left,
        };
        let publishing = spawn_blocking(move || publication.publish());
        match publishing.await.map_err(io::Error::other).flatten() {
            Ok(warnings) if warnings.is_empty() => {}
            Ok(warnings) => {
                collected.incomplete = true;
                collected.warnings.extend(warnings);
            }
            Err(error) => {
                collected.incomplete = true;
                let why = advised(&error);
                collected.warnings.push(format!("what the run made could not be shared: {why}"));
            }
        }
    }

    /// Puts the answer together and writes the record.
    fn finish(
        &self,
        inputs: &[RecordedFile],
        executed: Executed,
        streams: &Streams,
        mut collected: Collected,
    ) -> RunOutput {
        let (id, redactor) = (&self.plan.id, &self.runner.redactor);
        collected.warnings.extend(executed.warnings.iter().cloned());
        collected.warnings.extend(streams.warnings());
        bound(&mut collected.warnings);
        let denials = denials(&executed);
        let mut answer = RunOutput {
            run: id.clone(),
            stdout: streams.output.text(),
            stderr: streams.error.text(),
            stdout_ref: streams.output.reference(id, "stdout"),
            stderr_ref: streams.error.reference(id, "stderr"),
            exit_code: executed.ended.code,
            signal: executed.ended.signal,
            timed_out: executed.timed_out,
            cancelled: executed.cancelled,
            duration_ms: u64::try_from(executed.duration.as_millis()).unwrap_or(u64::MAX),
            output_files: collected.files,
            primary_output: collected.primary,
            artifact_files: collected.artifacts,
            incomplete: collected.incomplete || streams.is_incomplete(),
            warnings: collected.warnings,
            denials,
            confinement: executed.confinement,
        };
        answer.redact(redactor);
        let skill = self.digests.get_key_value(&self.request.skill);
        let (skill, skill_digest) = skill.map_or(("", ""), |(name, digest)| (name, digest));
        let record = Record {
            skill,
            skill_digest,
            skills: &self.digests,
            command: &self.request.command,
            arguments: &executed.arguments,
            plan: self.manner.programs(),
            directory: &executed.directory,
            inputs,
            outputs: &collected.records,
            started: started(answer.duration_ms),
            answer: &answer,
        };
        let noted = self.workspace.note_end().and_then(|()| self.shared.note_end());
        if let Err(error) =
            noted.and_then(|()| record.write(&self.shared.root().join("runs").join(id), redactor))
        {
            answer.incomplete = true;
            let why = advised(&error);
            answer.warnings.push(format!("the record of the run could not be written: {why}"));
        }
        answer
    }
}

pub(crate) fn stage_all(
    workspaces: &Workspaces,
    trees: &[Tree],
) -> Result<Vec<StagedTree>, StageError> {
    let staged = trees.iter().map(|tree| {
        let StagedContent { folder: content, manifest, repaired } =
            stage_content(workspaces, tree)?;
        let (folder, digest) = (file_name(&tree.name), tree.digest.clone());
        let warning = repair_warning("staged skill", &folder, &repaired);
        Ok(StagedTree { folder, digest, content, manifest, warning })
    });
    staged.collect()
}

/// Makes the folders of a run; gives the moment before it.
fn make_run_folder(workspace: &Workspace, plan: &Plan, skill: &str) -> io::Result<Moment> {
    let shared = WRITABLE.into_iter().chain([VENVS, HOMES, INPUTS]).map(Inside::known);
    let mut folders: Vec<Inside> = shared.chain([venv(skill), home(skill)]).collect();
    workspace.mend(&folders)?;
    folders.push(plan.run.join("tmp"));
    for folder in folders {
        workspace.make_folder(&folder)?;
    }
    let folder = workspace.root().join("runs").join(&plan.id);
    give_open_to_program(File::open(folder.join("files"))?)?;
    let folder = File::open(folder)?;
    let last = workspace.last_end()?;
    for tick in 0..MAX_TICKS {
        let since = changed(&folder.metadata()?);
        if last.is_none_or(|last| last < since) {
            return Ok(since);
        }
        // The clock of files has not gone on since the last run. A new kernel looks at a finer one for
        // what was asked about before; others need the time.
        if tick > 0 {
            thread::sleep(Duration::from_millis(1));
        }
        folder.set_modified(SystemTime::now())?;
    }
    Ok(changed(&folder.metadata()?))
}

/// Leaves out what nobody would read.
fn bound(warnings: &mut Vec<String>) {
    let more = warnings.len().saturating_sub(MAX_WARNINGS);
    if more > 0 {
        warnings.truncate(MAX_WARNINGS);
        warnings.push(format!("and {more} more warnings"));
    }
}

/// What was refused: limits that were met, calls, addresses, what had changed.
fn denials(executed: &Executed) -> Vec<Denial> {
    let limits = executed
        .ended
        .limits
        .iter()
        .map(|it| Denial { kind: DenialKind::Limit, what: it.to_string() });
    let calls = executed.ended.refused.iter();
    let calls = calls.map(|name| Denial { kind: DenialKind::SystemCall, what: (*name).to_owned() });
    let addresses = executed.refused_addresses.iter();
    let addresses =
        addresses.map(|it| Denial { kind: DenialKind::Network, what: it.target.clone() });
    let changed = executed.ended.changed.iter();
    let changed =
        changed.map(|it| Denial { kind: DenialKind::Changed, what: it.display().to_string() });
    limits.chain(calls).chain(addresses).chain(changed).collect()
}

/// When a run began that has just ended, in seconds since 1970.
fn started(duration_ms: u64) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let started = now.saturating_sub(Duration::from_millis(duration_ms));
    format!("{}.{:03}", started.as_secs(), started.subsec_millis())
}
