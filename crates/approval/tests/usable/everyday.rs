//! What people do all day.

use metier_approval::SkillProgram;

use crate::machine::{policy, table, texts};

#[test]
fn programs_that_were_added_by_name_work_together() {
    let policy = policy(&["ls", "grep", "cat", "sort"]);
    insta::assert_snapshot!(table(&[
        "ls -la | head -5",
        "grep -n foo file 2>/dev/null | wc -l",
        "ls 2>&1",
        "cat a b | sort -r",
        "cat a && ls sub; ls",
        "ls > out.txt 2>&1",
        "sort -k2,2 -t, a | uniq -c >> out.txt",
        "cat < file",
        "LC_ALL=C sort a",
        "cd sub && ls",
        "cd sub; cd ..; ls -l",
        "/bin/ls",
    ], &policy), @"
    ls -la | head -5
      allow: /usr/bin/ls by `ls`, /usr/bin/head by filter
    grep -n foo file 2>/dev/null | wc -l
      allow: /usr/bin/grep by `grep`, /usr/bin/wc by filter
    ls 2>&1
      allow: /usr/bin/ls by `ls`
    cat a b | sort -r
      allow: /usr/bin/cat by `cat`, /usr/bin/sort by `sort`
    cat a && ls sub; ls
      allow: /usr/bin/cat by `cat`, /usr/bin/ls by `ls`, /usr/bin/ls by `ls`
    ls > out.txt 2>&1
      allow: /usr/bin/ls by `ls`
    sort -k2,2 -t, a | uniq -c >> out.txt
      allow: /usr/bin/sort by `sort`, /usr/bin/uniq by filter
    cat < file
      allow: /usr/bin/cat by `cat`
    LC_ALL=C sort a
      allow: /usr/bin/sort by `sort`
    cd sub && ls
      allow: /usr/bin/ls by `ls`
    cd sub; cd ..; ls -l
      allow: /usr/bin/ls by `ls`
    /bin/ls
      ask: nobody allowed `/bin/ls` [always: /bin/ls]
    ");
}

#[test]
fn filters_take_the_options_that_people_use() {
    let mut policy = policy(&["ls"]);
    policy.safe_programs =
        texts("cut uniq head tail tr wc sort grep cat echo printf basename dirname date");
    insta::assert_snapshot!(table(&[
        "ls | head -5",
        "ls | head -n5",
        "ls | head -n 5",
        "ls | head --lines=5",
        "ls | head -c -5",
        "ls | tail -n +3",
        "ls | tail -20",
        "ls | tr '[:lower:]' '[:upper:]'",
        r"ls | tr -d '\n'",
        "ls | tr -cs a-z -",
        "ls | sort -r -k2,2 -t,",
        "ls | sort -rn -",
        "ls | cut -d: -f1",
        "ls | cut -d - -f 1,2",
        "ls | grep -n foo",
        "ls | grep -v -e foo -e bar",
        "ls | grep -A2 foo -",
        "ls | wc -l",
        "ls | uniq -c",
        "ls | cat -n",
        "echo -e 'a b' c",
        r"printf '%s\n' a b",
        "basename /a/b.txt .txt",
        "dirname /a/b",
        "date +%F",
        "date -u -Iseconds",
        "date -d yesterday +%s",
    ], &policy), @r"
    ls | head -5
      allow: /usr/bin/ls by `ls`, /usr/bin/head by filter
    ls | head -n5
      allow: /usr/bin/ls by `ls`, /usr/bin/head by filter
    ls | head -n 5
      allow: /usr/bin/ls by `ls`, /usr/bin/head by filter
    ls | head --lines=5
      allow: /usr/bin/ls by `ls`, /usr/bin/head by filter
    ls | head -c -5
      allow: /usr/bin/ls by `ls`, /usr/bin/head by filter
    ls | tail -n +3
      allow: /usr/bin/ls by `ls`, /usr/bin/tail by filter
    ls | tail -20
      allow: /usr/bin/ls by `ls`, /usr/bin/tail by filter
    ls | tr \'[:lower:]\' \'[:upper:]\'
      allow: /usr/bin/ls by `ls`, /usr/bin/tr by filter
    ls | tr -d \'\\n\'
      allow: /usr/bin/ls by `ls`, /usr/bin/tr by filter
    ls | tr -cs a-z -
      allow: /usr/bin/ls by `ls`, /usr/bin/tr by filter
    ls | sort -r -k2,2 -t,
      allow: /usr/bin/ls by `ls`, /usr/bin/sort by filter
    ls | sort -rn -
      allow: /usr/bin/ls by `ls`, /usr/bin/sort by filter
    ls | cut -d: -f1
      allow: /usr/bin/ls by `ls`, /usr/bin/cut by filter
    ls | cut -d - -f 1,2
      allow: /usr/bin/ls by `ls`, /usr/bin/cut by filter
    ls | grep -n foo
      allow: /usr/bin/ls by `ls`, /usr/bin/grep by filter
    ls | grep -v -e foo -e bar
      allow: /usr/bin/ls by `ls`, /usr/bin/grep by filter
    ls | grep -A2 foo -
      allow: /usr/bin/ls by `ls`, /usr/bin/grep by filter
    ls | wc -l
      allow: /usr/bin/ls by `ls`, /usr/bin/wc by filter
    ls | uniq -c
      allow: /usr/bin/ls by `ls`, /usr/bin/uniq by filter
    ls | cat -n
      allow: /usr/bin/ls by `ls`, /usr/bin/cat by filter
    echo -e \'a b\' c
      allow: /usr/bin/echo by filter
    printf \'%s\\n\' a b
      allow: /usr/bin/printf by filter
    basename /a/b.txt .txt
      allow: /usr/bin/basename by filter
    dirname /a/b
      allow: /usr/bin/dirname by filter
    date +%F
      allow: /usr/bin/date by filter
    date -u -Iseconds
      allow: /usr/bin/date by filter
    date -d yesterday +%s
      allow: /usr/bin/date by filter
    ");
}

#[test]
fn make_is_allowed_where_a_person_said_so() {
    let policy = policy(&["make --dir /proj/sub"]);
    insta::assert_snapshot!(table(&[
        "cd sub && make test",
        "cd sub && make -j4 -k build/all",
        "make test",
        "cd sub && make -C .. test",
        "cd sub && make -f ../other test",
        "cd sub && make SHELL=./x test",
        "cd sub && make --eval 'x:;true'",
    ], &policy), @r"
    cd sub && make test
      allow: /usr/bin/make by `make --dir /proj/sub`
    cd sub && make -j4 -k build/all
      allow: /usr/bin/make by `make --dir /proj/sub`
    make test
      ask: the entry `make` is for `/proj/sub` alone
    cd sub && make -C .. test
      ask: `make -C .. test` is not covered by the entry `make`: it runs what a file in its folder says (with `--dir`, an entry covers plain targets there); it needs an entry with `--args`
    cd sub && make -f ../other test
      ask: `make -f ../other test` is not covered by the entry `make`: it runs what a file in its folder says (with `--dir`, an entry covers plain targets there); it needs an entry with `--args`
    cd sub && make SHELL=./x test
      ask: `make SHELL=./x test` is not covered by the entry `make`: it runs what a file in its folder says (with `--dir`, an entry covers plain targets there); it needs an entry with `--args`
    cd sub && make --eval \'x:;true\'
      ask: `make --eval 'x:;true'` is not covered by the entry `make`: it runs what a file in its folder says (with `--dir`, an entry covers plain targets there); it needs an entry with `--args`
    ");
}

#[test]
fn git_is_allowed_for_looking() {
    let policy = policy(&["git"]);
    insta::assert_snapshot!(table(&[
        "git status",
        "git status --porcelain -b",
        "git log --oneline -5 --stat",
        "git log -n 3 --format=%H -- file",
        "git diff --cached HEAD",
        "git show HEAD:file",
        "git branch -a",
        "git branch --list 'x/y'",
        "git rev-parse --abbrev-ref HEAD",
        "git --version",
    ], &policy), @r"
    git status
      allow: /usr/bin/git by `git`
    git status --porcelain -b
      allow: /usr/bin/git by `git`
    git log --oneline -5 --stat
      allow: /usr/bin/git by `git`
    git log -n 3 --format=%H -- file
      allow: /usr/bin/git by `git`
    git diff --cached HEAD
      allow: /usr/bin/git by `git`
    git show HEAD:file
      allow: /usr/bin/git by `git`
    git branch -a
      allow: /usr/bin/git by `git`
    git branch --list \'x/y\'
      allow: /usr/bin/git by `git`
    git rev-parse --abbrev-ref HEAD
      allow: /usr/bin/git by `git`
    git --version
      allow: /usr/bin/git by `git`
    ");
}

#[test]
fn an_argument_pattern_says_exactly_what_may_run() {
    let policy = policy(&[
        "git --args status( --short)?",
        "python3 --args build\\.py --dir /proj",
        "bash --args run\\.sh [a-z]+ --dir /proj",
    ]);
    insta::assert_snapshot!(table(&[
        "git status",
        "git status --short",
        "git -c alias.status='!sh' status",
        "git status; git log",
        "python3 build.py",
        "python3 build.py; python3 -c 1",
        "bash run.sh fast",
        "bash run.sh 'fast x'",
    ], &policy), @r"
    git status
      allow: /usr/bin/git by `git --args status( --short)?`
    git status --short
      allow: /usr/bin/git by `git --args status( --short)?`
    git -c alias.status=\'!sh\' status
      ask: `git -c 'alias.status=!sh' status` is not covered by the entry `git`: its arguments must be like `status( --short)?`
    git status; git log
      ask: `git log` is not covered by the entry `git`: its arguments must be like `status( --short)?`
    python3 build.py
      allow: /usr/bin/python3.11 by `python3 --args build\.py --dir /proj`
    python3 build.py; python3 -c 1
      ask: `python3 -c 1` is not covered by the entry `python3`: its arguments must be like `build\.py`
    bash run.sh fast
      allow: /usr/bin/bash by `bash --args run\.sh [a-z]+ --dir /proj`
    bash run.sh \'fast x\'
      ask: `bash run.sh 'fast x'` is not covered by the entry `bash`: its arguments must be like `run\.sh [a-z]+`
    ");
}

#[test]
fn wrappers_are_what_they_start() {
    let policy = policy(&["ls", "env"]);
    insta::assert_snapshot!(table(&[
        "env",
        "env LC_ALL=C ls",
        "timeout 5 ls -l",
        "timeout -k 1s --signal=TERM 5m nice -n 10 ls",
        "nohup ls",
        "nice -5 ls",
        "stdbuf -oL ls | head -1",
        "/usr/bin/time -p ls",
        "ionice -c 3 ls",
        "taskset -c 0,1 ls",
        "timeout 5 head -1",
    ], &policy), @"
    env
      allow: /usr/bin/env by `env`
    env LC_ALL=C ls
      allow: /usr/bin/env > /usr/bin/ls by `ls`
    timeout 5 ls -l
      allow: /usr/bin/timeout > /usr/bin/ls by `ls`
    timeout -k 1s --signal=TERM 5m nice -n 10 ls
      allow: /usr/bin/timeout > /usr/bin/nice > /usr/bin/ls by `ls`
    nohup ls
      allow: /usr/bin/nohup > /usr/bin/ls by `ls`
    nice -5 ls
      allow: /usr/bin/nice > /usr/bin/ls by `ls`
    stdbuf -oL ls | head -1
      allow: /usr/bin/stdbuf > /usr/bin/ls by `ls`, /usr/bin/head by filter
    /usr/bin/time -p ls
      allow: /usr/bin/time > /usr/bin/ls by `ls`
    ionice -c 3 ls
      allow: /usr/bin/ionice > /usr/bin/ls by `ls`
    taskset -c 0,1 ls
      allow: /usr/bin/taskset > /usr/bin/ls by `ls`
    timeout 5 head -1
      allow: /usr/bin/timeout > /usr/bin/head by filter
    ");
}

#[test]
fn programs_of_a_skill_are_allowed_by_name_as_far_as_tables_know_them() {
    let mut policy = policy(&[]);
    policy.skill_programs.push(SkillProgram {
        name: "jq".to_owned(),
        real: "/usr/bin/jq".into(),
        skill: "mail".to_owned(),
    });
    insta::assert_snapshot!(table(&["jq -r .a file | head -3", "timeout 9 jq . a", "gog mail list"], &policy), @"
    jq -r .a file | head -3
      allow: /usr/bin/jq by skill mail, /usr/bin/head by filter
    timeout 9 jq . a
      allow: /usr/bin/timeout > /usr/bin/jq by skill mail
    gog mail list
      ask: `gog mail list` is not covered by the skill `mail`: no table says what the arguments of `gog` can make it do; it needs an entry with `--args` or `--any-arguments`
    ");
}

#[test]
fn patterns_of_paths_name_real_programs() {
    let policy = policy(&[
        "/usr/bin/ls",
        "/bin/cat",
        "/usr/local/lib/*/gog --any-arguments",
        "/proj/tool",
        "/usr/**/wc",
    ]);
    insta::assert_snapshot!(table(&[
        "ls",
        "/bin/ls",
        "/usr/bin/ls",
        "cat a",
        "/usr/bin/../bin/cat a",
        "gog",
        "./tool x",
        "wc file",
    ], &policy), @"
    ls
      allow: /usr/bin/ls by `/usr/bin/ls`
    /bin/ls
      allow: /usr/bin/ls by `/usr/bin/ls`
    /usr/bin/ls
      allow: /usr/bin/ls by `/usr/bin/ls`
    cat a
      allow: /usr/bin/cat by `/bin/cat`
    /usr/bin/../bin/cat a
      allow: /usr/bin/cat by `/bin/cat`
    gog
      allow: /usr/local/lib/gog/gog by `/usr/local/lib/*/gog --any-arguments`
    ./tool x
      ask: `./tool` is `/proj/tool`, which commands could have written
    wc file
      allow: /usr/bin/wc by `/usr/**/wc`
    ");
}

#[test]
fn names_may_have_wildcards_within_trusted_folders() {
    insta::assert_snapshot!(table(&["ls", "base64 file", "cut -f1 file", "git push", "./tool"], &policy(&["*"])), @"
    ls
      allow: /usr/bin/ls by `*`
    base64 file
      allow: /usr/bin/base64 by `*`
    cut -f1 file
      allow: /usr/bin/cut by `*`
    git push
      ask: `git push` is not covered by the entry `*`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    ./tool
      ask: nobody allowed `./tool`
    ");
    insta::assert_snapshot!(table(&["base64 file", "basename x"], &policy(&["base??"])), @"
    base64 file
      allow: /usr/bin/base64 by `base??`
    basename x
      ask: nobody allowed `basename` [always: basename x]
    ");
}

#[test]
fn looking_with_find_and_sed_is_covered_by_their_names() {
    let policy = policy(&["find", "sed", "curl", "tar", "docker"]);
    insta::assert_snapshot!(table(&[
        "find . -name '*.rs' -type f -mtime -1",
        r"find . \( -name a -o -perm -u+x \) -print",
        "sed -n 5,10p file",
        "sed 's/a/b/g' file",
        "sed -E '/x/s,[a-z]+,y,2' file",
        "sed '$d' file",
        "curl -fsSL https://example.com/a",
        "tar -tzf a.tgz",
        "docker ps -a",
    ], &policy), @r"
    find . -name \'*.rs\' -type f -mtime -1
      allow: /usr/bin/find by `find`
    find . \\( -name a -o -perm -u+x \\) -print
      allow: /usr/bin/find by `find`
    sed -n 5,10p file
      allow: /usr/bin/sed by `sed`
    sed \'s/a/b/g\' file
      allow: /usr/bin/sed by `sed`
    sed -E \'/x/s,[a-z]+,y,2\' file
      allow: /usr/bin/sed by `sed`
    sed \'$d\' file
      allow: /usr/bin/sed by `sed`
    curl -fsSL https://example.com/a
      allow: /usr/bin/curl by `curl`
    tar -tzf a.tgz
      allow: /usr/bin/tar by `tar`
    docker ps -a
      allow: /usr/bin/docker by `docker`
    ");
}
