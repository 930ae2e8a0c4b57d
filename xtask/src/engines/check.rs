//! The step `engines`: containers really run.

use anyhow::{Result, ensure};

use super::api::Api;
use super::images::{BASH, BUSYBOX, EMPTY};
use super::kind::Kind;
use crate::project::Project;
use crate::test::Outcome;

/// Runs something in every image of every engine that tests are told about.
pub(crate) fn check(project: &Project) -> Result<Outcome> {
    let mut missing = Vec::new();
    for kind in Kind::ALL {
        let address = project.variable(kind.variable());
        match address.as_deref().and_then(|address| Api::at(address.to_str()?)) {
            Some(api) => runs_containers(kind, &api)?,
            None => missing.push(kind.name()),
        }
    }
    Ok(if missing.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Skipped(format!(
            "no {} answers; `cargo xtask test --provision` starts one",
            missing.join(" and no ")
        ))
    })
}

fn runs_containers(kind: Kind, api: &Api) -> Result<()> {
    let name = kind.name();
    let code = api.run(BUSYBOX, &["true"])?;
    ensure!(code == 0, "`true` in {BUSYBOX} ended with {code} in {name}");
    let code = api.run(BASH, &["bash", "-c", "[[ -n $BASH_VERSION ]] && exit 7"])?;
    ensure!(code == 7, "`exit 7` in {BASH} ended with {code} in {name}");
    let nothing = api.run(EMPTY, &["sh"]);
    ensure!(nothing.is_err(), "{EMPTY} has a shell in {name}");
    println!("{name} runs containers");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn an_engine_that_is_not_there_is_a_skip_with_a_remedy() {
        let project = Project::at("/nowhere".into(), OsString::new());
        insta::assert_debug_snapshot!(check(&project).unwrap(), @r#"
        Skipped(
            "no Docker and no Podman answers; `cargo xtask test --provision` starts one",
        )
        "#);
    }

    #[test]
    fn an_engine_that_was_promised_and_does_not_answer_is_a_failure() {
        let mut project = Project::at("/nowhere".into(), OsString::new());
        project.set("METIER_TEST_DOCKER", "unix:///nowhere/docker.sock");
        insta::assert_snapshot!(check(&project).unwrap_err(), @"cannot ask unix:///nowhere/docker.sock to `POST /containers/create`");
    }
}
