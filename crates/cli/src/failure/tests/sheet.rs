//! The sheet on which errors are shown, and the failures that cannot be made up: they are provoked.

use std::any::type_name;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::super::Failure;
use super::sources::Variant;
use crate::output::plain;

/// What is shown, by crate and type in the order of the alphabet, by variant in the order it was added.
#[derive(Default)]
pub(super) struct Sheet {
    kinds: BTreeMap<(String, String), Vec<(String, String)>>,
}

impl Sheet {
    /// Shows an error as it is told.
    pub(super) fn show<E: Error>(&mut self, error: E, tell: impl FnOnce(E) -> Failure) {
        let variant = named(&error);
        let failure = tell(error);
        self.add(variant, &failure, "error");
    }

    /// Shows an error that is part of another one.
    pub(super) fn inside<E: Error>(&mut self, error: &E, failure: &Failure) {
        self.add(named(error), failure, "error");
    }

    /// Shows an error that stops nothing.
    pub(super) fn warn<E: Error>(&mut self, error: &E) {
        self.warn_with(error, error);
    }

    /// Shows an error that is part of another one that stops nothing.
    pub(super) fn warn_with<E: Error>(&mut self, error: &E, whole: &dyn Error) {
        self.add(named(error), &Failure::brief(whole), "warning");
    }

    /// Shows an error that is noted in these words.
    pub(super) fn note<E: Error>(&mut self, error: &E, words: &str) {
        self.add(named(error), &Failure::new(words), "warning");
    }

    fn add(&mut self, variant: Variant, failure: &Failure, word: &str) {
        let Variant { of, kind, name } = variant;
        let failure = &failure.clone().naming(Path::new("/home/ada/.metier/config.toml"));
        let code = if word == "error" {
            format!(" (exit code {})", failure.code())
        } else {
            String::new()
        };
        let mut text = format!("{name}{code}\n    {word}: {}\n", plain(&failure.to_string()));
        if let Some(hint) = failure.remedy() {
            text.push_str(&format!("    hint: {}\n", plain(hint)));
        }
        self.kinds.entry((of, kind)).or_default().push((name, text));
    }

    /// Everything, as text.
    pub(super) fn render(&self) -> String {
        let mut text = String::new();
        for ((of, kind), shown) in &self.kinds {
            text.push_str(&format!("## {of}: {kind}\n\n"));
            shown.iter().for_each(|(_, entry)| text.push_str(entry));
            text.push('\n');
        }
        text
    }

    /// What is shown.
    pub(super) fn names(&self) -> BTreeSet<Variant> {
        let each = self.kinds.iter().flat_map(|((of, kind), shown)| {
            shown.iter().map(|(name, _)| Variant {
                of: of.clone(),
                kind: kind.clone(),
                name: name.clone(),
            })
        });
        each.collect()
    }
}

/// The crate and the type as the compiler says, the variant as `Debug` says.
fn named<E: Error>(error: &E) -> Variant {
    let path = type_name::<E>();
    let of = path.split("::").next().unwrap_or_default();
    let of = of.strip_prefix("metier_").unwrap_or(if of == "metier" { "cli" } else { of });
    let kind = path.rsplit("::").next().unwrap_or_default();
    let debug = format!("{error:?}");
    let name: String = debug.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
    Variant { of: of.to_owned(), kind: kind.to_owned(), name }
}

/// What a system says.
pub(super) fn system(kind: ErrorKind) -> io::Error {
    io::Error::from_raw_os_error(match kind {
        ErrorKind::NotFound => 2,
        ErrorKind::PermissionDenied => 13,
        ErrorKind::StorageFull => 28,
        ErrorKind::ReadOnlyFilesystem => 30,
        ErrorKind::ConnectionRefused => 111,
        ErrorKind::AddrInUse => 98,
        _ => 5,
    })
}
