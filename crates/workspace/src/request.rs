//! What a run is asked for, and what it answers, as JSON.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use metier_sandbox::Level;
use metier_secrets::Redactor;
use serde::{Deserialize, Serialize};

/// A command of a skill to run.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct RunRequest {
    /// The skill.
    pub skill: String,
    /// The command, as text for a shell.
    pub command: String,
    /// Where to run it: from the skill's folder, or `$WORK_DIR/…` and the like.
    #[serde(default)]
    pub cwd: Option<String>,
    /// More variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What the command reads.
    #[serde(default)]
    pub stdin: Option<String>,
    /// Seconds it may take.
    #[serde(default)]
    pub timeout: Option<f64>,
    /// Files to bring in first.
    #[serde(default)]
    pub inputs: Vec<InputSpec>,
    /// What to collect.
    #[serde(default)]
    pub outputs: Option<OutputSpec>,
    /// More patterns of what to collect: the older way, of which [`Self::outputs`] is the newer. Where that is there,
    /// [`Self::save_as_artifacts`] and [`Self::artifact_prefix`] do not count.
    #[serde(default)]
    pub output_files: Vec<String>,
    /// Whether to keep that as artifacts.
    #[serde(default)]
    pub save_as_artifacts: bool,
    /// Whether to leave contents out.
    #[serde(default)]
    pub omit_inline_content: bool,
    /// What names of artifacts begin with.
    #[serde(default)]
    pub artifact_prefix: Option<String>,
}

impl RunRequest {
    /// The skill, and those whose files are brought in; each once, by name.
    pub fn skills(&self) -> BTreeSet<&str> {
        let named = self.inputs.iter().filter_map(|input| input.from.strip_prefix("skill://"));
        let named = named.filter_map(|path| path.split('/').next());
        named.chain([self.skill.as_str()]).collect()
    }
}

/// Without the values of variables and what the command reads, which may be secret.
impl fmt::Debug for RunRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunRequest")
            .field("skill", &self.skill)
            .field("command", &self.command)
            .field("cwd", &self.cwd)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("timeout", &self.timeout)
            .field("inputs", &self.inputs)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

/// A file to bring in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct InputSpec {
    /// `artifact://name[@version]`, `host:///path`, `workspace://path` or `skill://name/path`.
    #[serde(alias = "From")]
    pub from: String,
    /// Where to put it.
    #[serde(default, alias = "To")]
    pub to: Option<String>,
    /// Whether it is copied or linked.
    #[serde(default, alias = "Mode")]
    pub mode: InputMode,
    /// Whether the first version that was used stays.
    #[serde(default, alias = "Pin")]
    pub pin: bool,
}

/// How an input is brought in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputMode {
    /// As a copy.
    #[default]
    Copy,
    /// As a link, where one can be followed.
    Link,
}

/// What to collect after a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct OutputSpec {
    /// Which files.
    #[serde(alias = "Globs")]
    pub globs: Vec<String>,
    /// Whether to give their text.
    #[serde(alias = "Inline")]
    pub inline: bool,
    /// Whether to keep them as artifacts.
    #[serde(alias = "Save")]
    pub save: bool,
    /// What names of artifacts begin with.
    #[serde(alias = "NameTemplate")]
    pub name_template: String,
    /// Most files.
    #[serde(alias = "MaxFiles")]
    pub max_files: usize,
    /// Largest file.
    #[serde(alias = "MaxFileBytes")]
    pub max_file_bytes: u64,
    /// Most bytes of all files.
    #[serde(alias = "MaxTotalBytes")]
    pub max_total_bytes: u64,
}

impl Default for OutputSpec {
    fn default() -> Self {
        Self {
            globs: Vec::new(),
            inline: false,
            save: false,
            name_template: String::new(),
            max_files: 100,
            max_file_bytes: 4 << 20,
            max_total_bytes: 64 << 20,
        }
    }
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOutput {
    /// The run, which names its folder.
    pub run: String,
    /// Standard output: all of it, or its beginning and end.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// All of standard output, when some was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout_ref: Option<String>,
    /// All of standard error, when some was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_ref: Option<String>,
    /// The exit code; absent after a signal.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Whether its time was up.
    pub timed_out: bool,
    /// Whether it was cancelled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
    /// Milliseconds it took.
    pub duration_ms: u64,
    /// Files that were collected.
    pub output_files: Vec<OutputFile>,
    /// The best small text that this run wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_output: Option<OutputFile>,
    /// What was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifact_files: Vec<ArtifactFile>,
    /// Whether something that was to be kept was not: a file, the output, the record. Warnings say
    /// what, and why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// What a reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What was refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// What this run could do.
    pub confinement: Confinement,
}

impl RunOutput {
    /// Masks the values of keys in everything that the run or its files wrote. Its streams are masked as they come.
    pub(crate) fn redact(&mut self, redactor: &Redactor) {
        if redactor.is_empty() {
            return;
        }
        let mask = |text: &mut String| {
            if let Cow::Owned(masked) = redactor.redact(text) {
                *text = masked;
            }
        };
        for file in self.output_files.iter_mut().chain(&mut self.primary_output) {
            [&mut file.name, &mut file.reference].into_iter().for_each(mask);
            let content = file.content.take();
            file.content = content.map(|text| match file.truncated {
                true => redactor.redact_beginning(&text),
                false => redactor.redact(&text).into_owned(),
            });
        }
        for file in &mut self.artifact_files {
            [&mut file.name, &mut file.reference].into_iter().for_each(mask);
        }
        self.warnings.iter_mut().for_each(mask);
        self.denials.iter_mut().for_each(|denial| mask(&mut denial.what));
    }
}

/// A file that was collected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFile {
    /// Its place in the workspace.
    pub name: String,
    /// The same as a reference.
    #[serde(rename = "ref")]
    pub reference: String,
    /// What it is.
    pub mime_type: String,
    /// Its size on disk.
    pub size_bytes: u64,
    /// Its text, if it is one and it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Whether the text is not all of it.
    pub truncated: bool,
}

/// A file that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactFile {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u64,
    /// The same as a reference.
    #[serde(rename = "ref")]
    pub reference: String,
}

/// Something that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// The kind of it.
    pub kind: DenialKind,
    /// What it was.
    pub what: String,
}

/// The kind of something that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialKind {
    /// A limit was met, such as that of memory.
    Limit,
    /// A system call.
    SystemCall,
    /// An address.
    Network,
    /// A file or folder that a plan did not find as it was.
    Changed,
    /// A kind that this version does not know.
    #[serde(untagged)]
    Other(String),
}

impl fmt::Display for DenialKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Limit => "limit",
            Self::SystemCall => "system_call",
            Self::Network => "network",
            Self::Changed => "changed",
            Self::Other(kind) => kind,
        })
    }
}

/// What a run could do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Who ran it.
    pub executor: String,
    /// How firmly it was held, in the sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// What it could read besides the system's programs.
    pub readable: Vec<String>,
    /// What it could write.
    pub writable: Vec<String>,
    /// What it could reach.
    pub network: String,
    /// What of others this executor or level does not keep from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_promised: Vec<String>,
}

impl Confinement {
    /// Nothing could be read, written or reached, for [executors of a program's own](crate::executor::CustomExecutor)
    /// that run nothing. Those that do begin with [`CustomRun::confinement`](crate::executor::CustomRun::confinement).
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            executor: String::new(),
            level: None,
            readable: Vec::new(),
            writable: Vec::new(),
            network: "none".to_owned(),
            not_promised: Vec::new(),
        }
    }
}
