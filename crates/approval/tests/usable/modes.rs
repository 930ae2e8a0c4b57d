//! What the rules make of it.

use metier_approval::{Ask, Mode, Policy, Rules, judge, parse};

use crate::machine::{Machine, START, policy, render, table};

fn under(mode: Mode, ask: Ask, fallback: Mode) -> Policy {
    let mut policy = policy(&["ls"]);
    policy.rules = Rules { mode, ask, fallback };
    policy
}

#[test]
fn modes_and_asking_decide_what_a_miss_means() {
    let commands = ["ls", "rm file", "rm $X", "sudo ls", "nowhere", "LD_PRELOAD=x ls"];
    let mut lines = String::new();
    for mode in [Mode::Deny, Mode::Allowlist, Mode::Full] {
        for ask in [Ask::Always, Ask::OnMiss, Ask::Off] {
            let policy = under(mode, ask, Mode::Deny);
            lines.push_str(&format!("# {mode:?} {ask:?}\n{}", table(&commands, &policy)));
        }
    }
    insta::assert_snapshot!(lines, @"
    # Deny Always
    ls
      deny: no commands may run here: the mode is `deny`
    rm file
      deny: no commands may run here: the mode is `deny`
    rm $X
      deny: no commands may run here: the mode is `deny`
    sudo ls
      deny: no commands may run here: the mode is `deny`
    nowhere
      deny: no commands may run here: the mode is `deny`
    LD_PRELOAD=x ls
      deny: no commands may run here: the mode is `deny`
    # Deny OnMiss
    ls
      deny: no commands may run here: the mode is `deny`
    rm file
      deny: no commands may run here: the mode is `deny`
    rm $X
      deny: no commands may run here: the mode is `deny`
    sudo ls
      deny: no commands may run here: the mode is `deny`
    nowhere
      deny: no commands may run here: the mode is `deny`
    LD_PRELOAD=x ls
      deny: no commands may run here: the mode is `deny`
    # Deny Off
    ls
      deny: no commands may run here: the mode is `deny`
    rm file
      deny: no commands may run here: the mode is `deny`
    rm $X
      deny: no commands may run here: the mode is `deny`
    sudo ls
      deny: no commands may run here: the mode is `deny`
    nowhere
      deny: no commands may run here: the mode is `deny`
    LD_PRELOAD=x ls
      deny: no commands may run here: the mode is `deny`
    # Allowlist Always
    ls
      ask: every command is asked about
    rm file
      ask: nobody allowed `rm`
    rm $X
      ask: this cannot be judged: a variable `$X` [no plan]
    sudo ls
      deny: `sudo` changes who or where a program is; it never runs here
    nowhere
      ask: `nowhere` is not installed [no plan]
    LD_PRELOAD=x ls
      deny: the variable `LD_PRELOAD` may not be set: it decides what programs load or run
    # Allowlist OnMiss
    ls
      allow: /usr/bin/ls by `ls`
    rm file
      ask: nobody allowed `rm` [always: rm file]
    rm $X
      ask: this cannot be judged: a variable `$X` [no plan]
    sudo ls
      deny: `sudo` changes who or where a program is; it never runs here
    nowhere
      ask: `nowhere` is not installed [no plan]
    LD_PRELOAD=x ls
      deny: the variable `LD_PRELOAD` may not be set: it decides what programs load or run
    # Allowlist Off
    ls
      allow: /usr/bin/ls by `ls`
    rm file
      deny: nobody allowed `rm`
    rm $X
      deny: this cannot be judged: a variable `$X`
    sudo ls
      deny: `sudo` changes who or where a program is; it never runs here
    nowhere
      deny: `nowhere` is not installed
    LD_PRELOAD=x ls
      deny: the variable `LD_PRELOAD` may not be set: it decides what programs load or run
    # Full Always
    ls
      ask: every command is asked about
    rm file
      ask: every command is asked about
    rm $X
      ask: this cannot be judged: a variable `$X` [no plan]
    sudo ls
      ask: every command is asked about
    nowhere
      ask: `nowhere` is not installed [no plan]
    LD_PRELOAD=x ls
      ask: every command is asked about
    # Full OnMiss
    ls
      allow: /usr/bin/ls by `ls`
    rm file
      allow: /usr/bin/rm by everything
    rm $X
      ask: this cannot be judged: a variable `$X` [no plan]
    sudo ls
      allow: /usr/bin/sudo by everything
    nowhere
      ask: `nowhere` is not installed [no plan]
    LD_PRELOAD=x ls
      allow: /usr/bin/ls by everything
    # Full Off
    ls
      allow: /usr/bin/ls by `ls`
    rm file
      allow: /usr/bin/rm by everything
    rm $X
      allow the text: this cannot be judged: a variable `$X`
    sudo ls
      allow: /usr/bin/sudo by everything
    nowhere
      allow the text: `nowhere` is not installed
    LD_PRELOAD=x ls
      allow: /usr/bin/ls by everything
    ");
}

#[test]
fn without_a_person_the_fallback_decides() {
    let mut lines = String::new();
    for ask in [Ask::Always, Ask::OnMiss] {
        for fallback in [Mode::Deny, Mode::Allowlist, Mode::Full] {
            for command in ["ls", "rm file", "cd link", "rm $X", "sudo ls"] {
                let mut policy = under(Mode::Full, ask, fallback);
                if fallback != Mode::Full {
                    policy.rules.mode = Mode::Allowlist;
                }
                let plan = parse(command);
                let verdict = judge(&plan, START.as_ref(), &Machine::new(), &policy);
                let verdict = render(&verdict.without_a_person(&policy.rules));
                lines.push_str(&format!("{ask:?} {fallback:?} {command}\n  {verdict}\n"));
            }
        }
    }
    insta::assert_snapshot!(lines, @"
    Always Deny ls
      deny: nobody can be asked: every command is asked about
    Always Deny rm file
      deny: nobody can be asked: nobody allowed `rm`
    Always Deny cd link
      deny: nobody can be asked: the folder `/proj/link` goes through a link
    Always Deny rm $X
      deny: nobody can be asked: this cannot be judged: a variable `$X`
    Always Deny sudo ls
      deny: `sudo` changes who or where a program is; it never runs here
    Always Allowlist ls
      allow: /usr/bin/ls by `ls`
    Always Allowlist rm file
      deny: nobody can be asked: nobody allowed `rm`
    Always Allowlist cd link
      deny: nobody can be asked: the folder `/proj/link` goes through a link
    Always Allowlist rm $X
      deny: nobody can be asked: this cannot be judged: a variable `$X`
    Always Allowlist sudo ls
      deny: `sudo` changes who or where a program is; it never runs here
    Always Full ls
      allow: /usr/bin/ls by `ls`
    Always Full rm file
      allow: /usr/bin/rm by everything
    Always Full cd link
      deny: nobody can be asked: the folder `/proj/link` goes through a link
    Always Full rm $X
      deny: nobody can be asked: this cannot be judged: a variable `$X`
    Always Full sudo ls
      allow: /usr/bin/sudo by everything
    OnMiss Deny ls
      allow: /usr/bin/ls by `ls`
    OnMiss Deny rm file
      deny: nobody can be asked: nobody allowed `rm`
    OnMiss Deny cd link
      deny: nobody can be asked: the folder `/proj/link` goes through a link
    OnMiss Deny rm $X
      deny: nobody can be asked: this cannot be judged: a variable `$X`
    OnMiss Deny sudo ls
      deny: `sudo` changes who or where a program is; it never runs here
    OnMiss Allowlist ls
      allow: /usr/bin/ls by `ls`
    OnMiss Allowlist rm file
      deny: nobody can be asked: nobody allowed `rm`
    OnMiss Allowlist cd link
      deny: nobody can be asked: the folder `/proj/link` goes through a link
    OnMiss Allowlist rm $X
      deny: nobody can be asked: this cannot be judged: a variable `$X`
    OnMiss Allowlist sudo ls
      deny: `sudo` changes who or where a program is; it never runs here
    OnMiss Full ls
      allow: /usr/bin/ls by `ls`
    OnMiss Full rm file
      allow: /usr/bin/rm by everything
    OnMiss Full cd link
      deny: nobody can be asked: the folder `/proj/link` goes through a link
    OnMiss Full rm $X
      deny: nobody can be asked: this cannot be judged: a variable `$X`
    OnMiss Full sudo ls
      allow: /usr/bin/sudo by everything
    ");
}

#[test]
fn what_is_offered_for_good_is_the_narrowest_thing() {
    insta::assert_snapshot!(table(&[
        "rm file",
        "ls | rm a; touch b",
        "rm file > out",
        "FOO=1 rm file",
        "cd sub && rm file",
    ], &policy(&["ls"])), @"
    rm file
      ask: nobody allowed `rm` [always: rm file]
    ls | rm a; touch b
      ask: nobody allowed `rm`; nobody allowed `touch` [always: rm a, touch b]
    rm file > out
      ask: nobody allowed `rm`
    FOO=1 rm file
      ask: the variable `FOO` is not among those that may be set; nobody allowed `rm` [always: rm file]
    cd sub && rm file
      ask: nobody allowed `rm` [always: rm file]
    ");
}
