//! A skill of another server, as far as it may be believed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::diagnostic::{Level, Severity};
use crate::files::{self, Digest, combine};
use crate::header::{self, Gate, Manifest};
use crate::name::{self, SkillName};
use crate::remote::address;
use crate::remote::offer::{MAX_BYTES, MAX_FILES, Offer, OfferedFile, RemoteFault};

/// A skill that another server offers, by the rules of the extension for skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSkill {
    /// What we call its server.
    pub server: SkillName,
    /// The address of its `SKILL.md` there.
    pub uri: String,
    /// What its header says, without whatever would give it more than others have.
    pub manifest: Box<Manifest>,
    /// Its header as it was told.
    pub frontmatter: Map<String, Value>,
    /// Its files, sorted by path; nothing if they are made when they are asked for, so that nobody can tell whether they
    /// are the same as before.
    pub files: Option<Vec<RemoteFile>>,
}

/// A file of such a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteFile {
    /// Path from the skill's folder, with slashes.
    pub path: String,
    /// Its address.
    pub uri: String,
    /// The digest of its bytes.
    pub digest: Digest,
    /// Bytes.
    pub size: u64,
}

impl RemoteSkill {
    /// Judges what a server that we call so tells of a skill.
    ///
    /// # Errors
    ///
    /// When it breaks a rule of the extension.
    pub fn read(server: &SkillName, offer: &Offer<'_>) -> Result<Self, RemoteFault> {
        let uri = offer.uri.to_owned();
        let Some((folder, last)) = address::folder_of(offer.uri) else {
            return Err(RemoteFault::Address { uri });
        };
        let mut manifest = manifest_of(offer.frontmatter, &last)?;
        take_claims(&mut manifest, server);
        let files = offer.files.map(|told| files_of(folder, offer.uri, told)).transpose()?;
        let (server, frontmatter) = (server.clone(), offer.frontmatter.clone());
        Ok(Self { server, uri, manifest: Box::new(manifest), frontmatter, files })
    }

    /// Its name with what we call its server in front.
    pub fn full_name(&self) -> String {
        format!("{}:{}", self.server, self.manifest.name)
    }

    /// Where it is, for people.
    pub fn place(&self) -> String {
        format!("{} {}", self.server, self.uri)
    }

    /// A digest of its address and of every file's address, digest and size.
    pub fn digest(&self) -> Digest {
        let files = self.files.iter().flatten();
        let parts = files.map(|file| {
            let state = format!("{} {}", file.digest, file.size);
            (file.uri.clone(), Digest::of_bytes(state.as_bytes()))
        });
        let whole = (String::new(), Digest::of_bytes(self.uri.as_bytes()));
        combine(&parts.chain([whole]).collect())
    }

    /// A digest of its header as it was told, in whichever order.
    pub fn header_digest(&self) -> Digest {
        let mut fields = Value::Object(self.frontmatter.clone());
        fields.sort_all_objects();
        Digest::of_bytes(fields.to_string().as_bytes())
    }

    /// Compares what a server gave for a file with what it told of it.
    ///
    /// # Errors
    ///
    /// When it is anything else.
    pub fn verify(&self, file: &RemoteFile, bytes: &[u8]) -> Result<(), RemoteFault> {
        let path = || file.path.clone();
        let length = bytes.len() as u64;
        if length != file.size {
            return Err(RemoteFault::Size { path: path(), told: file.size, found: length });
        }
        let found = Digest::of_bytes(bytes);
        if found != file.digest {
            return Err(RemoteFault::Content { path: path(), told: file.digest, found });
        }
        if file.uri != self.uri {
            return Ok(());
        }
        let reason = match std::str::from_utf8(bytes) {
            Err(_) => "it is not UTF-8".to_owned(),
            Ok(text) => match header::difference(text, &self.frontmatter) {
                Ok(None) => return Ok(()),
                Ok(Some(difference)) => difference.to_string(),
                Err(error) => error.to_string(),
            },
        };
        Err(RemoteFault::HeaderDiffers { reason })
    }

    /// Compares files that were just listed and digested with what was told of them; what is no file has no digest.
    ///
    /// # Errors
    ///
    /// When one is another, or missing, or more than was told.
    pub fn compare<'a>(
        &self,
        found: impl IntoIterator<Item = (&'a str, Option<Digest>)>,
    ) -> Result<(), RemoteFault> {
        let told = self.files.iter().flatten().filter(|file| is_listed(file));
        let mut told: BTreeMap<_, _> = told.map(|it| (it.path.as_str(), it.digest)).collect();
        for (path, found) in found {
            match (told.remove(path), found) {
                (Some(told), Some(found)) if told == found => {}
                (Some(told), Some(found)) => {
                    return Err(RemoteFault::Content { path: path.to_owned(), told, found });
                }
                _ => return Err(RemoteFault::Unlisted { path: path.to_owned() }),
            }
        }
        match told.into_keys().next() {
            Some(path) => Err(RemoteFault::Gone { path: path.to_owned() }),
            None => Ok(()),
        }
    }
}

fn is_listed(file: &RemoteFile) -> bool {
    !file.path.split('/').any(|part| files::is_left_out(part.as_ref()))
}

fn manifest_of(fields: &Map<String, Value>, folder: &str) -> Result<Manifest, RemoteFault> {
    let unusable = |reason: &str| RemoteFault::Header { reason: reason.to_owned() };
    let text = |field| fields.get(field).and_then(Value::as_str);
    let name = text("name").ok_or_else(|| unusable("`name` is not a text"))?;
    if text("description").is_none_or(|it| it.trim().is_empty()) {
        return Err(unusable("`description` is not a text"));
    }
    if name != folder {
        return Err(RemoteFault::Name { name: name.to_owned(), folder: folder.to_owned() });
    }
    if !name::faults(name).is_empty() {
        return Err(unusable("`name` breaks the rules of names"));
    }
    let (manifest, diagnostics) = header::read_front_matter(fields, folder);
    manifest.ok_or_else(|| {
        let is_error = |severity| severity == Severity::Error;
        let found = diagnostics.iter().find(|it| is_error(it.severity(Level::Lenient)));
        unusable(found.map_or("it cannot be read", |it| it.message.as_str()))
    })
}

/// Takes away what would give a skill of elsewhere more than it was given: tools without being asked, a command that
/// goes past the model, the settings and secrets of another skill.
fn take_claims(manifest: &mut Manifest, server: &SkillName) {
    manifest.allowed_tools.clear();
    manifest.invocation.dispatch = None;
    if let Gate::Readable(requirements) = &mut manifest.gate {
        requirements.skill_key = Some(format!("{server}:{}", manifest.name));
    }
}

fn files_of(folder: &str, uri: &str, told: &[OfferedFile]) -> Result<Vec<RemoteFile>, RemoteFault> {
    if told.len() > MAX_FILES {
        return Err(RemoteFault::TooMany { count: told.len() });
    }
    let sizes = told.iter().try_fold(0_u64, |sum, file| sum.checked_add(file.size));
    if sizes.is_none_or(|sum| sum > MAX_BYTES) {
        return Err(RemoteFault::TooLarge);
    }
    let mut files = told.iter().map(|file| file_of(folder, file)).collect::<Result<Vec<_>, _>>()?;
    if !files.iter().any(|file| file.uri == uri) {
        return Err(RemoteFault::NoSkillFile);
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    match clash(&files) {
        Some(path) => Err(RemoteFault::Twice { path }),
        None => Ok(files),
    }
}

fn file_of(folder: &str, file: &OfferedFile) -> Result<RemoteFile, RemoteFault> {
    let OfferedFile { uri, digest, size } = file.clone();
    let Some(path) = address::path_in(folder, &uri) else {
        return Err(RemoteFault::Outside { uri });
    };
    let digits = digest.strip_prefix("sha256:").filter(|it| !it.contains(char::is_uppercase));
    match digits.and_then(Digest::from_hex) {
        Some(digest) => Ok(RemoteFile { path, uri, digest, size }),
        None => Err(RemoteFault::Digest { path }),
    }
}

/// A path that stands twice, or is both a file and a folder.
fn clash(files: &[RemoteFile]) -> Option<String> {
    let mut paths = BTreeSet::new();
    let twice = files.iter().find(|file| !paths.insert(file.path.as_str()));
    let folders = |path: &str| -> bool {
        path.match_indices('/').any(|(end, _)| paths.contains(&path[..end]))
    };
    let is_below_file = || files.iter().find(|file| folders(&file.path));
    twice.or_else(is_below_file).map(|file| file.path.clone())
}
