//! Doing it: package managers are run, downloads are fetched, checked and put into their place.
//!
//! A package manager is run as the person would run it, unconfined and with the settings that are its
//! own, but in a folder of metier's: several read files of the folder they are started in.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use metier_net::{Client, ClientOptions, Download, DownloadRequest, NetError};
use metier_sandbox::{Cancel, Job, Limits, Observer, Outcome, Policy, Program, Stream};
use metier_skill::header::InstallKind;
use metier_skill::install::{
    Chosen, Command, DownloadPlan, InstallPlan, Linked, Offer, link_programs, place, tool_links,
};
use metier_skill::library::{Entry, Missing};

use super::show;
use crate::context::Context;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Measured, Output, plain, style, styled};
use metier_app::state::privacy::make_private_folder;

/// How long one command, or one download, may take.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// Largest download.
const MAX_BYTES: u64 = 256 << 20;
/// Bytes of a line that are shown.
const MAX_LINE: usize = 4096;
/// Lines that are shown of a package manager that failed, where nothing was shown before.
const MAX_LAST_LINES: usize = 20;
/// In front of lines that a package manager wrote.
const BAR: &str = "│ ";

/// Variables that every package manager is given, as far as they are set.
const PASSED_ON: [&str; 19] = [
    "ALL_PROXY",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "NO_PROXY",
    "PATH",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// What the variables begin with that are a manager's own settings.
fn own_settings(kind: InstallKind) -> &'static [&'static str] {
    match kind {
        InstallKind::Apt | InstallKind::Download => &[],
        InstallKind::Brew => &["HOMEBREW_"],
        InstallKind::Cargo => &["CARGO_", "RUSTUP_"],
        InstallKind::Go => &["GO"],
        InstallKind::Node => &["BUN_", "NODE_", "NPM_CONFIG_", "PNPM_", "YARN_", "npm_config_"],
        InstallKind::Pip => &["PIP_"],
        InstallKind::Uv => &["UV_"],
    }
}

/// Installs for one skill.
#[derive(Clone, Copy)]
pub(super) struct Installer<'a> {
    pub(super) context: &'a Context,
    pub(super) entry: &'a Entry,
}

impl Installer<'_> {
    /// Goes every chosen way; gives the programs that can be found now.
    pub(super) fn install(
        &self,
        chosen: &Chosen<'_>,
        missing: &Missing,
    ) -> Result<Vec<Linked>, Failure> {
        let folder = self.folder();
        // Keys may be kept beside tools.
        make_private_folder(self.context.app.environment.state())
            .map_err(|error| self.context.state_failure(error))?;
        make_folder(&folder)?;
        let mut installed = Vec::new();
        for offer in &chosen.offers {
            let was_there = offer.folder.as_ref().is_some_and(|folder| folder.exists());
            let linked = self.perform(offer).and_then(|()| self.link(offer, missing));
            if linked.is_err()
                && !was_there
                && let Some(folder) = &offer.folder
            {
                // Half of something is in the way of the next attempt.
                let _was_not_made = fs::remove_dir_all(folder);
            }
            installed.extend(linked?);
        }
        Ok(installed)
    }

    fn folder(&self) -> PathBuf {
        self.entry.tool_folder(&self.context.app.tools())
    }

    fn perform(&self, offer: &Offer) -> Result<(), Failure> {
        match &offer.plan {
            InstallPlan::Download(download) => self.download(download).map_err(|failure| {
                let (id, url) = (&offer.id, &download.url);
                // The network names the address itself.
                if failure.to_string().contains(url.as_str()) {
                    failure.within(format!("`{id}` cannot be installed"))
                } else {
                    failure.within(format!("`{id}` cannot be installed from `{url}`"))
                }
            }),
            InstallPlan::Run(commands) => {
                commands.iter().try_for_each(|command| self.run(offer, command))
            }
        }
    }

    /// Links the programs that were promised; those that are missing, if nothing was.
    fn link(&self, offer: &Offer, missing: &Missing) -> Result<Vec<Linked>, Failure> {
        let Some(folder) = &offer.folder else { return Ok(Vec::new()) };
        let mut names = offer.bins.clone();
        if names.is_empty() {
            let wanted = missing.bins.iter().chain(&missing.any_bins);
            names.extend(wanted.filter(|name| folder.join("bin").join(name).exists()).cloned());
        }
        Ok(link_programs(folder, &names, &tool_links(&self.folder()))?)
    }

    fn run(&self, offer: &Offer, command: &Command) -> Result<(), Failure> {
        let output = self.context.output;
        output.say(&styled(style::DIM, format!("$ {}", show::command(command))));
        let job = Job {
            program: Program {
                command: metier_sandbox::Command::Arguments(
                    command.arguments.iter().map(OsString::from).collect(),
                ),
                environment: self.variables(offer, command),
                directory: self.folder(),
            },
            policy: Policy::unconfined(),
            limits: Limits {
                wall: PATIENCE,
                cpu_seconds: 4 * PATIENCE.as_secs(),
                memory: 16 << 30,
                processes: 4096,
                file_bytes: 8 << 30,
                ..Limits::default()
            },
        };
        let program = Path::new(&command.arguments[0]).file_name().unwrap_or_default();
        let program = program.to_string_lossy();
        let cancel = Cancel::new().map_err(|error| Failure::of_system(&error))?;
        let stopping = cancel.clone();
        let working = output.working(&format!("running {program}"));
        let listener = interrupt::listen(move || stopping.cancel());
        let mut relay = Relay { output, lines: [Vec::new(), Vec::new()], last: VecDeque::new() };
        let outcome = metier_sandbox::run(&job, &[], &mut relay, &cancel);
        relay.end();
        drop((listener, working));
        let outcome = outcome.map_err(|error| {
            Failure::brief(&error).hint("install it first, or choose another way with `--option`")
        })?;
        judge(&program, &outcome).inspect_err(|_| {
            if !outcome.cancelled {
                relay.insist();
            }
        })
    }

    fn variables(&self, offer: &Offer, command: &Command) -> Vec<(OsString, OsString)> {
        let own = own_settings(offer.kind);
        let is_passed_on = |name: &str| {
            PASSED_ON.contains(&name) || own.iter().any(|prefix| name.starts_with(prefix))
        };
        let ours = command.environment.iter().map(|(name, value)| (*name, value.clone()));
        let theirs = self.context.app.environment.variables.iter();
        let theirs = theirs
            .map(|(name, value)| (name.as_str(), value.clone()))
            .filter(|(name, _)| is_passed_on(name))
            .filter(|(name, _)| command.environment.iter().all(|(ours, _)| ours != name));
        let mut variables: Vec<(&str, String)> = theirs.chain(ours).collect();
        // Some managers insist that the folder of their programs is on the path.
        if let (Some(folder), Some((_, path))) =
            (&offer.folder, variables.iter_mut().find(|(name, _)| *name == "PATH"))
        {
            path.push_str(&format!(":{}", folder.join("bin").display()));
        }
        variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn download(&self, plan: &DownloadPlan) -> Result<(), Failure> {
        let output = self.context.output;
        output.say(&styled(style::DIM, format!("downloading {}", plain(&plan.url))));
        let options = ClientOptions {
            max_bytes: MAX_BYTES,
            total_timeout: PATIENCE,
            ..ClientOptions::STANDARD
        };
        let client = Client::new(&options)?;
        let unwritten = |error: io::Error| {
            let folder = self.folder();
            Failure::new(format!("cannot keep a download in `{}`: {error}", folder.display()))
                .hint("set METIER_HOME to a folder that you can write to")
                .unless_full(&error)
        };
        let mut file: File = tempfile::tempfile_in(self.folder()).map_err(unwritten)?;
        let request = DownloadRequest { url: &plan.url, etag: None, last_modified: None };
        let working = output.working("downloading");
        let mut measured = Measured::new(&mut file, &working, "downloading");
        let download = client.download_blocking(&request, &mut measured);
        let download = download.map_err(|error| match error {
            NetError::Status { status: 401 | 403, .. } => {
                Failure::from(error).hint("install it yourself, so that it is on the PATH")
            }
            error => error.into(),
        })?;
        let Download::Fetched(fetched) = download else {
            return Err(Failure::new("the server says that nothing changed, but there is no copy")
                .hint("try again; else the server does not answer as it should"));
        };
        match &plan.sha256 {
            Some(wanted) if *wanted != fetched.sha256 => {
                return Err(Failure::new(format!(
                    "the download has the digest {}, and the skill says {wanted}; it is not used",
                    fetched.sha256
                ))
                .hint("somebody changed it, or the skill is older than it; ask its author"));
            }
            Some(_) => {}
            None => output.say(&format!("its sha256 is {}", fetched.sha256)),
        }
        working.set("unpacking");
        file.seek(SeekFrom::Start(0)).map_err(unwritten)?;
        Ok(place(file, plan)?)
    }
}

fn judge(name: &str, outcome: &Outcome) -> Result<(), Failure> {
    if outcome.cancelled {
        return Err(Failure::interrupted());
    }
    if outcome.timed_out {
        let minutes = PATIENCE.as_secs() / 60;
        return Err(Failure::new(format!("`{name}` took longer than {minutes} minutes"))
            .hint("install it yourself, so that it is on the PATH"));
    }
    match (outcome.ended.code, outcome.ended.signal) {
        (Some(0), _) => Ok(()),
        (Some(code), _) => Err(Failure::new(format!("`{name}` failed with exit code {code}"))
            .hint("what it said stands above")),
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            Err(Failure::new(format!("`{name}` was ended by signal {signal}"))
                .hint("what it said stands above"))
        }
    }
}

/// Makes a folder that programs of everybody may look into: what runs skills may be another user.
fn make_folder(folder: &Path) -> Result<(), Failure> {
    DirBuilder::new().recursive(true).mode(0o755).create(folder).map_err(|error| {
        Failure::new(format!("cannot make `{}`: {error}", folder.display()))
            .hint("set METIER_HOME to a folder that you can write to")
            .unless_full(&error)
    })
}

/// Passes on what a package manager writes, line by line and made safe.
struct Relay {
    output: Output,
    lines: [Vec<u8>; 2],
    /// The last lines, where nobody wants to see them unless it fails.
    last: VecDeque<String>,
}

impl Observer for Relay {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let place = usize::from(stream == Stream::Error);
        for &byte in bytes {
            if byte == b'\n' || byte == b'\r' || self.lines[place].len() >= MAX_LINE {
                self.pass_on(place);
            }
            if byte != b'\n' && byte != b'\r' {
                self.lines[place].push(byte);
            }
        }
    }
}

impl Relay {
    fn pass_on(&mut self, place: usize) {
        let line = std::mem::take(&mut self.lines[place]);
        if !line.is_empty() {
            let line = plain(&String::from_utf8_lossy(&line));
            let line = styled(style::DIM, format!("{BAR}{line}"));
            self.output.say(&line);
            if self.output.is_quiet() {
                self.last.truncate(MAX_LAST_LINES - 1);
                self.last.push_front(line);
            }
        }
    }

    /// Says what was not said before, since it explains why it failed.
    fn insist(&self) {
        self.last.iter().rev().for_each(|line| self.output.insist(line));
    }

    fn end(&mut self) {
        self.pass_on(0);
        self.pass_on(1);
    }
}
