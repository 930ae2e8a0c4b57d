//! Values of options, and where options end.
//!
//! A program that takes `--` as the value of the option before it goes on reading options, so its table must know each
//! option that has a value.

use crate::machine::{Machine, decide, policy};
use crate::{assert_covered, assert_not_covered};

#[test]
fn two_dashes_as_the_archive_of_tar_do_not_end_its_options() {
    assert_not_covered(&[
        "tar -tf -- -I ./x",
        "tar tf -- -I ./x",
        "tar -tf -- --checkpoint=1 --checkpoint-action=exec=./x",
        "tar -tzf -- --to-command=./x a",
        "tar -tf a.tar -- --checkpoint-action=exec=./x",
        "tar -tf",
        "tar -tf -I",
    ]);
    assert_covered(&["tar -tf a.tar", "tar tvf a.tar src/a", "tar -tzf -"]);
}

#[test]
fn two_dashes_as_a_selector_of_kubectl_do_not_end_its_options() {
    assert_not_covered(&[
        "kubectl get -l -- --kubeconfig=file pods",
        "kubectl get -L -- --kubeconfig=file pods",
        "kubectl describe -l -- --kubeconfig=file pods",
        "kubectl get -f file",
        "helm get -l -- x",
        "podman ps -w -- --log-level=x",
    ]);
    assert_covered(&[
        "kubectl get pods -l app=x -n y -o wide",
        "kubectl describe pod x",
        "docker ps -aq",
    ]);
}

#[test]
fn two_dashes_as_a_value_of_git_do_not_end_its_options() {
    assert_not_covered(&[
        "git diff --word-diff-regex -- --output=file a b",
        "git diff --no-index a /etc/passwd",
        "git diff -U -- --output=file",
        "git diff --unified -- --output=file",
        "git log -pU -- --output=file",
        "git diff --inter-hunk-context -- --output=file",
        "git diff --diff-algorithm -- --output=file",
        "git log --grep -- --output=file",
        "git shortlog -l -- --output=file",
        "git tag -l --contains -- -d x",
    ]);
    assert_covered(&[
        "git diff --stat -- a",
        "git log --oneline -U3 -- a",
        "git diff --word-diff-regex=. a",
        "git shortlog -sn",
        "git ls-files -o --exclude-standard",
        "git ls-tree -r HEAD",
    ]);
}

#[test]
fn two_dashes_behind_an_option_that_may_have_a_value_are_not_trusted() {
    assert_not_covered(&["uniq --group -- a", "ninja -k -- -f file", "just -s -- -f file"]);
    let policy = policy(&["make --dir /proj", "just --dir /proj", "ninja --dir /proj"]);
    let mut machine = Machine::new();
    for name in ["just", "ninja"] {
        machine.link(&format!("/usr/bin/{name}"), &format!("/usr/bin/{name}"));
    }
    for command in ["make -j -- -f", "make -v x", "just -s -- -f", "ninja -k -- -f", "ninja -t x"] {
        let verdict = decide(command, &machine, &policy);
        assert!(verdict.starts_with("ask: "), "{command}: {verdict}");
    }
    for command in ["make -j4 all", "just -n build", "ninja -j 4 all"] {
        let verdict = decide(command, &machine, &policy);
        assert!(verdict.starts_with("allow: "), "{command}: {verdict}");
    }
}
