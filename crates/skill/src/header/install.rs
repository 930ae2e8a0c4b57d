//! Ways to install what a skill needs: `metadata.*.install[]`.
//!
//! An option is taken whole or not at all. One with a field that cannot be read, or could be taken
//! for something else, is refused; the rest of the skill stands, and the refusal is kept beside the
//! options that were taken.

use serde::{Deserialize, Serialize};

use crate::archive::Format;
use crate::diagnostic::{Code, Diagnostic};
use crate::header::requirements::{Entries, Read, get, list, object, switch, text, unreadable};
use crate::header::targets;
use crate::header::yaml::{Kind, Node};

/// Most options of a skill.
const MAX_OPTIONS: usize = 32;
/// Most programs that one option brings.
const MAX_BINS: usize = 64;
/// Most characters of a label.
const MAX_LABEL: usize = 200;
/// Most leading folders that are left out of an archive.
const MAX_STRIP: usize = 16;
/// The fields there are.
const FIELDS: [&str; 16] = [
    "archive",
    "bins",
    "cask",
    "extract",
    "formula",
    "id",
    "kind",
    "label",
    "module",
    "os",
    "package",
    "sha256",
    "stripComponents",
    "targetDir",
    "type",
    "url",
];

/// One way to install what a skill needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallOption {
    /// Names the option on the command line.
    pub id: String,
    /// The package manager.
    pub kind: InstallKind,
    /// What people read.
    pub label: Option<String>,
    /// The package, formula, cask, module or address.
    pub target: String,
    /// Programs it brings.
    pub bins: Vec<String>,
    /// Systems it is for; any when empty.
    pub os: Vec<String>,
    /// Whether the target is a cask of Homebrew.
    pub is_cask: bool,
    /// What to do with a download.
    pub download: Option<DownloadOption>,
}

/// What an option says of a download.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownloadOption {
    /// Its digest, in lowercase.
    pub sha256: Option<String>,
    /// How it is packed; not at all if it is put down as it is.
    pub archive: Option<ArchiveKind>,
    /// Leading folders that are left out.
    pub strip: usize,
    /// Where it goes, below the skill's folder of tools.
    pub folder: Option<String>,
    /// What it is called when it is put down as it is.
    pub file: String,
}

/// How a download is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArchiveKind {
    /// `zip`.
    Zip,
    /// `tar`.
    Tar,
    /// `tar.gz` or `tgz`.
    TarGz,
}

impl ArchiveKind {
    /// How a file of this kind ends.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Zip => ".zip",
            Self::Tar => ".tar",
            Self::TarGz => ".tar.gz",
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        match Format::of_name(name)? {
            Format::Zip => Some(Self::Zip),
            Format::Tar => Some(Self::Tar),
            Format::TarGz => Some(Self::TarGz),
            _ => None,
        }
    }
}

/// An option that is not offered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RefusedOption {
    /// Its id, or its place in the list.
    pub id: String,
    /// Why not.
    pub reason: String,
}

/// A package manager, or a plain download.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants are the names of the managers")]
pub enum InstallKind {
    Apt,
    Brew,
    Cargo,
    Download,
    Go,
    Node,
    Pip,
    Uv,
}

impl InstallKind {
    const ALL: [(&'static str, Self, &'static [&'static str]); 8] = [
        ("apt", Self::Apt, &["package"]),
        ("brew", Self::Brew, &["formula", "cask"]),
        ("cargo", Self::Cargo, &["package"]),
        ("download", Self::Download, &["url"]),
        ("go", Self::Go, &["module"]),
        ("node", Self::Node, &["package"]),
        ("pip", Self::Pip, &["package"]),
        ("uv", Self::Uv, &["package"]),
    ];

    /// The name in `install[].kind`.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind, _)| *kind == self).map_or("", |(name, ..)| name)
    }

    /// Whether a target is written in the narrow grammar its manager needs.
    fn accepts(self, target: &str) -> bool {
        match self {
            Self::Apt => targets::is_debian_package(target),
            Self::Brew => targets::is_formula(target),
            Self::Cargo => targets::is_crate(target),
            Self::Download => targets::is_url(target),
            Self::Go => targets::is_go_module(target),
            Self::Node => targets::is_node_package(target),
            Self::Pip | Self::Uv => targets::is_python_package(target),
        }
    }
}

/// The options of a skill, and those that are refused.
pub(super) fn read_options(
    node: &Node,
    diagnostics: &mut Vec<Diagnostic>,
) -> Read<(Vec<InstallOption>, Vec<RefusedOption>)> {
    let Kind::Sequence(items) = &node.kind else {
        return Err(unreadable(node, "`install` is not a list"));
    };
    let (mut options, mut refused): (Vec<InstallOption>, Vec<RefusedOption>) = Default::default();
    for (index, item) in items.iter().enumerate() {
        let option = if index < MAX_OPTIONS {
            read_option(index, item, &options)
        } else {
            Err(unreadable(item, &format!("there are more than {MAX_OPTIONS} options")))
        };
        match option {
            Ok(option) => {
                note_unknown(item, diagnostics);
                options.push(option);
            }
            Err(why) => {
                diagnostics.push(
                    Diagnostic::new(
                        Code::InstallRefused,
                        why.span,
                        format!("this install option is not offered: {}", why.reason),
                    )
                    .help("an option has a `kind`, its package and the `bins` it brings"),
                );
                refused.push(RefusedOption { id: id_of(index, item), reason: why.reason });
            }
        }
        if index == MAX_OPTIONS {
            break;
        }
    }
    Ok((options, refused))
}

/// How an option is called that cannot be read as a whole.
fn id_of(index: usize, node: &Node) -> String {
    let named = object(node, "").ok().and_then(|entries| text(&entries, "id").ok().flatten());
    named.filter(|id| targets::is_id(id)).unwrap_or_else(|| format!("#{}", index + 1))
}

fn note_unknown(node: &Node, diagnostics: &mut Vec<Diagnostic>) {
    let Ok(entries) = object(node, "") else { return };
    for (key, _) in entries.iter() {
        let name = key.as_text();
        if !FIELDS.contains(&&*name) {
            let message = format!("`install[].{name}` is not a field of install options");
            diagnostics.push(Diagnostic::new(Code::UnknownField, key.span, message));
        }
    }
}

fn read_option(index: usize, node: &Node, before: &[InstallOption]) -> Read<InstallOption> {
    let entries = object(node, "an install option")?;
    let name = match text(&entries, "kind")? {
        Some(kind) => kind,
        None => text(&entries, "type")?.unwrap_or_default(),
    };
    let Some(&(name, kind, keys)) = InstallKind::ALL.iter().find(|(known, ..)| *known == name)
    else {
        return Err(unreadable(node, &format!("`{name}` is not a kind of installer")));
    };
    let mut target = None;
    for key in keys {
        target = target.or(text(&entries, key)?.map(|target| (*key, target)));
    }
    let Some((key, target)) = target else {
        return Err(unreadable(node, &format!("`{}` is missing", keys[0])));
    };
    if !kind.accepts(&target) {
        let place = get(&entries, key).unwrap_or(node);
        return Err(unreadable(place, &format!("`{target}` is not a target for `{name}`")));
    }
    let option = InstallOption {
        id: text(&entries, "id")?.unwrap_or_else(|| format!("{name}-{index}")),
        kind,
        label: text(&entries, "label")?,
        bins: list(&entries, "bins")?,
        os: list(&entries, "os")?,
        is_cask: key == "cask",
        download: None,
        target,
    };
    check(&entries, node, &option, before)?;
    let download = match kind {
        InstallKind::Download => Some(read_download(&entries, node, &option)?),
        _ => None,
    };
    let option = InstallOption { download, ..option };
    if let Some(other) = before.iter().find(|other| option.is_in_the_way_of(other)) {
        let reason = format!("it would go to the folder of the option `{}`", other.id);
        return Err(unreadable(get(&entries, "targetDir").unwrap_or(node), &reason));
    }
    Ok(option)
}

impl InstallOption {
    /// Where it goes, below the skill's folder of tools.
    pub fn folder(&self) -> &str {
        let named = self.download.as_ref().and_then(|download| download.folder.as_deref());
        named.unwrap_or(&self.id)
    }

    /// Whether installing one would replace the other on some system.
    fn is_in_the_way_of(&self, other: &Self) -> bool {
        let (one, two) = (format!("{}/", self.folder()), format!("{}/", other.folder()));
        let is_apart = |it: &Self| matches!(it.kind, InstallKind::Apt | InstallKind::Brew);
        (one.starts_with(&two) || two.starts_with(&one))
            && !is_apart(self)
            && !is_apart(other)
            && (self.os.is_empty()
                || other.os.is_empty()
                || self.os.iter().any(|os| other.os.contains(os)))
    }
}

/// Checks what options of every kind have.
fn check(
    entries: &Entries,
    node: &Node,
    option: &InstallOption,
    before: &[InstallOption],
) -> Read<()> {
    let at = |name: &str, reason: &str| unreadable(get(entries, name).unwrap_or(node), reason);
    let InstallOption { id, label, bins, .. } = option;
    if !targets::is_id(id) {
        return Err(at("id", &format!("`{id}` is not an id")));
    }
    if before.iter().any(|other| other.id == *id) {
        return Err(at("id", &format!("another option has the id `{id}`")));
    }
    if label.as_ref().is_some_and(|label| label.chars().count() > MAX_LABEL) {
        return Err(at("label", &format!("`label` has more than {MAX_LABEL} characters")));
    }
    if let Some(bin) = bins.iter().find(|bin| !targets::is_program(bin)) {
        return Err(at("bins", &format!("`{bin}` is not the name of a program")));
    }
    if bins.len() > MAX_BINS {
        return Err(at("bins", &format!("there are more than {MAX_BINS} programs")));
    }
    Ok(())
}

fn read_download(entries: &Entries, node: &Node, option: &InstallOption) -> Read<DownloadOption> {
    let at = |name: &str, reason: &str| unreadable(get(entries, name).unwrap_or(node), reason);
    let sha256 = text(entries, "sha256")?.map(|digest| digest.to_ascii_lowercase());
    let is_digest =
        |digest: &String| digest.len() == 64 && digest.bytes().all(|it| it.is_ascii_hexdigit());
    if sha256.as_ref().is_some_and(|digest| !is_digest(digest)) {
        return Err(at("sha256", "`sha256` is not a digest"));
    }
    let url = &option.target;
    if sha256.is_none() && !url.starts_with("https://") {
        return Err(at(
            "url",
            "a download over `http` needs a `sha256`: anybody on its way can change it",
        ));
    }
    let extract = match text(entries, "extract")? {
        None => None,
        Some(word) => match switch(&word) {
            None => return Err(at("extract", "`extract` is not a switch")),
            known => known,
        },
    };
    let named = match text(entries, "archive")? {
        None => None,
        Some(word) => match ArchiveKind::of_name(&format!("x.{word}")) {
            None => {
                let reason = format!("`{word}` is not `zip`, `tar` or `tar.gz`");
                return Err(at("archive", &reason));
            }
            known => known,
        },
    };
    let path = url.split('?').next().unwrap_or_default();
    let archive = match extract {
        Some(false) => None,
        _ => named.or_else(|| ArchiveKind::of_name(path)),
    };
    if extract == Some(true) && archive.is_none() {
        return Err(at("extract", "it is not said what kind of `archive` to extract"));
    }
    let strip = match text(entries, "stripComponents")? {
        None => 0,
        Some(word) => match word.parse() {
            Ok(count) if count <= MAX_STRIP => count,
            _ => {
                let reason = format!("`stripComponents` is not a number up to {MAX_STRIP}");
                return Err(at("stripComponents", &reason));
            }
        },
    };
    let folder = text(entries, "targetDir")?;
    if let Some(folder) = folder.as_ref().filter(|folder| !targets::is_folder(folder)) {
        let reason = format!("`{folder}` is not a folder below that of the skill's tools");
        return Err(at("targetDir", &reason));
    }
    let file = match (&option.bins[..], targets::file_name(url)) {
        ([bin], _) => bin.clone(),
        (_, Some(name)) => name.to_owned(),
        _ if archive.is_some() => String::new(),
        _ => return Err(at("url", "the address does not say what the file is called")),
    };
    Ok(DownloadOption { sha256, archive, strip, folder, file })
}
