//! Skills that reach for another one of their session: for what it loads, for what it finds, for its key.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread;

use libtest_mimic::Failed;
use metier_workspace::executor::Network;
use metier_workspace::{InstalledTools, NO_SKILL, RunOutput, RunSettings};
use serde_json::{Value, json};

use crate::bench::{Bench, Renamed};

/// Files that programs load code or settings from, where they find them.
const LOADED: &str = "sitecustomize.py usercustomize.py planted.py planted.pth pyproject.toml conftest.py \
                      Makefile .npmrc .env package.json .bashrc .profile .gitconfig node_modules/planted.js \
                      .git/config .local/lib/python3/site-packages/usercustomize.py .config/pip/pip.conf";

/// One attempt against another skill.
type AttackOnSkill = fn(&Bench) -> Result<(), Failed>;

/// What is tried against another skill, for those who try it at another level.
pub(crate) const AGAINST_SKILLS: &[AttackOnSkill] = &[
    plant_in_the_home,
    plant_in_the_home_of_a_namesake,
    plant_by_a_command_of_no_skill,
    plant_in_an_environment,
    plant_in_work_before_a_key,
    plant_in_out_before_a_key,
    plant_while_a_key_is_used,
];

/// Plants all of them in a folder, as far as it can be written to.
fn plant_in(folder: &str) -> String {
    format!(
        "for f in {LOADED}; do mkdir -p {folder}/$(dirname $f); echo 'print(\"planted\")' > {folder}/$f; \
         v=$(python3 -c 'import sys; print(\"python%d.%d\" % sys.version_info[:2])'); \
         mkdir -p {folder}/.local/lib/$v/site-packages && \
         echo 'print(\"planted\")' > {folder}/.local/lib/$v/site-packages/usercustomize.py; done 2>/dev/null; "
    )
}

/// Runs a command of the skill `demo`, which plants things.
fn attacker(bench: &Bench, command: &str) -> Result<RunOutput, Failed> {
    Ok(bench.run_trees(json!({"skill": "demo", "command": command}), both(bench))?)
}

/// Runs a command of the skill `other`, which has no key.
fn victim(bench: &Bench, command: &str) -> Result<RunOutput, Failed> {
    Ok(bench.run_trees(json!({"skill": "other", "command": command}), both(bench))?)
}

/// Makes a run of the skill `other`, which receives a key.
pub(crate) fn keyed(bench: &Bench, mut request: Value) -> Result<RunOutput, Failed> {
    let mut with_key = bench.again();
    with_key.settings.variables = vec![("OTHER_KEY".to_owned(), "very-secret".to_owned())];
    request["skill"] = json!("other");
    Ok(with_key.run_trees(request, both(bench))?)
}

fn keyed_sh(bench: &Bench, command: &str) -> Result<RunOutput, Failed> {
    keyed(bench, json!({ "command": command }))
}

fn both(bench: &Bench) -> Vec<metier_workspace::Tree> {
    vec![bench.tree("demo"), bench.tree("demo").renamed("other")]
}

/// What a run of `other` finds in its home, with and without a key.
pub(super) fn plant_in_the_home(bench: &Bench) -> Result<(), Failed> {
    let look = "find $HOME -type f; cd $HOME; python3 -c 'print(1)'";
    victim(bench, "true")?;
    keyed_sh(bench, "true")?;
    let mut planting = String::new();
    for home in [
        "$HOME",
        "$WORK_DIR/.home",
        "$WORKSPACE_DIR/.homes/other",
        "$WORKSPACE_DIR/.private/other/.homes/other",
    ] {
        planting += &plant_in(home);
    }
    attacker(bench, &planting)?;
    for output in [victim(bench, look)?, keyed_sh(bench, look)?] {
        assert_eq!(output.stdout, "1\n", "{output:?}");
    }
    // What it leaves there itself is there again, and nobody else's.
    victim(bench, "echo own > $HOME/.netrc")?;
    assert_eq!(victim(bench, "cat $HOME/.netrc")?.stdout, "own\n");
    let read = "cat $HOME/.netrc $WORKSPACE_DIR/.homes/other/.netrc 2>/dev/null; true";
    assert_eq!(attacker(bench, read)?.stdout, "");
    Ok(())
}

/// What a skill finds in its home and in `.venv` after a namesake of another source had them, with a key, with network
/// access of its own and without both.
pub(super) fn plant_in_the_home_of_a_namesake(bench: &Bench) -> Result<(), Failed> {
    let run = |identity: &str, command: &str, grant: fn(&mut RunSettings)| {
        let mut order = bench.order(json!({"skill": "demo", "command": command}));
        order.identity = Some(identity.to_owned());
        grant(&mut order.settings);
        bench.run_order(order)
    };
    let key =
        |it: &mut RunSettings| it.variables = vec![("KEY".to_owned(), "very-secret".to_owned())];
    let network = |it: &mut RunSettings| (it.network, it.has_own_network) = (Network::Host, true);
    let look = "find $HOME .venv/ -type f; cd $HOME; python3 -c 'print(1)'";
    let grants: [fn(&mut RunSettings); 3] = [|_| {}, key, network];
    for grant in grants {
        let planting = ["$HOME", ".venv", "$WORKSPACE_DIR/.private/demo/.homes/demo"].map(plant_in);
        run("project", &planting.concat(), grant)?;
        let found = run("own", look, grant)?;
        assert_eq!(found.stdout, "1\n", "{found:?}");
        run("own", "echo own > $HOME/.netrc", grant)?;
        assert_eq!(run("project", "cat $HOME/.netrc; test -f $HOME/.env", grant)?.stdout, "");
        assert_eq!(run("own", "cat $HOME/.netrc; rm $HOME/.netrc", grant)?.stdout, "own\n");
    }
    // What it may reach with network access of its own has seen nothing of `work/` either.
    run("project", "echo planted > $WORK_DIR/conftest.py", |_| {})?;
    assert_eq!(run("own", "cat $WORK_DIR/conftest.py; true", network)?.stdout, "");
    Ok(())
}

/// What runs of skills find after a command of no skill, and what its record says.
pub(super) fn plant_by_a_command_of_no_skill(bench: &Bench) -> Result<(), Failed> {
    let planting =
        ["$HOME", "$SKILLS_DIR/other/.venv/bin", "$SKILLS_DIR/demo/.venv/bin"].map(plant_in);
    let request = json!({"skill": NO_SKILL, "command": planting.concat() + "echo $SKILL_NAME"});
    let planted = bench.run_trees(request, both(bench))?;
    assert_eq!(planted.stdout, "\n", "{planted:?}");
    let look = "find $HOME .venv/ -type f; cd $HOME; python3 -c 'print(1)'";
    for output in [attacker(bench, look)?, victim(bench, look)?, keyed_sh(bench, look)?] {
        assert_eq!(output.stdout, "1\n", "{output:?}");
    }
    let record = bench.workspace().join("runs").join(&planted.run).join("record.json");
    let record: Value = serde_json::from_slice(&fs::read(record)?)?;
    let skills = record["skills"].as_object().ok_or("no skills")?;
    let names: Vec<&str> = skills.keys().map(String::as_str).collect();
    assert_eq!((names, record.get("skill")), (vec!["demo", "other"], None), "{record}");
    Ok(())
}

pub(super) fn plant_in_temporary_files(bench: &Bench) -> Result<(), Failed> {
    attacker(bench, &(plant_in("$TMPDIR") + &plant_in("/tmp")))?;
    let look = "cd $TMPDIR; ls -A $TMPDIR /tmp | grep -v : ; python3 -c 'print(1)'";
    for output in [victim(bench, look)?, keyed_sh(bench, look)?] {
        assert_eq!(output.stdout.trim(), "1", "{output:?}");
    }
    Ok(())
}

pub(super) fn plant_in_an_environment(bench: &Bench) -> Result<(), Failed> {
    victim(bench, "mkdir -p .venv/bin")?;
    keyed_sh(bench, "mkdir -p .venv/bin")?;
    attacker(
        bench,
        "for d in .venv $WORKSPACE_DIR/.venvs/other $SKILLS_DIR/other/.venv $WORKSPACE_DIR/.private/other/.venvs/other; \
         do mkdir -p $d/bin; printf '#!/bin/sh\\necho planted' > $d/bin/id; chmod +x $d/bin/id; done 2>/dev/null; true",
    )?;
    for output in [victim(bench, "id; ls .venv/bin")?, keyed_sh(bench, "id; ls .venv/bin")?] {
        assert!(output.stdout.starts_with("uid="), "{output:?}");
        assert_eq!(output.stdout.lines().count(), 1, "{output:?}");
    }
    Ok(())
}

/// A run with a key starts in a folder in which only its own files are.
pub(super) fn plant_in_work_before_a_key(bench: &Bench) -> Result<(), Failed> {
    planted_before_a_key(bench, "$WORK_DIR", "inputs\n")
}

pub(super) fn plant_in_out_before_a_key(bench: &Bench) -> Result<(), Failed> {
    planted_before_a_key(bench, "$OUTPUT_DIR", "")
}

fn planted_before_a_key(bench: &Bench, folder: &str, there: &str) -> Result<(), Failed> {
    let plant = plant_in(folder)
        + &plant_in(&folder.replace("$WORK", "$WORKSPACE_DIR/.private/other/$WORK"))
        + &plant_in("$WORKSPACE_DIR/.private/other/work")
        + &plant_in("$WORKSPACE_DIR/.private/other/out");
    for round in 0..2 {
        attacker(bench, &plant)?;
        let output = keyed(
            bench,
            json!({"cwd": folder, "command": "ls -A; python3 -c 'print(1)'; python3 -c 'import planted' || echo none"}),
        )?;
        assert_eq!(output.stdout, format!("{there}1\nnone\n"), "{round}: {output:?}");
    }
    // A name that both use is a file of each.
    keyed(bench, json!({"cwd": folder, "command": "echo own > planted.py"}))?;
    attacker(
        bench,
        &format!(
            "cat {folder}/planted.py; echo evil > {folder}/planted.py; ln {folder}/planted.py {folder}/again; echo evil > {folder}/again"
        ),
    )?;
    let again = keyed(bench, json!({"cwd": folder, "command": "cat planted.py; ls -A again"}))?;
    assert_eq!(again.stdout, "own\n", "{again:?}");
    Ok(())
}

/// Others write into what they share while a run has a key, from a process that goes on.
pub(super) fn plant_while_a_key_is_used(bench: &Bench) -> Result<(), Failed> {
    let planting = bench.again();
    let planter = thread::spawn(move || {
        let command = "i=0; while [ $i -lt 40 ]; do for d in $WORK_DIR $OUTPUT_DIR $HOME; do \
                       echo evil > $d/planted.py; ln -sfn / $d/root; mkdir -p $d/more; done; i=$((i+1)); sleep 0.05; done";
        attacker(&planting, command).map(|output| output.exit_code)
    });
    let output = keyed_sh(
        bench,
        "i=0; while [ $i -lt 30 ]; do ls -A $WORK_DIR $OUTPUT_DIR $HOME | grep -E 'planted|root|more'; \
         i=$((i+1)); sleep 0.05; done; echo end",
    )?;
    assert_eq!(output.stdout, "end\n", "{output:?}");
    assert_eq!(planter.join().expect("it ends")?, Some(0));
    Ok(())
}

/// Links where the files of a run with a key are shared lead nowhere.
pub(super) fn links_where_files_are_shared(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    let victim = bench.path("victim");
    fs::create_dir(&victim)?;
    fs::write(victim.join("a.txt"), "mine")?;
    let out = bench.workspace().join("out");
    let plant = |at: &Path, to: &Path| symlink(to, out.join(at));
    plant(Path::new("folder"), &victim)?;
    plant(Path::new("a.txt"), &victim.join("a.txt"))?;
    let command = "mkdir -p out/folder; echo new > out/folder/a.txt; echo new > out/a.txt; ln -s /etc/passwd out/link";
    let output = keyed_sh(bench, command)?;
    assert_eq!(fs::read_to_string(victim.join("a.txt"))?, "mine", "{output:?}");
    for name in ["folder", "a.txt", "folder/a.txt"] {
        assert!(!out.join(name).symlink_metadata()?.is_symlink(), "{name}");
    }
    assert_eq!(fs::read_to_string(out.join("folder/a.txt"))?, "new\n");
    assert!(out.join("link").symlink_metadata().is_err(), "links are not shared");
    Ok(())
}

/// A run sees the tools of its own skill, and cannot change them or those of others.
pub(super) fn replace_an_installed_program(bench: &Bench) -> Result<(), Failed> {
    let tool = |skill: &str| {
        let file = bench.write(&format!("tools/{skill}/bin/greet"), "#!/bin/sh\necho from tools\n");
        let _set = fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755));
        file
    };
    let (own, other) = (tool("demo"), tool("other"));
    let mut with_tools = bench.again();
    let folder = bench.path("tools/demo");
    with_tools.settings.tools = vec![InstalledTools { programs: folder.join("bin"), folder }];
    let command = format!(
        "for f in {0} {1}; do (echo evil > $f) 2>/dev/null && echo wrote; rm $f 2>/dev/null && echo removed; done; \
         cat {1} 2>/dev/null && echo read; true",
        own.display(),
        other.display()
    );
    let output = with_tools.sh(&command);
    assert_eq!(output.stdout, "", "{output:?}");
    for file in [own, other] {
        assert_eq!(fs::read_to_string(file)?, "#!/bin/sh\necho from tools\n");
    }
    Ok(())
}
