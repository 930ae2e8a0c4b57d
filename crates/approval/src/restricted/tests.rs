use super::*;

fn run(text: &str, allowed: &str, denied: &str) -> String {
    let list = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let allowed = Some(list(allowed)).filter(|names| !names.is_empty());
    match restricted(text, allowed.as_deref(), &list(denied)) {
        Ok(words) => format!("{words:?}"),
        Err(refusal) => refusal.to_string(),
    }
}

fn table(cases: &[&str], allowed: &str, denied: &str) -> String {
    let lines = cases.iter().map(|text| format!("{text}\n  {}", run(text, allowed, denied)));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn only_one_plain_command_is_taken() {
    insta::assert_snapshot!(table(&[
        "ls -l 'a b'",
        "ls | wc",
        "ls; ls",
        "ls && ls",
        "ls > x",
        "ls 2>&1",
        "A=1 ls",
        "cd x",
        "ls $X",
        "ls *",
        "$(ls)",
        "",
    ], "ls wc cd", ""), @r#"
    ls -l 'a b'
      ["ls", "-l", "a b"]
    ls | wc
      only one plain command may run here, without anything of a shell: this has a pipe
    ls; ls
      only one plain command may run here, without anything of a shell: this has several commands
    ls && ls
      only one plain command may run here, without anything of a shell: this has several commands
    ls > x
      only one plain command may run here, without anything of a shell: this has a redirection
    ls 2>&1
      only one plain command may run here, without anything of a shell: this has a redirection
    A=1 ls
      only one plain command may run here, without anything of a shell: this has a variable
    cd x
      only one plain command may run here, without anything of a shell: this has `cd`
    ls $X
      only one plain command may run here, without anything of a shell: this has a variable `$X`
    ls *
      only one plain command may run here, without anything of a shell: this has a glob `*`
    $(ls)
      only one plain command may run here, without anything of a shell: this has a command substitution `$(…)`

      only one plain command may run here, without anything of a shell: this has an empty command
    "#);
}

#[test]
fn an_empty_list_allows_nothing() {
    let refused = restricted("ls", Some(&[]), &[]).unwrap_err();
    insta::assert_snapshot!(refused, @"`ls` is not among the allowed commands");
}

#[test]
fn every_program_must_be_allowed() {
    insta::assert_snapshot!(table(&[
        "ls",
        "/usr/bin/ls",
        "LS",
        "curl x",
        "env ls",
        "env curl x",
        "timeout 5 ls",
        "env timeout 5 curl x",
        "env -S 'curl x'",
        "find . -exec curl x ';'",
        "find . -name x",
    ], "ls env find", ""), @r#"
    ls
      ["ls"]
    /usr/bin/ls
      `/usr/bin/ls` is not among the allowed commands
    LS
      `LS` is not among the allowed commands
    curl x
      `curl` is not among the allowed commands
    env ls
      ["env", "ls"]
    env curl x
      `curl` is not among the allowed commands
    timeout 5 ls
      `timeout` is not among the allowed commands
    env timeout 5 curl x
      `timeout` is not among the allowed commands
    env -S 'curl x'
      `env` could start other commands that nobody sees, so it may not run where some are denied or only some allowed
    find . -exec curl x ';'
      `find` could start other commands that nobody sees, so it may not run where some are denied or only some allowed
    find . -name x
      ["find", ".", "-name", "x"]
    "#);
}

#[test]
fn what_is_denied_is_seen_through_wrappers() {
    insta::assert_snapshot!(table(&[
        "curl x",
        "/usr/bin/curl x",
        "./curl",
        "env curl x",
        "env A=1 timeout 5 /usr/bin/curl x",
        "nice -n 5 nohup curl x",
        "env -S 'curl x'",
        "env LD_PRELOAD=x ls",
        "bash -c 'curl x'",
        "busybox wget x",
        "xargs curl",
        "npx x",
        "sudo curl x",
        "find . -exec curl x ';'",
        "nice nice nice nice nice nice ls",
        "python3 build.py",
        "ls curl",
    ], "", "curl"), @r#"
    curl x
      `curl` is a denied command
    /usr/bin/curl x
      `/usr/bin/curl` is a denied command
    ./curl
      `./curl` is a denied command
    env curl x
      `curl` is a denied command
    env A=1 timeout 5 /usr/bin/curl x
      `/usr/bin/curl` is a denied command
    nice -n 5 nohup curl x
      `curl` is a denied command
    env -S 'curl x'
      `env` could start other commands that nobody sees, so it may not run where some are denied or only some allowed
    env LD_PRELOAD=x ls
      `env` could start other commands that nobody sees, so it may not run where some are denied or only some allowed
    bash -c 'curl x'
      `bash` could start other commands that nobody sees, so it may not run where some are denied or only some allowed
    busybox wget x
      `busybox` could start other commands that nobody sees, so it may not run where some are denied or only some allowed
    xargs curl
      `xargs` could start other commands that nobody sees, so it may not run where some are denied or only some allowed
    npx x
      `npx` could start other commands that nobody sees, so it may not run where some are denied or only some allowed
    sudo curl x
      `sudo` could start other commands that nobody sees, so it may not run where some are denied or only some allowed
    find . -exec curl x ';'
      `find` could start other commands that nobody sees, so it may not run where some are denied or only some allowed
    nice nice nice nice nice nice ls
      `nice` could start other commands that nobody sees, so it may not run where some are denied or only some allowed
    python3 build.py
      ["python3", "build.py"]
    ls curl
      ["ls", "curl"]
    "#);
    insta::assert_snapshot!(run("curl x", "curl", "curl"), @"`curl` is a denied command");
}
