//! The settings of a profile that are compared, and a binary built with them.
//!
//! Each variant is a profile of its own, handed to cargo as configuration, so that the manifest stays as it is.
//! It says everything that it is about, for the crates that the profile `release` treats apart as well.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

/// Settings of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    /// `opt-level`.
    pub(crate) level: Level,
    /// `lto`.
    pub(crate) lto: &'static str,
    /// `codegen-units`.
    pub(crate) units: u32,
    /// `panic`.
    pub(crate) panic: &'static str,
}

/// How much is optimised, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// For speed.
    Speed(u32),
    /// For size.
    Size,
}

impl Level {
    /// As it stands in a manifest.
    pub(crate) fn shown(self) -> String {
        match self {
            Self::Speed(level) => level.to_string(),
            Self::Size => "\"s\"".to_owned(),
        }
    }
}

/// What `dist` was before anything was measured; others differ from it in one thing, the last two in several.
const BASE: Variant =
    Variant { name: "base", level: Level::Speed(3), lto: "thin", units: 4, panic: "unwind" };
pub(crate) const VARIANTS: [Variant; 10] = [
    BASE,
    Variant { name: "level-2", level: Level::Speed(2), ..BASE },
    Variant { name: "level-s", level: Level::Size, ..BASE },
    Variant { name: "lto-off", lto: "off", ..BASE },
    Variant { name: "lto-fat", lto: "fat", ..BASE },
    Variant { name: "units-1", units: 1, ..BASE },
    Variant { name: "units-16", units: 16, ..BASE },
    Variant { name: "abort", panic: "abort", ..BASE },
    Variant { name: "fastest", lto: "fat", units: 1, ..BASE },
    Variant { name: "smallest", level: Level::Size, lto: "fat", units: 1, ..BASE },
];

/// A binary that was built.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) variant: Variant,
    pub(crate) binary: PathBuf,
    pub(crate) bytes: u64,
    /// Seconds that building it took, everything included.
    pub(crate) seconds: f64,
}

impl Variant {
    /// The profile as configuration of cargo. `apart` are the packages that are not built like the rest.
    pub(crate) fn configuration(&self, apart: &[String]) -> String {
        let Self { name, lto, units, panic, .. } = self;
        let level = self.level.shown();
        let own = format!("opt-level = {level}\ncodegen-units = {units}\n");
        let packages: String =
            apart.iter().map(|it| format!("\n[profile.{name}.package.{it}]\n{own}")).collect();
        format!(
            "[profile.{name}]\ninherits = \"release\"\n{own}lto = \"{lto}\"\npanic = \"{panic}\"\n\
             strip = true\n{packages}"
        )
    }

    /// Builds from nothing and keeps the binary alone; one that was kept is not built again.
    pub(crate) fn build(
        self,
        folder: &Path,
        apart: &[String],
        build: impl FnOnce(&[OsString]) -> Result<PathBuf>,
    ) -> Result<Built> {
        fs::create_dir_all(folder)?;
        let (binary, time) =
            (folder.join(self.name), folder.join(format!("{}.seconds", self.name)));
        if !time.is_file() {
            let work = tempfile::tempdir_in(folder)?;
            let configuration = work.path().join("profile.toml");
            fs::write(&configuration, self.configuration(apart))?;
            let start = Instant::now();
            let built = build(&[
                "--profile".into(),
                self.name.into(),
                "--config".into(),
                configuration.into(),
                "--target-dir".into(),
                work.path().into(),
            ])?;
            let seconds = start.elapsed().as_secs_f64();
            fs::copy(built, &binary).with_context(|| format!("cannot keep `{}`", self.name))?;
            fs::write(&time, format!("{seconds:.1}\n"))?;
        }
        let seconds = fs::read_to_string(&time)?.trim().parse().context("no number of seconds")?;
        let bytes = fs::metadata(&binary)?.len();
        Ok(Built { variant: self, binary, bytes, seconds })
    }
}

/// The packages that a profile of a manifest treats apart.
pub(crate) fn apart(manifest: &str, profile: &str) -> Result<Vec<String>> {
    let manifest: toml::Table = manifest.parse().context("the manifest is not TOML")?;
    let packages = manifest
        .get("profile")
        .and_then(|profiles| profiles.get(profile)?.get("package")?.as_table());
    Ok(packages.map(|packages| packages.keys().cloned().collect()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::build_any;

    #[test]
    fn a_variant_says_everything_for_packages_that_are_treated_apart_too() {
        let manifest = "[profile.release.package]\nserde = { opt-level = 1 }\n";
        let apart = apart(manifest, "release").unwrap();
        let smallest = VARIANTS[9];
        insta::assert_snapshot!(smallest.configuration(&apart), @r#"
        [profile.smallest]
        inherits = "release"
        opt-level = "s"
        codegen-units = 1
        lto = "fat"
        panic = "unwind"
        strip = true

        [profile.smallest.package.serde]
        opt-level = "s"
        codegen-units = 1
        "#);
    }

    #[test]
    fn no_two_variants_share_a_name_or_are_the_same() {
        for (at, one) in VARIANTS.iter().enumerate() {
            for other in &VARIANTS[at + 1..] {
                assert_ne!(one.name, other.name);
                assert_ne!(*one, Variant { name: one.name, ..*other });
            }
        }
    }

    /// A program so small that building it takes a moment; whether it unwinds can be seen from outside.
    #[test]
    fn cargo_builds_what_a_variant_says_and_does_so_once() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("Cargo.toml");
        let text =
            "[package]\nname = \"tiny\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
        fs::write(&manifest, text).unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        let source =
            "fn main() { assert!(cfg!(panic = \"abort\")); assert!(!cfg!(debug_assertions)); }";
        fs::write(folder.path().join("src/main.rs"), source).unwrap();
        let kept = folder.path().join("kept");
        let abort = *VARIANTS.iter().find(|it| it.panic == "abort").unwrap();
        let build = |arguments: &[OsString]| {
            let fixed = ["--quiet".into(), "--manifest-path".into(), manifest.clone().into()];
            build_any(&[&fixed[..], arguments].concat())
        };
        let built = abort.build(&kept, &[], build).unwrap();
        crate::process::measure(&mut crate::process::program(&built.binary)).unwrap();
        assert!(built.bytes > 0 && built.seconds > 0.0, "{built:?}");
        let again = abort.build(&kept, &[], |_| panic!("it is there")).unwrap();
        assert_eq!((again.bytes, again.variant), (built.bytes, abort));
        // Nothing but the binary and its time is left.
        assert_eq!(fs::read_dir(&kept).unwrap().count(), 2);
    }
}
