//! Embeds the skills of `skills/` in the binary.
#![expect(
    clippy::disallowed_methods,
    reason = "a build script is told where to write by variables"
)]

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What tools leave behind in a folder of skills.
const LEFT_OUT: [&str; 2] = ["__pycache__", ".DS_Store"];

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let skills = manifest.join("../../skills").canonicalize()?;
    println!("cargo:rerun-if-changed={}", skills.display());
    let mut code = String::from("&[\n");
    for folder in sorted(&skills)?.iter().filter(|path| path.join("SKILL.md").is_file()) {
        let name = file_name(folder);
        let mut files = Vec::new();
        collect(folder, folder, &mut files)?;
        writeln!(code, "BundledSkill {{ folder: {name:?}, files: &[").map_err(io::Error::other)?;
        for (path, file) in files {
            let executable = fs::metadata(&file)?.permissions().mode() & 0o100 != 0;
            let source = file.display().to_string();
            writeln!(
                code,
                "BundledFile {{ path: {path:?}, bytes: include_bytes!({source:?}), executable: {executable} }},"
            )
            .map_err(io::Error::other)?;
        }
        code.push_str("] },\n");
    }
    code.push(']');
    let out = PathBuf::from(std::env::var("OUT_DIR").map_err(io::Error::other)?);
    fs::write(out.join("bundled.rs"), code)
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for path in sorted(folder)? {
        if LEFT_OUT.contains(&file_name(&path).as_str()) {
            continue;
        }
        println!("cargo:rerun-if-changed={}", path.display());
        if path.is_dir() {
            collect(root, &path, files)?;
        } else {
            let relative = path.strip_prefix(root).map_err(io::Error::other)?;
            files.push((relative.to_string_lossy().into_owned(), path.clone()));
        }
    }
    Ok(())
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|it| it.path())).collect::<Result<_, _>>()?;
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
