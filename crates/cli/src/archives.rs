//! Roots that are archives: fetched by `net`, unpacked by `skill`, kept by address in a cache.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use metier_net::{Client, ClientOptions, Download, DownloadRequest};
use metier_skill::archive::{self, ArchiveError, Limits, LinkRule, UnpackRequest};
use metier_skill::diagnostic::Code;
use metier_skill::files::Digest;
use metier_skill::problem::Problem;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::{Measured, Working};
use crate::places::SkillPlace;
use crate::privacy::make_private_folder;

/// An address that was asked this recently is not asked again.
const FRESH: Duration = Duration::from_secs(5 * 60);

/// How far one goes for an archive.
#[derive(Debug)]
pub(crate) enum Reach<'a> {
    /// Over the network, which may take its time.
    Network(&'a Working),
    /// To the copies that are here.
    AtHand,
}

/// A located folder of skills, with what was noticed on the way.
pub(crate) type Located = (PathBuf, Option<Problem>);

/// Returns the folder of skills at a place: the folder itself, or where its archive is unpacked.
///
/// A copy that could not be brought up to date is used, with a remark.
pub(crate) fn locate(
    place: &SkillPlace<'_>,
    environment: &Environment,
    reach: &Reach<'_>,
) -> Result<Located, Box<Problem>> {
    let Some(path) = place.path() else {
        return Archive::new(place.address, place.pin, environment).locate(reach);
    };
    if !path.is_file() {
        return match place.pin {
            None => Ok((path.to_owned(), None)),
            Some(_) => Err(refused_pin(path)),
        };
    }
    let name = path.to_string_lossy();
    let archive = Archive::new(&name, place.pin, environment);
    let folder = archive.unpack_file(path).map_err(|failure| archive.refused(&failure))?;
    Ok((folder, None))
}

/// A digest can be compared with an archive only; whoever writes one does not want what is not compared.
fn refused_pin(path: &Path) -> Box<Problem> {
    let message = if path.is_dir() {
        "a digest behind `#sha256=` pins an archive, and this is a folder"
    } else {
        "there is no such archive"
    };
    Box::new(Problem::new(Code::ArchiveRefused, path, message))
}

/// An archive and its place in the cache.
struct Archive<'a> {
    address: &'a str,
    pin: Option<Digest>,
    cache: PathBuf,
    /// The variable that says where the cache is.
    chosen_by: &'static str,
}

/// What is known of the copy in the cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    address: String,
    etag: Option<String>,
    last_modified: Option<String>,
    sha256: Digest,
    checked: u64,
}

impl<'a> Archive<'a> {
    fn new(address: &'a str, pin: Option<Digest>, environment: &Environment) -> Self {
        let (caches, chosen_by) = match environment.variable("SKILLS_CACHE_DIR") {
            // Never below the working directory, where a project could have put copies.
            Some(folder) => (environment.expand(folder, &environment.state()), "SKILLS_CACHE_DIR"),
            None => (environment.state().join("cache/roots"), "METIER_HOME"),
        };
        let key = Digest::of_bytes(address.as_bytes()).to_string();
        Self { address, pin, cache: caches.join(&key[..32]), chosen_by }
    }

    fn locate(&self, reach: &Reach<'_>) -> Result<Located, Box<Problem>> {
        let record = self.record().filter(|record| self.is_wanted(record.sha256));
        let may_fetch = matches!(reach, Reach::Network(_));
        if let Some(record) = &record
            && (self.pin.is_some() || record.is_fresh() || !may_fetch)
        {
            return Ok((self.folder(record.sha256), None));
        }
        let Reach::Network(working) = reach else {
            let failure = Failure::new("it was not fetched yet");
            return Err(self.refused(&failure.hint("`metier skills list` fetches it")));
        };
        match self.fetch(record.as_ref(), working) {
            Ok(folder) => Ok((folder, None)),
            Err(failure) => match record {
                None => Err(self.refused(&failure)),
                Some(record) => {
                    let message = format!("the copy at hand is used: {failure}");
                    let place = shown(self.address);
                    let mut remark = Problem::new(Code::ArchiveRefused, Path::new(&place), message);
                    remark.severity = metier_skill::diagnostic::Severity::Warning;
                    Ok((self.folder(record.sha256), Some(remark)))
                }
            },
        }
    }

    fn refused(&self, failure: &Failure) -> Box<Problem> {
        let place = shown(self.address);
        let problem = Problem::new(Code::ArchiveRefused, Path::new(&place), failure.to_string());
        Box::new(match failure.remedy() {
            Some(hint) => problem.help(hint),
            None => problem,
        })
    }

    fn is_wanted(&self, digest: Digest) -> bool {
        self.pin.is_none_or(|pin| pin == digest)
    }

    fn folder(&self, digest: Digest) -> PathBuf {
        self.cache.join(digest.to_string())
    }

    /// The record of a copy that is there.
    fn record(&self) -> Option<Record> {
        let text = fs::read_to_string(self.cache.join("record.json")).ok()?;
        let record: Record = serde_json::from_str(&text).ok()?;
        self.folder(record.sha256).is_dir().then_some(record)
    }

    fn fetch(&self, known: Option<&Record>, working: &Working) -> Result<PathBuf, Failure> {
        let doing = format!("fetching {}", shown(self.address));
        working.set(&doing);
        self.make_cache()?;
        let mut file = tempfile::tempfile_in(&self.cache).map_err(|error| self.uncached(&error))?;
        let client = Client::new(&ClientOptions::STANDARD)?;
        let request = DownloadRequest {
            url: self.address,
            etag: known.and_then(|record| record.etag.as_deref()),
            last_modified: known.and_then(|record| record.last_modified.as_deref()),
        };
        let mut measured = Measured::new(&mut file, working, &doing);
        let download = client.download_blocking(&request, &mut measured)?;
        working.set(&format!("unpacking {}", shown(self.address)));
        match (download, known) {
            (Download::NotModified, Some(known)) => {
                self.remember(&Record { checked: now(), ..known.clone() })?;
                Ok(self.folder(known.sha256))
            }
            (Download::NotModified, None) => {
                Err(Failure::new("the server says that nothing changed, but there is no copy")
                    .hint("try again; else the server does not answer as it should"))
            }
            (Download::Fetched(fetched), _) => {
                let digest = Digest::from_hex(&fetched.sha256).ok_or_else(|| {
                    Failure::new("the download has no digest that can be read").hint("try again")
                })?;
                let folder = self.unpack(file, digest)?;
                self.remember(&Record {
                    address: shown(self.address),
                    etag: fetched.etag,
                    last_modified: fetched.last_modified,
                    sha256: digest,
                    checked: now(),
                })?;
                if let Some(old) = known.filter(|old| old.sha256 != digest) {
                    let _may_be_in_use = fs::remove_dir_all(self.folder(old.sha256));
                }
                Ok(folder)
            }
        }
    }

    fn unpack_file(&self, path: &Path) -> Result<PathBuf, Failure> {
        let unread = |error| {
            Failure::new(format!("cannot read the archive `{}`: {error}", path.display()))
                .hint("make it readable for you")
        };
        let mut file = File::open(path).map_err(unread)?;
        let limit = Limits::STANDARD.max_archive_bytes;
        if file.metadata().map_err(unread)?.len() > limit {
            let limit = limit >> 20;
            return Err(Failure::new(format!("the archive is larger than {limit} MiB"))
                .hint("unpack it yourself, and name the folder"));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unread)?;
        self.unpack(file, Digest::of_bytes(&bytes))
    }

    fn unpack(&self, mut file: File, digest: Digest) -> Result<PathBuf, Failure> {
        if !self.is_wanted(digest) {
            return Err(Failure::new(format!(
                "its digest is {digest}, and not the one it is pinned to"
            ))
            .hint("if the change is wanted, write the new digest behind `#sha256=`"));
        }
        let folder = self.folder(digest);
        if folder.is_dir() {
            return Ok(folder);
        }
        self.make_cache()?;
        file.seek(SeekFrom::Start(0)).map_err(|error| self.uncached(&error))?;
        let request = UnpackRequest {
            name: self.address,
            into: &folder,
            skill_folder: &skill_folder(self.address),
            strip: 0,
            links: LinkRule::Inside,
            limits: &Limits::STANDARD,
        };
        match archive::unpack(io::BufReader::new(file), &request) {
            Ok(_) | Err(ArchiveError::TargetExists { .. }) => Ok(folder),
            Err(error) => Err(error.into()),
        }
    }

    fn make_cache(&self) -> Result<(), Failure> {
        make_private_folder(&self.cache).map_err(|error| self.uncached(&error))
    }

    fn uncached(&self, error: &io::Error) -> Failure {
        Failure::new(format!("cannot keep a copy in `{}`: {error}", self.cache.display()))
            .hint(format!("set {} to a folder that you can write to", self.chosen_by))
            .unless_full(error)
    }

    fn remember(&self, record: &Record) -> Result<(), Failure> {
        let kept = || -> io::Result<()> {
            let mut beside = tempfile::NamedTempFile::new_in(&self.cache)?;
            beside.write_all(serde_json::to_string_pretty(record)?.as_bytes())?;
            beside.persist(self.cache.join("record.json"))?;
            Ok(())
        };
        kept().map_err(|error| self.uncached(&error))
    }
}

impl Record {
    fn is_fresh(&self) -> bool {
        now().checked_sub(self.checked).is_some_and(|age| age < FRESH.as_secs())
    }
}

/// Returns an address as it may be shown: without the user, the password and the query, which can hold
/// tokens.
pub(crate) fn shown(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    if scheme == "file" {
        return address.to_owned();
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}/{path}")
}

/// The folder for a bare `SKILL.md`: the one it is in at its address.
fn skill_folder(address: &str) -> String {
    let parts: Vec<&str> = address.split('/').filter(|part| !part.is_empty()).collect();
    let parent = parts.len().checked_sub(2).and_then(|at| parts.get(at));
    parent.map_or_else(|| "skill".to_owned(), |parent| (*parent).to_owned())
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
