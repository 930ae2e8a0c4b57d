//! A home, a working directory and a `PATH` that belong to one test.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A place where nothing of the machine shows: every variable is the test's own.
#[derive(Debug)]
pub struct TestEnv {
    root: TempDir,
    /// The binary, with what comes before it.
    words: Vec<PathBuf>,
    variables: Vec<(String, String)>,
}

/// What a run of the binary gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code, or -1 after a signal.
    pub code: i32,
    /// Standard output, with the paths of the test replaced by words.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "exit {}\n----- stdout\n{}\n----- stderr\n{}",
            self.code,
            indented(self.stdout.trim_end()),
            self.stderr.trim_end()
        )
    }
}

/// JSON on one line is hard to review, so it is shown on several.
fn indented(text: &str) -> String {
    let is_line = text.starts_with(['{', '[']) && !text.contains('\n');
    let value = is_line.then(|| serde_json::from_str::<serde_json::Value>(text).ok()).flatten();
    value.map_or_else(|| text.to_owned(), |value| format!("{value:#}"))
}

impl TestEnv {
    /// An empty home and an empty project for a binary.
    pub fn new(binary: &str) -> Self {
        let root = TempDir::new().expect("a temporary folder");
        for folder in ["home", "project", "bin"] {
            fs::create_dir(root.path().join(folder)).expect("a folder in it");
        }
        Self { root, words: vec![binary.into()], variables: Vec::new() }
    }

    /// The binary.
    pub fn binary(&self) -> &Path {
        self.words.last().expect("there is always the binary")
    }

    /// The folder everything is in, with links resolved.
    pub fn root(&self) -> PathBuf {
        self.root.path().canonicalize().expect("the folder is there")
    }

    /// The home directory.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The working directory.
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// Sets a variable for every run.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Runs the binary through another program, which takes it as its last argument.
    #[must_use]
    pub fn through(mut self, program: &[&str]) -> Self {
        self.words.splice(0..0, program.iter().map(PathBuf::from));
        self
    }

    /// Writes a file, and the folders above it. Relative paths start at the folder of the test.
    pub fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("its folder");
        fs::write(&path, text).expect("its content");
        // Settings and databases may hold keys, and metier warns of keys that others can read.
        let may_hold_keys = [".metier/config.toml", ".metier/metier.db"];
        if may_hold_keys.iter().any(|it| path.ends_with(it)) {
            let owner_only = fs::Permissions::from_mode(0o600);
            fs::set_permissions(&path, owner_only).expect("a file of ours");
        }
        path
    }

    /// Writes `<folder>/<name>/SKILL.md` with a header and a short body.
    pub fn skill(&self, folder: impl AsRef<Path>, name: &str, description: &str) -> PathBuf {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n");
        let file = self.write(folder.as_ref().join(name).join("SKILL.md"), text);
        file.parent().expect("a file has a folder").to_owned()
    }

    /// Puts a program that does nothing on the `PATH` of the person; runs do not see it.
    pub fn program(&self, name: &str) -> PathBuf {
        self.program_in("bin", name)
    }

    /// Puts a program that does nothing where `install-deps` links those of the skill with this folder of tools.
    pub fn tool(&self, folder: &str, name: &str) -> PathBuf {
        self.program_in(&format!("home/.metier/tools/{folder}/.bin"), name)
    }

    fn program_in(&self, folder: &str, name: &str) -> PathBuf {
        let path = self.write(Path::new(folder).join(name), "#!/bin/sh\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its mode");
        path
    }

    /// Runs the binary with some arguments in the project.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Outcome {
        self.run_in(&self.project(), arguments, "")
    }

    /// Runs the binary in a folder, with some text on standard input.
    pub fn run_in<A: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = A>,
        input: &str,
    ) -> Outcome {
        let mut command = self.command(&self.words[0]);
        command.args(&self.words[1..]).args(arguments).current_dir(folder);
        self.finish(command, input)
    }

    /// A program that starts in the project with the variables of this place, and with no others.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", self.root().join("bin"))
            .env("METIER_HOME", self.home().join(".metier"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command to its end, with something on standard input.
    pub fn finish(&self, mut command: Command, input: impl AsRef<[u8]>) -> Outcome {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        let _closed_early = stdin.write_all(input.as_ref());
        drop(stdin);
        let output = child.wait_with_output().expect("the command ends");
        Outcome {
            code: output.status.code().unwrap_or(-1),
            stdout: self.without_paths(&output.stdout),
            stderr: self.without_paths(&output.stderr),
        }
    }

    /// Output with the folders of this test replaced by `[HOME]`, `[PROJECT]` and `[ROOT]`.
    pub fn without_paths(&self, bytes: &[u8]) -> String {
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        for (path, word) in
            [(self.home(), "[HOME]"), (self.project(), "[PROJECT]"), (self.root(), "[ROOT]")]
        {
            text = text.replace(&*path.to_string_lossy(), word);
        }
        text
    }
}
