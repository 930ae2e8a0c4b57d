//! Places that change while a command runs: folders that are moved, removed or replaced from above.

use crate::destinations::{assert_asked, machine, verdict, verdict_on};
use crate::machine::{Machine, decide, policy};

#[test]
fn a_command_does_not_write_through_a_folder_that_it_moves_away() {
    let mut machine = machine();
    for folder in ["/proj/p", "/proj/p/q", "/proj/c", "/proj/sub"] {
        machine.folders.insert(folder.into(), folder.into());
    }
    machine.folders.insert("/proj/alias".into(), "/proj/p".into());
    for command in [
        "mv p pp && mv c p && cp a p/q/x",
        "mv p pp && mv c alias && cp a p/q/x",
        "mv p pp && mv c p && cp a alias/q/x",
        "rm -r p && mv c p && date | tee p/q/x",
        "rmdir p/q p && mv c p && mkdir p/q/x",
        "mv p pp; mv c p; cp -r a p/q/x",
        "mv p/q pp; cp -P c p/q; touch p/q/x",
        "rm -r p; ln -s c p; cp a p/q/x",
        "mv p pp; mkdir p; mv c p/q; cp a p/q/x",
        "mv c p; rm -r p; cp a p/q/x",
    ] {
        let verdict = verdict_on(command, &machine);
        assert!(
            verdict.starts_with("ask: ") && verdict.contains("puts there"),
            "{command}: {verdict}"
        );
    }
    // What is left is a folder that the command makes, or one that stays what it was.
    for command in [
        "rm -rf p && mkdir p && cp a p/x",
        "rm -rf p && mkdir -p p/q && date | tee p/q/x",
        "mv p pp && mkdir p && cp a p",
        "mv a p && cp b p",
        "cp -r new p && cp a p",
        "rm -f out && cp a out",
        "mv p pp && mv c p",
        "mv a old && mv b a",
        "rm -f out && ln -s a out",
    ] {
        let verdict = verdict_on(command, &machine);
        assert!(verdict.starts_with("allow: "), "{command}: {verdict}");
    }
    // What goes into a folder is the folder itself once that is gone.
    machine.folders.insert("/proj/config".into(), "/proj/config".into());
    let verdict = verdict_on("rmdir config && cp a config", &machine);
    assert!(verdict.contains("inner files"), "{verdict}");
    assert!(verdict_on("cp a config", &machine).starts_with("allow: "));
}

#[test]
fn what_a_program_would_write_through_a_link_at_the_end_is_asked_about() {
    let mut machine = machine();
    machine.files.insert("/proj/latest".into(), "/proj/file".into());
    for command in ["cp a latest", "date | tee -a latest", "touch latest", "dd if=a of=latest"] {
        let verdict = verdict_on(command, &machine);
        assert!(verdict.starts_with("ask: ") && verdict.contains("is a link"), "{verdict}");
    }
    for command in ["rm latest", "mv a latest", "ln -sf b latest"] {
        let verdict = verdict_on(command, &machine);
        assert!(verdict.starts_with("allow: "), "{command}: {verdict}");
    }
}

#[test]
fn folders_of_the_path_are_not_replaced_from_above() {
    let mut machine = machine();
    for (path, real) in [
        ("/home/me/cur", "/home/me/v1"),
        ("/home/me/v1", "/home/me/v1"),
        ("/home/me/cur/bin", "/home/me/v1/bin"),
        ("/home/me/v1/bin", "/home/me/v1/bin"),
    ] {
        machine.folders.insert(path.into(), real.into());
    }
    let mut policy = policy(&["ln", "mv", "rm", "cp", "rmdir", "unlink"]);
    let places = ["/home/me/cur/bin", "/home/me/v1/bin", "/home/me/go/bin"];
    policy.protected.programs.extend(places.map(Into::into));
    for command in [
        "ln -sfn /proj/sub /home/me/cur",
        "ln -sf --no-dereference /proj/sub /home/me/cur",
        "ln -sfT /proj/sub /home/me/cur",
        "mv -T sub /home/me/cur",
        "mv /home/me/v1 x",
        "rm /home/me/cur",
        "rmdir /home/me/v1",
        "mv sub /home/me/go",
        "cp -r sub /home/me/go",
        "cp -P l /home/me/go",
        "ln -s /proj/sub /home/me/go",
    ] {
        let verdict = decide(command, &machine, &policy);
        assert!(verdict.starts_with("ask: ") && verdict.contains("`PATH`"), "{command}: {verdict}");
    }
    for command in ["mv sub /home/me/other", "rm /home/me/notes", "cp a /home/me/cur"] {
        let verdict = decide(command, &machine, &policy);
        assert!(verdict.starts_with("allow: "), "{command}: {verdict}");
    }
}

#[test]
fn a_command_does_not_place_what_its_own_builder_reads() {
    let machine = Machine::new();
    let entries = ["cp", "tee", "touch", "cat", "rm", "dd", "make --dir /proj", "npm --dir /proj"];
    let decided = |command: &str| decide(command, &machine, &policy(&entries));
    for command in [
        "cp a sub/Makefile && cd sub && make all",
        "cp a Makefile && cd sub && make all",
        "cat a | tee package.json; npm test",
        "make all; dd if=a of=sub/x.mk; make all",
    ] {
        let verdict = decided(command);
        assert!(verdict.contains("may take orders from"), "{command}: {verdict}");
    }
    for command in ["touch sub/x; make all", "rm -f b && make all", "make all; cp a /var/x"] {
        let verdict = decided(command);
        assert!(verdict.starts_with("allow: "), "{command}: {verdict}");
    }
    let script = ["cp", r"python3 --args build\.py --dir /proj"];
    let verdict = decide("cp a build.py; python3 build.py", &machine, &policy(&script));
    assert!(verdict.contains("is written and run"), "{verdict}");
}

#[test]
fn a_folder_that_is_not_there_has_nothing_above_it() {
    assert_asked(&["date | tee none/../x"], "goes up from a folder that is not there");
    assert!(verdict("date | tee sub/../x").starts_with("allow: "));
}
