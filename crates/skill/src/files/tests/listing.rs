//! Which files a skill has.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::outcome;
use crate::files::list;
use crate::scratch::Scratch;

#[test]
fn files_of_every_depth_are_listed_in_the_order_of_their_slash_paths() {
    let scratch = Scratch::new();
    for path in ["s/b.txt", "s/a/z/deep.md", "s/a-b.md", "s/SKILL.md", "s/a/.hidden"] {
        scratch.write(path, path);
    }
    scratch.program("s/scripts/run");
    scratch.folder("s/empty");
    insta::assert_snapshot!(outcome(&scratch, "s"), @"
    SKILL.md: 10 bytes
    a-b.md: 8 bytes
    a/.hidden: 11 bytes
    a/z/deep.md: 13 bytes
    b.txt: 7 bytes
    scripts/run: 10 bytes, executable
    ");
}

#[test]
fn what_tools_leave_behind_is_left_out_at_any_depth_without_a_word() {
    let scratch = Scratch::new();
    scratch.write("s/SKILL.md", "");
    for path in [".git/config", "a/.git", ".venv/bin/python", "a/b/__pycache__/x.pyc", ".DS_Store"]
    {
        scratch.write(format!("s/{path}"), "");
    }
    insta::assert_snapshot!(outcome(&scratch, "s"), @"SKILL.md: 0 bytes");
}

#[test]
fn links_that_stay_inside_are_kept_as_links() {
    let scratch = Scratch::new();
    scratch.write("s/docs/a.md", "text");
    scratch.link("s/to-file.md", "docs/a.md");
    scratch.link("s/to-folder", "docs");
    scratch.link("s/docs/up.md", "../docs/./a.md");
    scratch.link("s/docs/root", "..");
    insta::assert_snapshot!(outcome(&scratch, "s"), @"
    docs/a.md: 4 bytes
    docs/root: -> ..
    docs/up.md: -> ../docs/./a.md
    to-file.md: -> docs/a.md
    to-folder: -> docs
    ");
}

#[test]
fn links_that_lead_outside_or_nowhere_are_left_out_and_reported() {
    let scratch = Scratch::new();
    scratch.write("s/SKILL.md", "");
    scratch.write("secret.md", "");
    scratch.write("s-beside/x.md", "");
    scratch.link("s/up.md", "../secret.md");
    scratch.link("s/beside.md", "../s-beside/x.md");
    scratch.link("s/absolute.md", scratch.path("secret.md"));
    scratch.link("s/absolute-inside.md", scratch.path("s/SKILL.md"));
    scratch.link("s/system", "/etc/passwd");
    scratch.link("s/broken", "nothing");
    scratch.link("s/cycle-a", "cycle-b");
    scratch.link("s/cycle-b", "cycle-a");
    scratch.link("s/self", "self");
    insta::assert_snapshot!(outcome(&scratch, "s"), @"
    SKILL.md: 0 bytes
    M069 warning s/absolute-inside.md: left out of the skill: it is a link that leads outside
    M069 warning s/absolute.md: left out of the skill: it is a link that leads outside
    M069 warning s/beside.md: left out of the skill: it is a link that leads outside
    M069 warning s/broken: left out of the skill: No such file or directory (os error 2)
    M069 warning s/cycle-a: left out of the skill: Too many levels of symbolic links (os error 40)
    M069 warning s/cycle-b: left out of the skill: Too many levels of symbolic links (os error 40)
    M069 warning s/self: left out of the skill: Too many levels of symbolic links (os error 40)
    M069 warning s/system: left out of the skill: it is a link that leads outside
    M069 warning s/up.md: left out of the skill: it is a link that leads outside
    ");
}

/// What such a link shows could change without the digest, which does not cover it.
#[test]
fn links_to_what_is_left_out_are_left_out_too() {
    let scratch = Scratch::new();
    scratch.write("s/.venv/run.sh", "");
    scratch.write("s/a/__pycache__/notes.md", "");
    scratch.link("s/run.sh", ".venv/run.sh");
    scratch.link("s/notes.md", "a/__pycache__/notes.md");
    scratch.link("s/folder", ".venv");
    scratch.fifo("s/pipe");
    scratch.link("s/to-pipe.md", "pipe");
    insta::assert_snapshot!(outcome(&scratch, "s"), @"
    M069 warning s/folder: left out of the skill: it is a link to what is left out
    M069 warning s/notes.md: left out of the skill: it is a link to what is left out
    M069 warning s/pipe: left out of the skill: it is neither a file nor a folder
    M069 warning s/run.sh: left out of the skill: it is a link to what is left out
    M069 warning s/to-pipe.md: left out of the skill: it is a link to what is left out
    ");
}

/// A copy of the skill in another folder would have it lead somewhere else.
#[test]
fn links_that_leave_and_come_back_are_left_out() {
    let scratch = Scratch::new();
    scratch.write("s/a.md", "");
    scratch.link("s/b.md", "../s/a.md");
    scratch.link("s/sub/c.md", "../../s/a.md");
    insta::assert_snapshot!(outcome(&scratch, "s"), @"
    a.md: 0 bytes
    M069 warning s/b.md: left out of the skill: it is a link that leads outside
    M069 warning s/sub/c.md: left out of the skill: it is a link that leads outside
    ");
}

#[test]
fn pipes_and_sockets_are_left_out_and_reported() {
    let scratch = Scratch::new();
    scratch.fifo("s/pipe.md");
    scratch.socket("s/run/socket");
    insta::assert_snapshot!(outcome(&scratch, "s"), @"
    M069 warning s/pipe.md: left out of the skill: it is neither a file nor a folder
    M069 warning s/run/socket: left out of the skill: it is neither a file nor a folder
    ");
}

#[test]
fn names_that_are_not_text_are_left_out_and_reported() {
    let scratch = Scratch::new();
    scratch.write("s/SKILL.md", "");
    scratch.write(OsStr::from_bytes(b"s/caf\xe9.md"), "");
    scratch.write(OsStr::from_bytes(b"s/d\xff/inside.md"), "");
    insta::assert_snapshot!(outcome(&scratch, "s"), @"
    SKILL.md: 0 bytes
    M069 warning s/caf�.md: left out of the skill: its name is not UTF-8
    M069 warning s/d�/inside.md: left out of the skill: its name is not UTF-8
    ");
}

#[test]
fn files_that_differ_by_case_only_are_reported() {
    let scratch = Scratch::new();
    for path in ["s/README.md", "s/Readme.md", "s/readme.md", "s/docs/A.md", "s/Docs/a.md"] {
        scratch.write(path, "");
    }
    insta::assert_snapshot!(outcome(&scratch, "s"), @"
    Docs/a.md: 0 bytes
    README.md: 0 bytes
    Readme.md: 0 bytes
    docs/A.md: 0 bytes
    readme.md: 0 bytes
    M070 warning s/Readme.md: `README.md` and `Readme.md` are one file where case does not count
    M070 warning s/docs/A.md: `Docs/a.md` and `docs/A.md` are one file where case does not count
    M070 warning s/readme.md: `Readme.md` and `readme.md` are one file where case does not count
    ");
}

#[test]
fn the_skill_may_be_reached_through_a_link() {
    let scratch = Scratch::new();
    scratch.write("real/SKILL.md", "");
    scratch.link("real/same.md", "SKILL.md");
    scratch.link("s", "real");
    insta::assert_snapshot!(outcome(&scratch, "s"), @"
    SKILL.md: 0 bytes
    same.md: -> SKILL.md
    ");
}

#[test]
fn the_listing_does_not_depend_on_the_order_in_which_files_were_made() {
    let names: Vec<String> = (0..40).map(|number| format!("s/{}.md", number * 7 % 40)).collect();
    let listed = |names: &mut dyn Iterator<Item = &String>| {
        let scratch = Scratch::new();
        for name in names {
            scratch.write(name, "");
            scratch.link(format!("{name}-out"), "/etc/passwd");
        }
        outcome(&scratch, "s")
    };
    assert_eq!(listed(&mut names.iter()), listed(&mut names.iter().rev()));
}

#[test]
fn a_skill_has_a_bound_of_entries() {
    let scratch = Scratch::new();
    for number in 0..20_000 {
        scratch.write(format!("s/{number}"), "");
    }
    assert_eq!(list(&scratch.path("s")).unwrap().entries.len(), 20_000);
    scratch.write("s/one-more", "");
    insta::assert_snapshot!(outcome(&scratch, "s"), @"`s` has more than 20000 entries or folders more than 24 deep");
}

#[test]
fn a_skill_has_a_bound_of_depth() {
    let scratch = Scratch::new();
    scratch.write(format!("s/{}deepest.md", "d/".repeat(24)), "");
    assert_eq!(list(&scratch.path("s")).unwrap().entries.len(), 1);
    scratch.write(format!("s/{}deeper.md", "d/".repeat(25)), "");
    insta::assert_snapshot!(outcome(&scratch, "s"), @"`s` has more than 20000 entries or folders more than 24 deep");
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    insta::assert_snapshot!(outcome(&Scratch::new(), "nowhere"), @"cannot read the folder `nowhere`");
}
