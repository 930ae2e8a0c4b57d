//! Builds the program, and lets it write its own manual and completions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};

use super::contents::Completions;
use crate::docs;
use crate::project::{Project, output, shown};

/// What goes with the program from the root of the repository.
const DOCUMENTS: [&str; 5] =
    ["README.md", "CHANGELOG.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];

/// The target that the compiler chooses by itself.
pub(super) fn host(project: &Project) -> Result<String> {
    let mut rustc = project.command("rustc");
    rustc.arg("-vV");
    let about = output(rustc)?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` tells no host")?.to_owned())
}

/// Builds the program and says where it is.
///
/// Names of folders on this machine are in no message of it: the sources are at `/metier`, those of
/// others at `/cargo`.
pub(super) fn program(project: &Project, target: &str, profile: &str) -> Result<PathBuf> {
    let mut command =
        project.cargo("build --locked --package metier --message-format json-render-diagnostics");
    command.args(["--profile", profile, "--target", target]);
    let from = [(cargo_home(project), "/cargo"), (project.file("").into(), "/metier")];
    let places = from.iter().filter_map(|(from, to)| Some((from.as_ref()?, to)));
    let places: Vec<String> =
        places.map(|(from, to)| format!("{}={to}", trimmed(from).display())).collect();
    let inherited = |name: &str| {
        let value = project.variable(name).unwrap_or_default().to_string_lossy().into_owned();
        value.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let with = |name: &str, flag: &str, between: &str| {
        let ours = places.iter().map(|place| format!("{flag}={place}"));
        inherited(name).into_iter().chain(ours).collect::<Vec<_>>().join(between)
    };
    // Of what is compiled here some is written in C.
    command.env("CARGO_ENCODED_RUSTFLAGS", with("RUSTFLAGS", "--remap-path-prefix", "\x1f"));
    command.env("CFLAGS", with("CFLAGS", "-ffile-prefix-map", " "));
    println!("$ {}", shown(&command));
    let built = command.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !built.status.success() {
        bail!(
            "the program cannot be built for `{target}`; is the target installed \
             (`rustup target add {target}`), and for musl the C compiler `musl-gcc`?"
        );
    }
    let messages = String::from_utf8_lossy(&built.stdout);
    docs::executable(&messages).map(PathBuf::from).context("cargo built no program `metier`")
}

fn cargo_home(project: &Project) -> Option<PathBuf> {
    let home = || Some(Path::new(&project.variable("HOME")?).join(".cargo"));
    project.variable("CARGO_HOME").map(PathBuf::from).or_else(home)
}

/// A folder without a separator at its end, as it stands in messages.
fn trimmed(folder: &Path) -> PathBuf {
    folder.components().collect()
}

/// The pages of the manual that the program writes, sorted by name.
pub(super) fn manual(project: &Project, program: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let folder = tempfile::tempdir()?;
    let mut command = asking(project, program, folder.path());
    let pages = folder.path().join("pages");
    fs::create_dir(&pages)?;
    command.args(["man", "--dir"]).arg(&pages);
    output(command)?;
    let mut manual = Vec::new();
    for entry in fs::read_dir(&pages)? {
        let file = entry?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        ensure!(name.ends_with(".1"), "`metier man` wrote `{name}`, which is no page of section 1");
        manual.push((name, fs::read(&file)?));
    }
    manual.sort();
    ensure!(
        manual.iter().any(|(name, _)| name == "metier.1"),
        "`metier man` wrote no page about `metier` itself"
    );
    Ok(manual)
}

/// The scripts that the program writes for shells.
pub(super) fn completions(project: &Project, program: &Path) -> Result<Completions> {
    let folder = tempfile::tempdir()?;
    let script = |shell: &str| {
        let mut command = asking(project, program, folder.path());
        command.args(["completions", shell]);
        let script = output(command)?;
        ensure!(script.contains("metier"), "`metier completions {shell}` printed no script");
        Ok(script.into_bytes())
    };
    Ok(Completions { bash: script("bash")?, zsh: script("zsh")?, fish: script("fish")? })
}

/// The program, with nothing of whoever builds it: no settings, no width of a terminal.
fn asking(project: &Project, program: &Path, home: &Path) -> std::process::Command {
    let mut command = project.command(program);
    command.env_clear().env("METIER_HOME", home).env("HOME", home).current_dir(home);
    command
}

/// The files of the repository that go with the program.
pub(super) fn documents(project: &Project) -> Result<Vec<(String, Vec<u8>)>> {
    let read = |name: &str| {
        let text = fs::read(project.file(name)).with_context(|| format!("cannot read `{name}`"))?;
        Ok((name.to_owned(), text))
    };
    DOCUMENTS.into_iter().map(read).collect()
}
