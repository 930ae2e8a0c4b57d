//! The one way to run a command of a skill.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use metier_sandbox::{Cancel, Limits, Stream};
use rustix::fs::OFlags;
use thiserror::Error;

use crate::artifact::{About, ArtifactError, ArtifactKey, ArtifactStore, Owner};
use crate::collect::{self, Found, MAX_INLINE, PatternError, Patterns};
use crate::encode::file_name;
use crate::environment::{Surroundings, VariableError, check_called, check_configured};
use crate::executor::{
    ExecuteError, Executed, Execution, Executor, Live, Network, StagedTree, Watch,
};
use crate::input::{BroughtIn, InputError, Intake};
use crate::layout::{Moment, SessionKey, Workspace, Workspaces, changed, give_open_to_program};
use crate::path::{Inside, Meaning, PathError, resolve};
use crate::record::{Record, RecordedFile};
use crate::request::{ArtifactFile, Denial, OutputFile, OutputSpec, RunOutput, RunRequest};
use crate::stage::{StageError, Tree, is_reserved, stage};
use crate::stream::Taken;

/// How often the clock of files is looked at until it has gone on; it does every few milliseconds.
const MAX_TICKS: u32 = 50;
/// Files of a run that named none that are shown.
const MAX_SHOWN_FILES: usize = 20;
/// Most warnings of a run that are listed.
const MAX_WARNINGS: usize = 50;
/// Largest text that can be the primary output, in bytes.
const MAX_PRIMARY: u64 = 32 << 10;

/// What holds for every run.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// Time a run has when it does not say.
    pub default_timeout: Duration,
    /// The longest time it may say.
    pub max_timeout: Duration,
    /// What it may use.
    pub limits: Limits,
    /// What network it has.
    pub network: Network,
    /// Folders of the host from which inputs may be taken.
    pub host_inputs: Vec<PathBuf>,
    /// Variables of the skill from the configuration.
    pub variables: Vec<(String, String)>,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            default_timeout: Duration::from_mins(5),
            max_timeout: Duration::from_hours(1),
            limits: Limits::default(),
            network: Network::None,
            host_inputs: Vec::new(),
            variables: Vec::new(),
        }
    }
}

/// Runs commands.
#[derive(Clone, Debug)]
pub struct Runner {
    /// Where workspaces are.
    pub workspaces: Workspaces,
    /// Where artifacts are kept.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// Who runs commands.
    pub executor: Executor,
}

/// Why a run did not take place.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is no such skill.
    #[error("there is no skill `{0}` in this run")]
    UnknownSkill(String),
    /// The command is empty, or cannot be one.
    #[error("`command`: {0}")]
    Command(&'static str),
    /// The time is not one.
    #[error("`timeout`: {0}")]
    Timeout(String),
    /// The directory is not in the workspace.
    #[error("`cwd`: {0}")]
    Directory(#[source] PathError),
    /// A variable may not be set.
    #[error("`env`: {0}")]
    Variable(#[source] VariableError),
    /// A variable of the configuration may not be set.
    #[error("`skills.entries`: {0}")]
    Configured(#[source] VariableError),
    /// A pattern leaves the workspace, or is none.
    #[error("`outputs`: {0}")]
    Pattern(#[source] PatternError),
    /// An input could not be brought in.
    #[error("`inputs`: {0}")]
    Input(#[source] InputError),
    /// The name of an artifact would be none.
    #[error("`outputs.name_template`: {0}")]
    Artifact(#[source] ArtifactError),
    /// The skill could not be staged.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The command could not be run.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// The workspace cannot be used.
    #[error("the workspace cannot be used: {0}")]
    Workspace(#[source] io::Error),
    /// The owner's ids are none.
    #[error("the session: {0}")]
    Owner(#[source] ArtifactError),
}

/// What has been checked before anything happens.
struct Plan {
    directory: Inside,
    timeout: Duration,
    patterns: Option<Patterns>,
    spec: OutputSpec,
    run: Inside,
    id: String,
}

/// A run to be made.
#[derive(Clone, Debug)]
pub struct RunOrder {
    /// Whose workspace it is made in.
    pub key: SessionKey,
    /// What is asked for.
    pub request: RunRequest,
    /// The skills it may see, the one it is of among them.
    pub trees: Vec<Tree>,
    /// What holds for it.
    pub settings: RunSettings,
}

impl Runner {
    /// Runs a command of a skill in the workspace of a session.
    ///
    /// A command that fails is a result, not an error.
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
        let RunOrder { key, request, trees, settings } = order;
        let Some(tree) = trees.iter().find(|tree| tree.name == request.skill) else {
            return Err(RunError::UnknownSkill(request.skill));
        };
        let owner = Owner::new(&key.app, &key.user, &key.session).map_err(RunError::Owner)?;
        let plan = plan(&request, &settings)?;
        let workspace = self.workspaces.workspace(&key).map_err(RunError::Workspace)?;
        let staged = stage_all(&self.workspaces, &trees)?;
        let mut warnings = hidden_entries(tree);
        let skill_digest = tree.digest.clone();
        let since =
            make_run_folder(&workspace, &plan, &request.skill).map_err(RunError::Workspace)?;
        let running =
            Running { runner: self, workspace, owner, request, skill_digest, plan, settings };
        let brought = running.bring_in(&trees, &staged).await?;
        warnings.extend(brought.warnings);
        running.check_directory().map_err(RunError::Directory)?;
        let (executed, streams) = running.execute(staged, watch).await?;
        let mut collected = running.collect(&executed, since, &brought.files).await?;
        collected.warnings.splice(0..0, warnings);
        Ok(running.finish(&brought.files, executed, &streams, collected))
    }
}

/// Entries of a skill that metier's own names hide.
fn hidden_entries(tree: &Tree) -> Vec<String> {
    let hidden = tree.entries.iter().filter(|entry| is_reserved(&entry.path));
    let say = |path: &str| format!("`{path}` of the skill is hidden: metier uses its name");
    hidden.take(3).map(|entry| say(&entry.path)).collect()
}

/// A run that is under way.
struct Running<'a> {
    runner: &'a Runner,
    workspace: Workspace,
    owner: Owner,
    request: RunRequest,
    skill_digest: String,
    plan: Plan,
    settings: RunSettings,
}

impl Running<'_> {
    async fn bring_in(&self, trees: &[Tree], staged: &[StagedTree]) -> Result<BroughtIn, RunError> {
        let names = trees.iter().map(|tree| tree.name.clone());
        let staged: Vec<(String, PathBuf)> =
            names.zip(staged.iter().map(|staged| staged.content.clone())).collect();
        let intake = Intake {
            workspace: &self.workspace,
            artifacts: &*self.runner.artifacts,
            owner: &self.owner,
            staged: &staged,
            host_inputs: &self.settings.host_inputs,
            sees_host: self.runner.executor.sees_host(),
            run: &self.plan.run,
        };
        intake.bring_in(&self.request.inputs).await.map_err(RunError::Input)
    }

    /// Whether the directory is what it seems; in a skill, only its own links can be on the way.
    fn check_directory(&self) -> Result<(), PathError> {
        let directory = &self.plan.directory;
        if directory.top() == "skills" {
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
        let streams = Streams::open(&self.workspace, plan).map_err(RunError::Workspace)?;
        let streams = Arc::new(Mutex::new(streams));
        let taking = Arc::clone(&streams);
        let Watch { cancel, output: mut live, dialogue } = watch;
        let output = move |stream: Stream, bytes: &[u8]| {
            taking.lock().unwrap_or_else(PoisonError::into_inner).take(stream, bytes);
            live(stream, bytes);
        };
        let surroundings = Surroundings {
            skill: request.skill.clone(),
            run: plan.run.clone(),
            configured: settings.variables.clone(),
            called: request.env.clone(),
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
            directory: plan.directory.clone(),
            surroundings,
            input: request.stdin.clone().unwrap_or_default().into_bytes(),
            limits,
            network: settings.network.clone(),
        };
        let watch = Watch { cancel, output: Box::new(output), dialogue };
        let executed = self.runner.executor.clone().execute(execution, watch).await?;
        let streams = std::mem::take(&mut *streams.lock().unwrap_or_else(PoisonError::into_inner));
        Ok((executed, streams))
    }

    async fn collect(
        &self,
        executed: &Executed,
        since: Moment,
        inputs: &[RecordedFile],
    ) -> Result<Collected, RunError> {
        let plan = &self.plan;
        let failed = executed.ended.code != Some(0);
        let asked = plan.patterns.is_some();
        let everything = ["out/**".to_owned()];
        let default = Patterns::parse(&everything, &plan.run).map_err(RunError::Pattern)?;
        let patterns = plan.patterns.as_ref().unwrap_or(&default);
        let looked = tracing::info_span!("workspace.collect")
            .in_scope(|| collect::look(&self.workspace, patterns))
            .map_err(RunError::Workspace)?;
        let mut collected = Collected { warnings: looked.warnings, ..Collected::default() };
        let limit = if asked { plan.spec.max_files } else { MAX_SHOWN_FILES };
        let (mut total, mut left_out) = (0, 0);
        for place in &looked.places {
            let Ok(mut found) = collect::open(&self.workspace, place, since) else {
                collected.warnings.push(format!("`{place}` went away before it was collected"));
                continue;
            };
            found.is_new = found.is_new && !is_untouched(&found, inputs);
            if !asked && !found.is_new {
                continue;
            }
            if failed && found.size == 0 {
                collected.warnings.push(format!("`{place}` is empty and was left out"));
                continue;
            }
            let fits = found.size <= plan.spec.max_total_bytes.saturating_sub(total);
            if collected.files.len() >= limit || !fits {
                left_out += 1;
                continue;
            }
            total += found.size;
            self.take(&found, &mut collected).await?;
        }
        if left_out > 0 {
            collected.warnings.push(format!("{left_out} more files were left out by the limits"));
        }
        Ok(collected)
    }

    /// Describes a file, keeps it if that was asked, and remembers it for the record.
    async fn take(&self, found: &Found, collected: &mut Collected) -> Result<(), RunError> {
        let spec = &self.plan.spec;
        let wants_text = spec.inline && !self.request.omit_inline_content;
        let inline = wants_text.then_some(spec.max_file_bytes.min(MAX_INLINE));
        let described = tracing::info_span!("workspace.inline")
            .in_scope(|| found.describe(inline))
            .map_err(RunError::Workspace)?;
        collected.records.push(found.record(None).map_err(RunError::Workspace)?);
        if collected.primary.is_none() {
            collected.primary = self.primary(found).map_err(RunError::Workspace)?;
        }
        if spec.save {
            match self.keep(found, &described).await {
                Ok(kept) => collected.artifacts.push(kept),
                Err(why) => {
                    collected.warnings.push(format!("`{}` was not kept: {why}", found.place));
                }
            }
        }
        collected.files.push(described);
        Ok(())
    }

    /// The file as the primary output, if it can be that: a small text that this run wrote.
    fn primary(&self, found: &Found) -> io::Result<Option<OutputFile>> {
        if !found.is_new || found.size == 0 || found.size > MAX_PRIMARY {
            return Ok(None);
        }
        let mut primary = found.describe(Some(MAX_PRIMARY))?;
        let says_something = primary.content.as_ref().is_some_and(|it| !it.trim().is_empty());
        primary.content = primary.content.filter(|_| !self.request.omit_inline_content);
        Ok(says_something.then_some(primary))
    }

    /// Keeps a file as an artifact: all of it, or nothing.
    async fn keep(&self, found: &Found, described: &OutputFile) -> Result<ArtifactFile, String> {
        let spec = &self.plan.spec;
        if found.size > spec.max_file_bytes {
            return Err(format!("it has {} bytes, more than `max_file_bytes`", found.size));
        }
        let say = |error: ArtifactError| error.to_string();
        let name = format!("{}{}", spec.name_template, found.place);
        let key = ArtifactKey::new(&self.owner, &name).map_err(say)?;
        let file = found.rewound().and_then(File::try_clone).map_err(|error| error.to_string())?;
        let mut content = tokio::fs::File::from_std(file);
        let about = About::new(&described.mime_type).map_err(say)?;
        let saved = self.runner.artifacts.save(&key, &mut content, &about).await.map_err(say)?;
        let reference = format!("artifact://{name}@{}", saved.version);
        Ok(ArtifactFile { name, version: saved.version, reference })
    }

    /// Puts the answer together and writes the record.
    fn finish(
        &self,
        inputs: &[RecordedFile],
        executed: Executed,
        streams: &Streams,
        mut collected: Collected,
    ) -> RunOutput {
        let id = &self.plan.id;
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
            warnings: collected.warnings,
            denials,
            confinement: executed.confinement,
        };
        let record = Record {
            skill: &self.request.skill,
            skill_digest: &self.skill_digest,
            command: &self.request.command,
            arguments: &executed.arguments,
            directory: &executed.directory,
            inputs,
            outputs: &collected.records,
            started: started(answer.duration_ms),
            answer: &answer,
        };
        let noted = self.workspace.note_end();
        if let Err(error) =
            noted.and_then(|()| record.write(&self.workspace.root().join("runs").join(id)))
        {
            answer.warnings.push(format!("the record of the run could not be written: {error}"));
        }
        answer
    }
}

/// Checks everything that can be checked before anything happens.
fn plan(request: &RunRequest, settings: &RunSettings) -> Result<Plan, RunError> {
    if request.command.trim().is_empty() {
        return Err(RunError::Command("it is empty"));
    }
    if request.command.contains('\0') {
        return Err(RunError::Command("it has a zero byte"));
    }
    check_configured(&settings.variables).map_err(RunError::Configured)?;
    check_called(&request.env, &settings.variables).map_err(RunError::Variable)?;
    let timeout = match request.timeout {
        None => settings.default_timeout,
        Some(seconds) => Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|timeout| !timeout.is_zero())
            .ok_or_else(|| RunError::Timeout(format!("{seconds} is not a number of seconds")))?,
    };
    if timeout > settings.max_timeout {
        let most = settings.max_timeout.as_secs();
        return Err(RunError::Timeout(format!(
            "at most {most} seconds are allowed (`exec.max_timeout`)"
        )));
    }
    let id = uuid::Uuid::now_v7().simple().to_string();
    let run = Inside::known(format!("runs/{id}/files"));
    let base = Inside::known(format!("skills/{}", file_name(&request.skill)));
    let meaning = Meaning { base: &base, run: &run };
    let directory = resolve(request.cwd.as_deref().unwrap_or_default(), meaning)
        .map_err(RunError::Directory)?;
    let spec = output_spec(request);
    let patterns = if spec.globs.is_empty() {
        None
    } else {
        Some(Patterns::parse(&spec.globs, &run).map_err(RunError::Pattern)?)
    };
    Ok(Plan { directory, timeout, patterns, spec, run, id })
}

/// What to collect, whichever way it was said.
fn output_spec(request: &RunRequest) -> OutputSpec {
    let mut spec = request.outputs.clone().unwrap_or_default();
    if request.outputs.is_none() {
        spec.inline = true;
        spec.save = request.save_as_artifacts;
        spec.name_template = request.artifact_prefix.clone().unwrap_or_default();
    }
    spec.globs.extend(request.output_files.iter().cloned());
    spec
}

fn stage_all(workspaces: &Workspaces, trees: &[Tree]) -> Result<Vec<StagedTree>, StageError> {
    let staged = trees.iter().map(|tree| {
        Ok(StagedTree {
            folder: file_name(&tree.name),
            digest: tree.digest.clone(),
            content: stage(workspaces, tree)?,
        })
    });
    staged.collect()
}

/// Makes the folders of a run; gives the moment before it.
fn make_run_folder(workspace: &Workspace, plan: &Plan, skill: &str) -> io::Result<Moment> {
    let venv = format!(".venvs/{}", file_name(skill));
    let folders = ["work", "out", ".venvs", "work/inputs", "work/.home", &venv].map(Inside::known);
    workspace.mend(&folders)?;
    for folder in folders.into_iter().chain([plan.run.join("tmp")]) {
        workspace.make_folder(&folder)?;
    }
    let folder = workspace.root().join("runs").join(&plan.id);
    give_open_to_program(File::open(folder.join("files"))?)?;
    let folder = File::open(folder)?;
    let last = workspace.last_end()?;
    for _ in 0..MAX_TICKS {
        let since = changed(&folder.metadata()?);
        if last.is_none_or(|last| last < since) {
            return Ok(since);
        }
        // The clock of files has not gone on since the last run.
        thread::sleep(Duration::from_millis(1));
        folder.set_modified(SystemTime::now())?;
    }
    Ok(changed(&folder.metadata()?))
}

/// Both streams of a run.
#[derive(Debug)]
struct Streams {
    output: Taken,
    error: Taken,
}

impl Default for Streams {
    fn default() -> Self {
        Self { output: Taken::to(None), error: Taken::to(None) }
    }
}

impl Streams {
    fn open(workspace: &Workspace, plan: &Plan) -> io::Result<Self> {
        let folder = workspace.root().join("runs").join(&plan.id);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let file = |name: &str| File::create(folder.join(name)).map(Some);
        Ok(Self { output: Taken::to(file("stdout")?), error: Taken::to(file("stderr")?) })
    }

    fn warnings(&self) -> Vec<String> {
        let both = [(&self.output, "stdout"), (&self.error, "stderr")];
        let lost = both.into_iter().filter(|(taken, _)| taken.is_cut() && !taken.is_on_disk());
        lost.map(|(taken, name)| {
            format!("{name} had {} bytes, of which not all were kept", taken.total())
        })
        .collect()
    }

    fn take(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Output => self.output.take(bytes),
            Stream::Error => self.error.take(bytes),
        }
    }
}

/// What was collected.
#[derive(Debug, Default)]
struct Collected {
    files: Vec<OutputFile>,
    primary: Option<OutputFile>,
    artifacts: Vec<ArtifactFile>,
    records: Vec<RecordedFile>,
    warnings: Vec<String>,
}

/// Whether a file is an input as it came in.
fn is_untouched(found: &Found, inputs: &[RecordedFile]) -> bool {
    let name = found.place.to_string();
    let input = inputs.iter().rfind(|input| input.name == name);
    let same = |it: &RecordedFile| found.record(None).is_ok_and(|now| now.digest == it.digest);
    input.is_some_and(same)
}

/// Leaves out what nobody would read.
fn bound(warnings: &mut Vec<String>) {
    let more = warnings.len().saturating_sub(MAX_WARNINGS);
    if more > 0 {
        warnings.truncate(MAX_WARNINGS);
        warnings.push(format!("and {more} more warnings"));
    }
}

/// What was refused: limits that were met, calls, addresses.
fn denials(executed: &Executed) -> Vec<Denial> {
    let limits =
        executed.ended.limits.iter().map(|it| Denial { kind: "limit", what: it.to_string() });
    let calls = executed.ended.refused.iter();
    let calls = calls.map(|name| Denial { kind: "system_call", what: (*name).to_owned() });
    let addresses = executed.refused_addresses.iter();
    let addresses = addresses.map(|it| Denial { kind: "network", what: it.target.clone() });
    limits.chain(calls).chain(addresses).collect()
}

/// When a run began that has just ended, in seconds since 1970.
fn started(duration_ms: u64) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let started = now.saturating_sub(Duration::from_millis(duration_ms));
    format!("{}.{:03}", started.as_secs(), started.subsec_millis())
}
