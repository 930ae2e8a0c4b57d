//! Puts on a machine what the steps need, so that none is skipped.
//!
//! What is needed is a table, each line with its reason. What is already there
//! is left alone, so a second run costs nothing. Debian packages need root and
//! are for machines that run nothing else; what comes from the registries of crates
//! and of npm goes below `target/`, where it disturbs nobody.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::node;
use crate::project::{Project, output, shown};

/// Something that has to be on the machine.
struct Need {
    /// The package in its source's words.
    package: &'static str,
    /// Who needs it.
    reason: &'static str,
    source: Source,
}

/// Where a package comes from.
enum Source {
    /// Debian's packages; the sign tells whether it is there.
    Debian(Sign),
    /// The crates registry: a program of the same name, in exactly this version.
    Crate { version: &'static str },
    /// The npm registry: everything in the list that has this name.
    Npm,
}

/// How to tell that a Debian package is there.
enum Sign {
    /// This program is, whatever it came from.
    Program(&'static str),
    /// This file is.
    File(&'static str),
    /// Debian says so, because another package has a program of the same name that will not do.
    Installed,
}

const NEEDS: &[Need] = &[
    Need {
        package: "python3",
        reason: "runs scripts of skills, and their tests",
        source: Source::Debian(Sign::Program("python3")),
    },
    Need {
        package: "dash",
        reason: "the shell that commands are written for",
        source: Source::Debian(Sign::Program("dash")),
    },
    Need {
        package: "mawk",
        reason: "an `awk` beside busybox's, for commands that use one",
        source: Source::Debian(Sign::Program("mawk")),
    },
    Need {
        package: "busybox-static",
        reason: "one static file with many programs, for tests in an empty root",
        source: Source::Debian(Sign::Installed),
    },
    Need {
        package: "docker.io",
        reason: "a container engine for tests",
        source: Source::Debian(Sign::Program("dockerd")),
    },
    Need {
        package: "podman",
        reason: "another one, which speaks the same API and differs in details",
        source: Source::Debian(Sign::Program("podman")),
    },
    Need {
        package: "runc",
        reason: "starts containers for both",
        source: Source::Debian(Sign::Program("runc")),
    },
    Need {
        package: "conmon",
        reason: "watches the containers of Podman",
        source: Source::Debian(Sign::Program("conmon")),
    },
    Need {
        package: "catatonit",
        reason: "the first process of a container that asks Podman for one",
        source: Source::Debian(Sign::Program("catatonit")),
    },
    Need {
        package: "netavark",
        reason: "Podman looks for it even if no container has a network",
        source: Source::Debian(Sign::File("/usr/lib/podman/netavark")),
    },
    Need {
        package: "git",
        reason: "a program that approvals know well, run for real",
        source: Source::Debian(Sign::Program("git")),
    },
    Need {
        package: "curl",
        reason: "another one, whose arguments may have secrets",
        source: Source::Debian(Sign::Program("curl")),
    },
    Need {
        package: "g++",
        reason: "compiles the library of the fuzz targets",
        source: Source::Debian(Sign::Program("g++")),
    },
    Need {
        package: "strace",
        reason: "tells which programs the kernel really started, beside what a plan says",
        source: Source::Debian(Sign::Program("strace")),
    },
    Need {
        package: "zsh",
        reason: "completes command lines with our script, in a test",
        source: Source::Debian(Sign::Program("zsh")),
    },
    Need { package: "fish", reason: "the same", source: Source::Debian(Sign::Program("fish")) },
    Need {
        package: "groff",
        reason: "reads our manual pages, in a test",
        source: Source::Debian(Sign::Program("groff")),
    },
    Need {
        package: "openssl",
        reason: "makes the certificates of a server that tests ask over TLS",
        source: Source::Debian(Sign::Program("openssl")),
    },
    Need {
        package: "ca-certificates",
        reason: "the roots that TLS connections are checked against",
        source: Source::Debian(Sign::File("/etc/ssl/certs/ca-certificates.crt")),
    },
    Need { package: "nodejs", reason: "runs npm", source: Source::Debian(Sign::Program("node")) },
    Need {
        package: "npm",
        reason: "installs what is in `xtask/node`",
        source: Source::Debian(Sign::Program("npm")),
    },
    Need {
        package: "chromium",
        reason: "shows web pages to the checks of them",
        source: Source::Debian(Sign::Program("chromium")),
    },
    Need {
        package: "xtask/node",
        reason: "the conformance suite and the Inspector of MCP, an agent that uses it, a driver of browsers",
        source: Source::Npm,
    },
    Need {
        package: "cargo-deny",
        reason: "the step `deny`",
        source: Source::Crate { version: "0.20.2" },
    },
];

/// Installs what is missing.
pub(crate) fn run(project: &Project) -> Result<()> {
    let missing = missing(project, answer);
    for need in &missing {
        println!("missing: {} ({})", need.package, need.reason);
    }
    let debian = debian_packages(&missing);
    if !debian.is_empty() {
        install_debian(project, &debian)?;
    }
    for need in &missing {
        match need.source {
            Source::Debian(_) => {}
            Source::Crate { version } => install_crate(project, need.package, version)?,
            Source::Npm => node::installations(project)?.into_iter().try_for_each(succeed)?,
        }
    }
    let still = self::missing(project, answer);
    if !still.is_empty() {
        let still = still.iter().map(|need| need.package).collect::<Vec<_>>();
        bail!("installed, but still not found: {}", still.join(", "));
    }
    Ok(())
}

/// What is not there. How a program is asked is left to the caller.
fn missing(project: &Project, ask: fn(Command) -> Option<String>) -> Vec<&'static Need> {
    let is_present = |need: &Need| match need.source {
        Source::Debian(Sign::Program(program)) => project.find(program).is_some(),
        Source::Debian(Sign::File(file)) => Path::new(file).exists(),
        Source::Debian(Sign::Installed) => {
            let mut query = project.command("dpkg-query");
            query.args(["--show", "--showformat=${db:Status-Status}", need.package]);
            ask(query).is_some_and(|status| status == "installed")
        }
        Source::Crate { version } => project.find(need.package).is_some_and(|program| {
            let mut query = project.command(program);
            query.arg("--version");
            // The name of the program, then the version.
            ask(query).is_some_and(|line| line.split_whitespace().last() == Some(version))
        }),
        Source::Npm => node::is_installed(project),
    };
    NEEDS.iter().filter(|need| !is_present(need)).collect()
}

/// What a program answers; one that fails, or cannot be started, has no answer.
fn answer(mut question: Command) -> Option<String> {
    let output = question.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

fn debian_packages(needs: &[&Need]) -> Vec<&'static str> {
    let is_debian = |need: &&&Need| matches!(need.source, Source::Debian(_));
    needs.iter().filter(is_debian).map(|need| need.package).collect()
}

fn install_debian(project: &Project, packages: &[&str]) -> Result<()> {
    let by_hand = format!("apt-get install {}", packages.join(" "));
    if project.find("apt-get").is_none() {
        bail!("only Debian packages can be installed; get these in another way: {packages:?}");
    }
    let mut user = project.command("id");
    user.arg("-u");
    if output(user)?.trim() != "0" {
        bail!("only root can install packages; run `{by_hand}` as root, then this again");
    }
    // Without the lists of a fresh machine apt finds no package at all.
    apt_get(project, &["update"])?;
    apt_get(project, &[&["install", "--yes", "--no-install-recommends"], packages].concat())
}

fn apt_get(project: &Project, arguments: &[&str]) -> Result<()> {
    let mut command = project.command("apt-get");
    command.arg("-q").args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    succeed(command)
}

/// Built without optimisation and debug information: that takes well under half the time, and a
/// check of a few hundred packages is quick anyway.
fn install_crate(project: &Project, package: &str, version: &str) -> Result<()> {
    let mut command =
        project.cargo(&format!("install {package} --locked --version {version} --debug"));
    command.arg("--root").arg(project.tools()).env("CARGO_PROFILE_DEV_DEBUG", "false");
    succeed(command)
}

fn succeed(mut command: Command) -> Result<()> {
    let shown = shown(&command);
    println!("$ {shown}");
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// What is found missing where these programs are all there is, and answer like this.
    fn missing_beside(programs: &[&str], ask: fn(Command) -> Option<String>) -> String {
        let root = tempfile::tempdir().unwrap();
        let project = Project::at(root.path().into(), OsString::new());
        let bin = project.tools().join("bin");
        fs::create_dir_all(&bin).unwrap();
        for name in programs {
            fs::write(bin.join(name), "").unwrap();
            fs::set_permissions(bin.join(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
        let programs = missing(&project, ask)
            .into_iter()
            .filter(|need| !matches!(need.source, Source::Debian(Sign::File(_))));
        programs.map(|need| need.package).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_empty_machine_misses_everything() {
        insta::assert_snapshot!(
            missing_beside(&[], |_| None),
            @"python3 dash mawk busybox-static docker.io podman runc conmon catatonit git curl g++ strace zsh fish groff openssl nodejs npm chromium xtask/node cargo-deny"
        );
    }

    #[test]
    fn what_is_there_is_left_alone() {
        insta::assert_snapshot!(
            missing_beside(&["python3", "cargo-deny"], |command| {
                let asks_debian = command.get_program() == "dpkg-query";
                Some(if asks_debian { "installed" } else { "cargo-deny 0.20.2\n" }.to_owned())
            }),
            @"dash mawk docker.io podman runc conmon catatonit git curl g++ strace zsh fish groff openssl nodejs npm chromium xtask/node"
        );
    }

    #[test]
    fn another_version_or_another_package_will_not_do() {
        let programs = [
            &["python3", "dash", "mawk", "busybox", "cargo-deny", "openssl", "node", "npm"][..],
            &["dockerd", "podman", "runc", "conmon", "catatonit", "strace", "chromium"],
            &["zsh", "fish", "groff", "git", "g++", "curl"],
        ];
        let other: fn(Command) -> Option<String> = |_| Some("cargo-deny 0.14.2".to_owned());
        assert_eq!(
            missing_beside(&programs.concat(), other),
            "busybox-static xtask/node cargo-deny"
        );
    }

    #[test]
    fn a_program_that_does_not_start_has_no_answer() {
        let project = Project::at("/nowhere".into(), OsString::new());
        assert_eq!(answer(project.command("/nowhere/cargo-deny")), None);
    }

    #[test]
    fn without_apt_the_packages_are_named() {
        let project = Project::at("/nowhere".into(), OsString::new());
        insta::assert_snapshot!(
            install_debian(&project, &["mawk", "dash"]).unwrap_err(),
            @r#"only Debian packages can be installed; get these in another way: ["mawk", "dash"]"#
        );
    }

    #[test]
    fn debian_packages_and_crates_are_told_apart() {
        let needs = NEEDS.iter().collect::<Vec<_>>();
        insta::assert_snapshot!(
            debian_packages(&needs).join(" "),
            @"python3 dash mawk busybox-static docker.io podman runc conmon catatonit netavark git curl g++ strace zsh fish groff openssl ca-certificates nodejs npm chromium"
        );
    }
}
