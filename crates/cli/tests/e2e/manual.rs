//! Manual pages, as `man` reads them.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use metier_testkit::skip;

use crate::{environment, run};

#[test]
fn there_is_a_page_for_every_command() {
    let env = environment();
    let outcome = run(&env, "man --dir pages/man1");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, ""), "{outcome}");
    let mut found: Vec<String> = fs::read_dir(env.project().join("pages/man1"))
        .expect("it was made")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    let reference = run(&env, "__reference").stdout;
    let headings =
        reference.lines().filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`'));
    let mut wanted: Vec<String> =
        headings.map(|command| format!("{}.1", command.replace(' ', "-"))).collect();
    wanted.sort();
    assert_eq!(found, wanted);
    assert_eq!(outcome.stderr, format!("wrote {} pages to pages/man1\n", wanted.len()));
    let main = fs::read_to_string(env.project().join("pages/man1/metier.1")).expect("a page");
    assert_eq!(run(&env, "man").stdout, main);
    assert_eq!(run(&env, "--quiet man --dir pages/man1").stderr, "");
}

#[test]
fn pages_are_right_for_groff() {
    if !Path::new("/usr/bin/groff").exists() {
        return skip("manual pages in groff", "there is no groff");
    }
    let env = environment();
    assert_eq!(run(&env, "man --dir pages").code, 0);
    let mut shown = String::new();
    for entry in fs::read_dir(env.project().join("pages")).expect("pages") {
        let page = entry.expect("it can be read").path();
        let mut command = env.command("/usr/bin/groff");
        command.env("PATH", "/usr/bin:/bin").args(["-man", "-Tutf8", "-ww", "-P-cbou"]).arg(&page);
        let outcome = env.finish(command, "");
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{}", page.display());
        if page.ends_with("metier-skills-search.1") {
            shown = outcome.stdout;
        }
    }
    assert_snapshot!(shown, @r#"
    metier-skills-search(1)     General Commands Manual    metier-skills-search(1)



    NAME
           metier-skills-search - Find skills by what you want to do

    SYNOPSIS
           metier   skills   search   [--limit]  [--json]  [-q|--quiet]  [--color]
           [-h|--help] <QUERY>

    DESCRIPTION
           Find skills by what you want to do

    OPTIONS
           --limit <N> [default: 10]
                  Show at most so many skills

           --json Print JSON

           <QUERY>
                  What you want to do, in your words

    GLOBAL OPTIONS
           -q, --quiet
                  Print only the answer and errors

           --color <WHEN> [default: auto]
                  Use colour; auto: on a terminal, unless NO_COLOR is set

                  Possible values:

                         • auto: On a terminal, unless `NO_COLOR` is set

                         • always: Always

                         • never: Never

           -h, --help
                  Show this help

    EXAMPLES
           metier skills search "plot sales by month" --limit 3


    EXIT STATUS
           0      something was found

           1      nothing was found

           2      the command line was not understood

    SEE ALSO
           metier-skills(1), metier(1)



    metier                           metier 0.1.0          metier-skills-search(1)
    "#);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let env = environment();
    env.write("project/file", "");
    let outcome = run(&env, "man --dir file/man1");
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.starts_with("error: cannot write `file/man1`"), "{outcome}");
}
