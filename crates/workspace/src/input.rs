//! Bringing files in: artifacts, files of the host, of the workspace and of staged skills.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat, symlinkat};
use thiserror::Error;
use tokio::io::AsyncWriteExt;
use tokio::task::spawn_blocking;

use crate::artifact::{ArtifactError, ArtifactRef, ArtifactStore, Owner};
use crate::encode::file_name;
use crate::layout::{INPUTS, WRITABLE, Workspace, give_open_to_program, open_beneath};
use crate::path::{Inside, Meaning, PathError, SharedPlace, resolve};
use crate::record::RecordedFile;
use crate::request::{InputMode, InputSpec};
use crate::space::DiskReserve;

/// Largest input, in bytes.
pub(crate) const MAX_BYTES: u64 = 1 << 30;
/// Most files and folders of a folder that is brought in.
const MAX_FILES: usize = 10_000;
/// Most files and folders of all inputs of a run.
const MAX_ALL_FILES: usize = 5 * MAX_FILES;
/// Deepest folder that is brought in.
const MAX_DEPTH: usize = 64;

/// Opens an absolute path for reading if it is below one of these folders, or one of them, wherever links on the
/// way lead, as long as they stay there. None if it is elsewhere.
///
/// # Errors
///
/// When it is not there, or cannot be opened.
pub fn open_below(folders: &[PathBuf], path: &Path) -> io::Result<Option<OwnedFd>> {
    let real = path.canonicalize()?;
    for root in folders {
        let Ok(root) = root.canonicalize() else { continue };
        let Ok(inside) = real.strip_prefix(&root) else { continue };
        let folder = File::open(&root)?;
        if inside.as_os_str().is_empty() {
            // The folder itself, or a single file that was named.
            return Ok(Some(folder.into()));
        }
        let Some(inside) = inside.to_str() else { continue };
        // What was real a moment ago is opened through no link now.
        return Ok(Some(open_beneath(folder, inside, readable())?));
    }
    Ok(None)
}

/// Why an input was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// Where it should go, or where it is, leaves the workspace.
    #[error("input `{from}`: {source}")]
    Path {
        /// The input.
        from: String,
        /// Why.
        source: PathError,
    },
    /// The reference is none.
    #[error(
        "input `{0}` is none of `artifact://name`, `host:///path`, `workspace://path` and `skill://name/path`"
    )]
    Scheme(String),
    /// The host's file is not in a folder that may be read.
    #[error("input `{0}` is not in a folder that runs may read")]
    NotAllowed(String),
    /// The target is not in a folder that can be written.
    #[error("input `{from}` cannot go to `{to}`; it may go below `work/` or `out/`")]
    Target {
        /// The input.
        from: String,
        /// Where it should go.
        to: String,
    },
    /// There is no such skill in this run.
    #[error("input `{0}` names a skill that is not part of this run")]
    NoSkill(String),
    /// It is larger, or has more files, than an input may.
    #[error(
        "input `{0}` has more than {MAX_FILES} files or {gib} GiB, or folders more than {MAX_DEPTH} deep",
        gib = MAX_BYTES >> 30
    )]
    TooLarge(String),
    /// With those before it, it is more than a run may write.
    #[error(
        "input `{from}` and those before it have more than {MAX_ALL_FILES} files or {mib} MiB",
        mib = limit >> 20
    )]
    TooMuch {
        /// The input.
        from: String,
        /// How many bytes all inputs may have.
        limit: u64,
    },
    /// The artifact cannot be had.
    #[error("input `{from}`: {source}")]
    Artifact {
        /// The input.
        from: String,
        /// Why.
        source: ArtifactError,
    },
    /// It cannot be read or written.
    #[error("input `{from}` cannot be brought in: {source}")]
    Io {
        /// The input.
        from: String,
        /// Why.
        source: io::Error,
    },
}

/// What inputs are brought in with.
pub(crate) struct Intake<'a> {
    /// The workspace of the run, into which inputs are brought.
    pub(crate) workspace: &'a Workspace,
    /// The workspace of the session, which `workspace://` means.
    pub(crate) shared: &'a Workspace,
    pub(crate) artifacts: &'a dyn ArtifactStore,
    pub(crate) owner: &'a Owner,
    /// Staged trees by name.
    pub(crate) staged: &'a [(String, PathBuf)],
    /// Folders of the host from which files may be taken.
    pub(crate) host_inputs: &'a [PathBuf],
    /// Whether a program sees the host's files under their own paths.
    pub(crate) sees_host: bool,
    pub(crate) run: &'a Inside,
    /// Most bytes of all inputs.
    pub(crate) most_bytes: u64,
    /// What must stay free of the disk.
    pub(crate) reserve: DiskReserve,
}

/// What bringing in gave.
#[derive(Debug, Default)]
pub(crate) struct BroughtIn {
    pub(crate) files: Vec<RecordedFile>,
    pub(crate) warnings: Vec<String>,
    /// Folders that were made for them.
    folders: usize,
}

impl BroughtIn {
    fn entries(&self) -> usize {
        self.files.len() + self.folders
    }

    fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size_bytes).sum()
    }

    /// Adds what was brought in later.
    pub(crate) fn and(mut self, later: Self) -> Self {
        self.files.extend(later.files);
        self.warnings.extend(later.warnings);
        self.folders += later.folders;
        self
    }
}

/// Where an input is.
enum Source {
    Artifact(ArtifactRef),
    Open(OwnedFd, Option<String>),
}

impl Intake<'_> {
    /// Brings all inputs in, in order.
    pub(crate) async fn bring_in(&self, inputs: &[InputSpec]) -> Result<BroughtIn, InputError> {
        let mut brought = BroughtIn::default();
        for input in inputs {
            match self.source(input)? {
                Source::Artifact(reference) => {
                    let to = self.target(input)?;
                    self.bring_artifact(input, reference, &to, &mut brought).await?;
                }
                Source::Open(source, link) => {
                    self.link_or_copy(input, source, link, &mut brought).await?;
                }
            }
        }
        Ok(brought)
    }

    /// Where an input goes.
    fn target(&self, input: &InputSpec) -> Result<Inside, InputError> {
        let fail = |source| InputError::Path { from: input.from.clone(), source };
        let name = input.from.rsplit('/').find(|name| !name.is_empty()).unwrap_or_default();
        let name = name.rsplit_once('@').map_or(name, |(before, version)| {
            let is_version = !version.is_empty() && version.bytes().all(|it| it.is_ascii_digit());
            if is_version && input.from.starts_with("artifact://") { before } else { name }
        });
        let text = match input.to.as_deref() {
            None | Some("" | "." | "inputs" | "inputs/") => format!("{INPUTS}/{name}"),
            Some(to) => match to.strip_prefix("inputs/") {
                Some(rest) => format!("{INPUTS}/{rest}"),
                None if to.ends_with('/') => format!("{to}{name}"),
                None => to.to_owned(),
            },
        };
        let root = Inside::default();
        let place = resolve(&text, Meaning { base: &root, run: self.run }).map_err(fail)?;
        let is_deep = place.as_str().contains('/');
        if !is_deep || !matches!(place.top(), "work" | "out") {
            let to = place.to_string();
            return Err(InputError::Target { from: input.from.clone(), to });
        }
        Ok(place)
    }

    fn source(&self, input: &InputSpec) -> Result<Source, InputError> {
        let from = &input.from;
        let fail = |source| InputError::Io { from: from.clone(), source };
        let inside = |text: &str| {
            let root = Inside::default();
            resolve(text, Meaning { base: &root, run: self.run })
                .map_err(|source| InputError::Path { from: from.clone(), source })
        };
        if from.starts_with("artifact://") {
            let reference = ArtifactRef::parse(from)
                .map_err(|source| InputError::Artifact { from: from.clone(), source })?;
            return Ok(Source::Artifact(reference));
        }
        if let Some(path) = from.strip_prefix("workspace://") {
            let place = SharedPlace::resolve(path)
                .map_err(|source| InputError::Path { from: from.clone(), source })?;
            let place = place.inside();
            let open = self.shared.open(place, readable()).map_err(fail)?;
            let target = self.target(input)?;
            // Programs do not see streams of runs, and a run in a workspace of its own not that of the session.
            let is_seen =
                self.shared.root() == self.workspace.root() && WRITABLE.contains(&place.top());
            let link = is_seen.then(|| up_from(&target, place.as_str()));
            return Ok(Source::Open(open, link));
        }
        if let Some(path) = from.strip_prefix("skill://") {
            let (name, rest) = path.split_once('/').unwrap_or((path, ""));
            let staged = self.staged.iter().find(|(staged, _)| staged == name);
            let (name, tree) = staged.ok_or_else(|| InputError::NoSkill(from.clone()))?;
            let place = inside(rest)?;
            let folder = File::open(tree).map_err(fail)?;
            let inner = if place.as_str().is_empty() { "." } else { place.as_str() };
            let open = open_beneath(folder, inner, readable());
            let open = open.map_err(|error| fail(error.into()))?;
            let place = format!("skills/{}/{}", file_name(name), place.as_str());
            return Ok(Source::Open(open, Some(up_from(&self.target(input)?, &place))));
        }
        if let Some(path) = from.strip_prefix("host://") {
            let open = self.open_host(from, Path::new(path))?;
            let link = self.sees_host.then(|| path.to_owned());
            return Ok(Source::Open(open, link));
        }
        Err(InputError::Scheme(from.clone()))
    }

    /// Opens a file of the host that is below a folder from which files may be taken.
    fn open_host(&self, from: &str, path: &Path) -> Result<OwnedFd, InputError> {
        if !path.is_absolute() {
            return Err(InputError::Scheme(from.to_owned()));
        }
        let opened = open_below(self.host_inputs, path);
        let opened = opened.map_err(|source| InputError::Io { from: from.to_owned(), source })?;
        opened.ok_or_else(|| InputError::NotAllowed(from.to_owned()))
    }

    async fn bring_artifact(
        &self,
        input: &InputSpec,
        reference: ArtifactRef,
        to: &Inside,
        brought: &mut BroughtIn,
    ) -> Result<(), InputError> {
        let refuse = |source| InputError::Artifact { from: input.from.clone(), source };
        let fail = |source| InputError::Io { from: input.from.clone(), source };
        let pin = format!("{} {to}", reference.name().as_str());
        let pinned = self.workspace.metadata().map_err(fail)?.pins.get(&pin).copied();
        let version = reference.version().or(pinned.filter(|_| input.pin));
        let key = reference.key(self.owner);
        let mut loaded = self.artifacts.load(&key, version).await.map_err(refuse)?;
        if loaded.info.size > MAX_BYTES {
            return Err(InputError::TooLarge(input.from.clone()));
        }
        let left = self.most_bytes.saturating_sub(brought.bytes());
        if loaded.info.size > left || brought.entries() >= MAX_ALL_FILES {
            return Err(self.too_much(input));
        }
        self.reserve.check(self.workspace.root(), loaded.info.size).map_err(fail)?;
        let file = self.workspace.create_file(to).map_err(fail)?;
        let mut file = tokio::fs::File::from_std(file);
        tokio::io::copy(&mut loaded.content, &mut file).await.map_err(fail)?;
        file.flush().await.map_err(fail)?;
        if input.pin && reference.version().is_none() && pinned.is_none() {
            let _lock = self.workspace.lock().map_err(fail)?;
            let mut metadata = self.workspace.metadata().map_err(fail)?;
            metadata.pins.insert(pin, loaded.info.version);
            self.workspace.save(&metadata).map_err(fail)?;
        }
        brought.files.push(RecordedFile {
            name: to.to_string(),
            from: Some(format!("artifact://{}@{}", key.name(), loaded.info.version)),
            size_bytes: loaded.info.size,
            digest: loaded.info.digest,
        });
        Ok(())
    }

    async fn link_or_copy(
        &self,
        input: &InputSpec,
        source: OwnedFd,
        link: Option<String>,
        brought: &mut BroughtIn,
    ) -> Result<(), InputError> {
        let fail = |source| InputError::Io { from: input.from.clone(), source };
        let to = self.target(input)?;
        if input.mode == InputMode::Link {
            match link {
                Some(target) => return self.link(&target, &to).map_err(fail),
                None => brought.warnings.push(format!(
                    "`{}` was copied: a link to it could not be followed here",
                    input.from
                )),
            }
        }
        let copying = Copying {
            workspace: self.workspace.clone(),
            from: input.from.clone(),
            own: Amount { files: MAX_FILES, bytes: MAX_BYTES },
            all: Amount {
                files: MAX_ALL_FILES.saturating_sub(brought.entries()),
                bytes: self.most_bytes.saturating_sub(brought.bytes()),
            },
            reserve: self.reserve,
            depth: 0,
            brought: BroughtIn::default(),
        };
        let copied = spawn_blocking(move || copying.run(source, &to)).await;
        let (copied, outcome) = copied.map_err(|error| fail(io::Error::other(error)))?;
        *brought = std::mem::take(brought).and(copied);
        match outcome.map_err(fail)? {
            CopyOutcome::Whole => Ok(()),
            CopyOutcome::TooLarge => Err(InputError::TooLarge(input.from.clone())),
            CopyOutcome::TooMuch => Err(self.too_much(input)),
        }
    }

    fn too_much(&self, input: &InputSpec) -> InputError {
        InputError::TooMuch { from: input.from.clone(), limit: self.most_bytes }
    }

    fn link(&self, target: &str, to: &Inside) -> io::Result<()> {
        let (folder, name) = self.workspace.clear(to)?;
        Ok(symlinkat(target, &folder, name)?)
    }
}

/// A file or folder on its way in, on a thread that may wait for the disk.
struct Copying {
    workspace: Workspace,
    from: String,
    /// What this input may still have.
    own: Amount,
    /// What all inputs of the run may still have.
    all: Amount,
    reserve: DiskReserve,
    depth: usize,
    brought: BroughtIn,
}

/// A number of files and folders, and their bytes.
struct Amount {
    files: usize,
    bytes: u64,
}

/// Whether an input was within bounds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CopyOutcome {
    Whole,
    /// It is larger than an input may be.
    TooLarge,
    /// With other inputs it is more than a run may have.
    TooMuch,
}

impl Amount {
    /// Takes a file away, if there is as much.
    fn take(&mut self, bytes: u64) -> bool {
        let (Some(files), Some(bytes)) = (self.files.checked_sub(1), self.bytes.checked_sub(bytes))
        else {
            return false;
        };
        *self = Self { files, bytes };
        true
    }
}

impl Copying {
    fn run(mut self, source: OwnedFd, to: &Inside) -> (BroughtIn, io::Result<CopyOutcome>) {
        let outcome = self.copy(source, to);
        (self.brought, outcome)
    }

    /// Counts a file or folder before it is made.
    fn count(&mut self, bytes: u64) -> CopyOutcome {
        if !self.own.take(bytes) {
            return CopyOutcome::TooLarge;
        }
        if self.all.take(bytes) { CopyOutcome::Whole } else { CopyOutcome::TooMuch }
    }

    /// Copies a file or a folder.
    fn copy(&mut self, source: OwnedFd, to: &Inside) -> io::Result<CopyOutcome> {
        let source = File::from(source);
        let metadata = source.metadata()?;
        if metadata.is_dir() {
            if self.depth >= MAX_DEPTH {
                return Ok(CopyOutcome::TooLarge);
            }
            let counted = self.count(0);
            if counted != CopyOutcome::Whole {
                return Ok(counted);
            }
            self.workspace.make_folder(to)?;
            self.brought.folders += 1;
            self.depth += 1;
            let outcome = self.copy_folder(&source, to)?;
            self.depth -= 1;
            return Ok(outcome);
        }
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let counted = self.count(metadata.len());
        if counted != CopyOutcome::Whole {
            return Ok(counted);
        }
        self.reserve.check(self.workspace.root(), metadata.len())?;
        let mut target = self.workspace.create_file(to)?;
        // A file that grows meanwhile is not copied any further than was counted.
        let (size_bytes, digest) = copy_and_hash(source.take(metadata.len()), &mut target)?;
        let from = Some(self.from.clone());
        self.brought.files.push(RecordedFile { name: to.to_string(), from, size_bytes, digest });
        Ok(CopyOutcome::Whole)
    }

    fn copy_folder(&mut self, folder: &File, to: &Inside) -> io::Result<CopyOutcome> {
        for entry in rustix::fs::Dir::read_from(folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            match open_beneath(folder, name, readable()) {
                Ok(open) => match self.copy(open, &to.join(name))? {
                    CopyOutcome::Whole => {}
                    refused => return Ok(refused),
                },
                Err(_) => {
                    self.brought.warnings.push(format!("`{name}` of `{}` was left out", self.from));
                }
            }
        }
        Ok(CopyOutcome::Whole)
    }
}

fn readable() -> OFlags {
    OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY
}

/// A link from one place of a workspace to another.
fn up_from(from: &Inside, to: &str) -> String {
    format!("{}{to}", "../".repeat(from.as_str().matches('/').count()))
}

/// Copies what a reader gives in pieces, and returns how much it was and its digest.
pub(crate) fn copy_and_hash(source: impl Read, target: &mut File) -> io::Result<(u64, String)> {
    let mut reader = HashReader { source, hasher: blake3::Hasher::new() };
    let size = io::copy(&mut reader, target)?;
    Ok((size, reader.hasher.finalize().to_hex().to_string()))
}

struct HashReader<R> {
    source: R,
    hasher: blake3::Hasher,
}

impl<R: Read> Read for HashReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}

/// The key by which an attached file is remembered: its digest and size, and its name after a blank.
pub(crate) struct UploadKey<'a> {
    pub(crate) digest: &'a str,
    /// Older versions did not keep it.
    pub(crate) size: Option<u64>,
}

impl<'a> UploadKey<'a> {
    /// Reads a key.
    pub(crate) fn of(key: &'a str) -> Self {
        let content = key.split_once(' ').map_or(key, |(content, _name)| content);
        match content.split_once(':') {
            Some((digest, size)) => Self { digest, size: size.parse().ok() },
            None => Self { digest: content, size: None },
        }
    }
}

/// Puts a file that somebody attached into a workspace, once: the same bytes under the same name keep their place.
///
/// # Errors
///
/// When it cannot be written.
pub fn upload(workspace: &Workspace, name: &str, content: &[u8]) -> io::Result<Inside> {
    let _lock = workspace.lock()?;
    let mut metadata = workspace.metadata()?;
    let digest = blake3::hash(content).to_hex();
    let key = format!("{digest}:{} {name}", content.len());
    let older = format!("{digest} {name}");
    let known = [&key, &older].into_iter().find_map(|it| metadata.uploads.get(it));
    if let Some(place) = known {
        return Ok(Inside::known(place.as_str()));
    }
    let place = unused_name(workspace, &plain_name(name))?;
    let (folder, last) = (workspace.make_folder(&Inside::known(INPUTS))?, place.file_name());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = openat(&folder, last, flags, Mode::from_raw_mode(0o600))?;
    give_open_to_program(&file)?;
    io::Write::write_all(&mut File::from(file), content)?;
    metadata.uploads.insert(key, place.as_str().to_owned());
    workspace.save(&metadata)?;
    Ok(place)
}

/// A name that is only a name.
fn plain_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = last.chars().filter(|it| !it.is_control()).take(120).collect();
    let plain = plain.trim_start_matches('.').trim();
    if plain.is_empty() { "file".to_owned() } else { plain.to_owned() }
}

/// A place in `work/inputs` that is free: `a.txt`, `a_2.txt`, `a_3.txt`, …
fn unused_name(workspace: &Workspace, name: &str) -> io::Result<Inside> {
    let folder = workspace.root().join(INPUTS);
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) => (stem, format!(".{ending}")),
        None => (name, String::new()),
    };
    for number in 1..=MAX_FILES {
        let name = if number == 1 { name.to_owned() } else { format!("{stem}_{number}{ending}") };
        if fs::symlink_metadata(folder.join(&name)).is_err() {
            return Ok(Inside::known(format!("{INPUTS}/{name}")));
        }
    }
    Err(io::Error::other("there are too many files of this name"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{About, MemoryStore};
    use crate::layout::{WorkspaceKey, Workspaces};

    /// Brings `work/a`, which has ten bytes, in twice, and an artifact of ten bytes.
    async fn brought(most_bytes: u64, reserve: DiskReserve) -> Result<usize, String> {
        let state = tempfile::tempdir().unwrap();
        let folder = |name: &str| state.path().join(name);
        let workspaces = Workspaces::open(&folder("workspaces"), &folder("content")).unwrap();
        let [app, user, session] = ["app", "user", "session"].map(str::to_owned);
        let owner = Owner::new(&app, &user, &session).unwrap();
        let workspace =
            workspaces.workspace(&WorkspaceKey { app, user, session, generation: 0 }).unwrap();
        fs::write(workspace.root().join("work/a"), "0123456789").unwrap();
        let artifacts = MemoryStore::new();
        let reference = ArtifactRef::parse("artifact://b").unwrap();
        let mut content = &b"0123456789"[..];
        let key = reference.key(&owner);
        artifacts.save(&key, &mut content, &About::default()).await.unwrap();
        let intake = Intake {
            workspace: &workspace,
            shared: &workspace,
            artifacts: &artifacts,
            owner: &owner,
            staged: &[],
            host_inputs: &[],
            sees_host: false,
            run: &Inside::default(),
            most_bytes,
            reserve,
        };
        let input = |from: &str, to: &str| InputSpec {
            from: from.to_owned(),
            to: Some(to.to_owned()),
            ..InputSpec::default()
        };
        let inputs = [
            input("workspace://work/a", "work/one"),
            input("artifact://b", "work/two"),
            input("workspace://work/a", "work/three"),
        ];
        let brought = intake.bring_in(&inputs).await;
        brought.map(|it| it.files.len()).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn all_inputs_of_a_run_have_one_bound() {
        let none_left = DiskReserve::new(0);
        assert_eq!(brought(30, none_left).await, Ok(3));
        insta::assert_snapshot!(brought(29, none_left).await.unwrap_err(), @"input `workspace://work/a` and those before it have more than 50000 files or 0 MiB");
        insta::assert_snapshot!(brought(19, none_left).await.unwrap_err(), @"input `artifact://b` and those before it have more than 50000 files or 0 MiB");
    }

    #[tokio::test]
    async fn inputs_leave_what_must_stay_free() {
        let refused = brought(1 << 20, DiskReserve::whole_disk()).await.unwrap_err();
        assert!(
            refused.starts_with("input `workspace://work/a` cannot be brought in"),
            "{refused}"
        );
        assert!(refused.ends_with("which must stay free"), "{refused}");
    }
}
