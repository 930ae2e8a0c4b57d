//! Programs that are installed here, judged by what is known about them on this machine.

use std::fs;
use std::path::{Path, PathBuf};

use metier_approval::{
    ArgumentRule, Entry, Facts, Policy, ProtectedPlaces, Rules, SkillProgram, Verdict, judge, parse,
};

use super::Machine;

/// Commands that run code by an option of a program that does not look like it, or is in no table.
const STARTERS: &[&str] = &[
    "json_pp -f eval",
    "pdb3 x.py",
    "pdb3 -c continue x.py",
    "coverage run x.py",
    "python3-coverage run x.py",
    "mpirun ./x",
    "nm --plugin ./x.so y",
    "dpkg-architecture -c ./x",
    "prove -e ./x y",
    "shasum 'id|'",
    "corelist -a x",
    "pod2text x",
    "perldoc x",
    "instmodsh",
    "splain x",
    "xsubpp x",
    "2to3 -f ./x y",
    "py3compile x",
    "pygettext3 x",
    "ts",
    "chronic ./x",
    "gawk -l ./x 1",
    "sqlite3 x '.shell id'",
    "gdb -ex run x",
    "strace ./x",
    "ffmpeg -i x -af ladspa=file=./y z.mp3",
    "pandoc --lua-filter x y",
    "gh alias set x y",
    "rg --pre ./x y",
    "fdfind -x ./y",
    "file -C -m x",
    "diff --paginate x y",
    "unzip -d /etc x",
];

/// Scripts among the programs of distributions that the tables describe. Others count as their interpreters.
const DESCRIBED: &[&str] =
    &["egrep", "fgrep", "rgrep", "zcat", "gzcat", "gunzip", "which", "which.debianutils", "yq"];

fn machine() -> Machine {
    Machine { path: ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from).to_vec() }
}

fn policy(name: &str) -> Policy {
    let entry = |pattern: &str| Entry {
        id: pattern.to_owned(),
        pattern: pattern.to_owned(),
        arguments: ArgumentRule::Known,
        directory: None,
    };
    let real = machine().executable(Path::new("/"), name).map(|program| program.file.real);
    let skill_programs =
        real.map(|real| SkillProgram { name: name.to_owned(), real, skill: "own".to_owned() });
    Policy {
        rules: Rules::default(),
        entries: vec![entry(name), entry("*"), entry("/**")],
        remembered: Vec::new(),
        safe_programs: Vec::new(),
        trusted_folders: machine().path,
        skill_programs: skill_programs.into_iter().collect(),
        writable: Vec::new(),
        protected: ProtectedPlaces::default(),
        variables: Vec::new(),
    }
}

fn verdict(command: &str, name: &str) -> Verdict {
    judge(&parse(command), Path::new("/usr"), &machine(), &policy(name))
}

#[test]
fn programs_that_are_installed_run_no_code_by_their_names() {
    let mut tried = 0;
    for command in STARTERS {
        let name = command.split(' ').next().unwrap();
        if machine().executable(Path::new("/"), name).is_none() {
            continue;
        }
        tried += 1;
        let verdict = verdict(command, name);
        assert!(matches!(verdict, Verdict::Ask { offer: None, .. }), "{command}: {verdict:?}");
    }
    assert!(tried >= 3, "a system with Perl has some of them, and this has {tried}");
}

#[test]
fn scripts_that_are_installed_count_as_their_interpreters() {
    let machine = || Machine { path: vec!["/usr/bin".into()] };
    let names = fs::read_dir("/usr/bin").unwrap().filter_map(Result::ok);
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut scripts = 0;
    for name in names {
        let Some(program) = machine().executable(Path::new("/"), &name) else { continue };
        if program.interpreter.is_none() || !parse(&name).is_ok_and(|plan| plan.steps.len() == 1) {
            continue;
        }
        scripts += 1;
        if matches!(verdict(&format!("{name} x"), &name), Verdict::Allow(_)) {
            let real = program.file.real.file_name().unwrap().to_string_lossy().into_owned();
            assert!(DESCRIBED.contains(&real.as_str()), "`{name}` is a script, and allowed");
        }
    }
    assert!(scripts > 0);
}
