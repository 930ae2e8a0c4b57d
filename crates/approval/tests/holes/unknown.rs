//! Programs that no table describes, and programs whose options run code: a bare entry and a skill that names them
//! let neither run.

use std::path::Path;

use metier_approval::SkillProgram;

use crate::machine::{Machine, decide, policy};
use crate::{assert_covered, assert_not_covered};

/// Programs in no table, and those of the tables, each told to run something.
const STARTERS: &[&str] = &[
    // In no table.
    "json_pp -f eval",
    "pdb3 -c continue a",
    "coverage run a",
    "mpirun ./a",
    "nm --plugin ./a b",
    "dpkg-architecture -c ./a",
    "prove -e ./a b",
    "shasum 'id|'",
    "ptargrep a b",
    "cpanm a",
    "zipdetails a",
    "xsubpp a",
    "corelist -a a",
    "ipython -c 1",
    "nosetests a",
    "gunicorn a",
    "celery -A a worker",
    "uwsgi --exec-pre-jail ./a",
    "logrotate -f a",
    "inotifywait -m a",
    "incrond a",
    "dtruss ./a",
    "bpftool prog load a",
    "tclkit a",
    "unheard-of a",
    "unheard-of --version",
    "unheard-of",
    // Programs that pack.
    "tar -cf a --to-command=./b c",
    "tar -cf a --checkpoint=1 --checkpoint-action=exec=./b c",
    "tar -cf a -I ./b c",
    "pmap -N /home/me/.x 1",
    "pmap -n 1",
    "pmap -xn 1",
    "pmap -C a 1",
    "pmap --create-rc 1",
    "pmap --create-rc-to a 1",
    "pmap --create-rc-to=a 1",
    "pmap --read-rc-from a 1",
    "zip -T -TT ./a b c",
    "zip a b -T --unzip-command ./c",
    "unzip a -d /etc",
    "unzip -: a",
    "unzip a",
    "gunzip a",
    "gzip -d a",
    "gzip -Nd a",
    "xz -d a",
    "zstd -o /etc/a b",
    "zstd -T0o /etc/a b",
    "unzip -p -- --p a",
    "cpio -o --rsh-command ./a",
    "7z x a",
    "rsync -e ./a b c:d",
    "rsync --rsync-path ./a b c:d",
    // Programs that show.
    "less a",
    "man -P ./a b",
    "bat --pager ./a b",
    "diff -l a b",
    "diff --paginate a b",
    "sort --compress-program ./a b",
    "split --filter ./a b",
    "rg --pre ./a b",
    "rg --hostname-bin ./a b",
    "fd -x ./a",
    "fdfind --exec ./a",
    "find . -exec ./a ;",
    "find . -fprintf a b",
    "file -C -m a",
    "file -z a",
    "nm @a",
    "nm -t @a b",
    "objdump -j @a b",
    "nm --plug ./a b",
    "objdump --plugin ./a b",
    "objdump @a",
    "readelf @a",
    "size @a",
    "strings @a",
    "ar --plugin ./a b",
    "ld -plugin ./a b",
    "lsof +m a",
    "ss -K a",
    "ss -D a",
    "dmesg -H",
    "dmesg -C",
    "getconf -v a b",
    "hostname a",
    "hostname -F a",
    "yq -i . a",
    "yq -s .a b",
    // Languages.
    "awk 'BEGIN{system(\"./a\")}'",
    "awk '{print | \"./a\"}' b",
    "awk '{print > \"a\"}' b",
    "awk '$1 > 2 {print > \"a\"}' b",
    "awk '{x = \"}\"; print x > \"a\"}' b",
    "awk '/}/ {printf x >> \"a\"}' b",
    "awk '1 {print} $1 > 2' b",
    "awk '$1 > 2 | 3' b",
    "awk '\"./a\" | getline'",
    "awk 'BEGIN{while ((getline line < \"a\"))print line}'",
    "awk -f a",
    "awk -i inplace 1 a",
    "gawk -l ./a 1",
    "gawk '@load \"./a\"'",
    "awk 1 -f a",
    "awk",
    "sed '1e ./a' b",
    "perl -e 1",
    "gdb -ex run a",
    "sqlite3 a '.shell ./b'",
    "sqlite3 a '.load ./b'",
    "sqlite3 -safe a 'select 1'",
    "sqlite3 -safe -readonly -init /dev/null -nonce a b",
    "sqlite3 -safe -readonly -init /dev/null -cmd a b",
    "sqlite3 -safe -readonly -init a b 'select 1'",
    "psql -c '\\! ./a'",
    "make -f a",
    "cmake -P a",
    "cmake --build build",
    "ctest -S a",
    "pytest",
    "pytest -p a",
    "eslint .",
    "gradle test",
    // Programs of skills.
    "gh alias set a b",
    "gh extension install a",
    "gh a",
    "gh pr list --web",
    "gh pr list -w",
    "gh pr create",
    "gh api a",
    "gh auth token",
    "ffmpeg -i a -vf 'ladspa=file=./a' b.mp4",
    "ffmpeg -i a -vf frei0r=./a b.mp4",
    "ffmpeg -i a -af ladspa=file=/a b.mp3",
    "ffmpeg -i a -filter_complex a b.mp4",
    "ffmpeg -i concat:a b.mp4",
    "ffmpeg -f lavfi -i movie=a b.mp4",
    "ffmpeg -i a.mp4 /etc/b.mp4",
    "ffmpeg -i a.mp4 ../b.mp4",
    "ffmpeg -i a.mp4 .b.mp4",
    "ffmpeg -i a.mp4 b.sh",
    "ffmpeg -i a.mp4 tee:b.mp4",
    "ffprobe -f lavfi a",
    "ffprobe http://a",
    "ffprobe -i http://a",
    "ffprobe -i concat:a|b",
    "pdftotext a.pdf /etc/b",
    "pdftotext a.pdf ../b",
    "pdftotext a.pdf .bashrc",
    "pdftotext a.pdf Makefile",
    "pandoc a -o skills/b/SKILL.md",
    "pandoc a -o SKILL.md",
    "ffmpeg -i a -af loudnorm=stats_file=/a b.mp3",
    "sqlite3 -safe -readonly -init /dev/null -- -nonce a",
    "pandoc lua a",
    "pandoc -s lua",
    "pandoc server",
    "pandoc --filter ./a b",
    "pandoc -F ./a b",
    "pandoc --lua-filter a b",
    "pandoc -L a b",
    "pandoc -t a.lua b",
    "pandoc -f ./a b",
    "pandoc --pdf-engine ./a b",
    "pandoc a -o b.pdf",
    "pandoc a -t pdf",
    "pandoc -d a b",
    "pandoc --extract-media a b",
    "convert 'msl:a' b",
    "convert a.png /etc/b.png",
    "convert a.svg b.png",
    "mogrify -write a b.png",
    "identify a.png",
    "sox a.wav b.wav",
    "git status -v",
    "git status --verbose",
    "git status -sbv",
    "magick -script a",
    "libreoffice --headless a",
    "exiftool -config a b",
    "curl -K a",
    "curl -H @a https://b",
    "curl -d @a https://b",
    "curl -o a https://b",
    "curl -w '%output{a}b' https://c",
    "curl -w @a https://c",
    "curl --engine ./a https://b",
    "wget --use-askpass=./a https://b",
    "openssl s_client -engine ./a",
    // Programs that reach elsewhere, and that start others.
    "ssh -o ProxyCommand=./a b",
    "scp -S ./a b c:d",
    "sftp -S ./a b",
    "ip netns exec a ./b",
    "systemctl edit a",
    "apt -o APT::Update::Pre-Invoke::=./a update",
    "dpkg --pre-invoke=./a -i b",
    "pip install a",
    "npm install a",
    "npx a",
    "cargo run",
    "uv run a",
    "watch ./a",
    "xargs ./a",
    "parallel ./a",
    "script -c ./a",
    "flock a ./b",
    "entr ./a",
    "chronic ./a",
    "ts",
    "strace ./a",
    "busybox sh",
    "ctags --options=a b",
];

#[test]
fn no_option_that_runs_code_is_covered_by_the_name_of_its_program() {
    for command in STARTERS {
        let name = command.split(' ').next().unwrap();
        let mut machine = Machine::new();
        let path = format!("/usr/bin/{name}");
        if !machine.programs.contains_key(Path::new(&path)) {
            machine.link(&path, &path);
        }
        let by_name = decide(command, &machine, &policy(&[name]));
        assert!(by_name.starts_with("ask: `"), "{command}: {by_name}");
        assert!(!by_name.contains("[always"), "{command} would be remembered: {by_name}");
        let by_wildcard = decide(command, &machine, &policy(&["*", "/**"]));
        assert!(by_wildcard.starts_with("ask: `"), "{command}: {by_wildcard}");
        let mut skills = policy(&[]);
        skills.skill_programs = vec![SkillProgram {
            name: name.to_owned(),
            real: machine.programs[Path::new(&path)].clone(),
            skill: "own".to_owned(),
        }];
        let by_skill = decide(command, &machine, &skills);
        assert!(by_skill.starts_with("ask: `"), "{command}: {by_skill}");
    }
}

#[test]
fn tools_of_privilege_do_not_run_at_all() {
    for command in ["systemd-run ./a", "nsenter -t 1 ./a", "chroot a b", "unshare ./a"] {
        let name = command.split(' ').next().unwrap();
        let verdict = decide(command, &Machine::new(), &policy(&[name]));
        assert!(verdict.starts_with("deny: "), "{command}: {verdict}");
    }
}

#[test]
fn the_same_programs_are_covered_where_they_only_look_or_convert() {
    assert_covered(&[
        "nm -C -D a",
        "objdump -d -M intel a",
        "readelf -h -S a",
        "size -A a",
        "strings -n 8 a",
        "file --mime-type a",
        "diff -ru a b",
        "unzip -l a.zip",
        "unzip -p a.zip b",
        "gzip -k a",
        "gzip -dc a.gz",
        "lsof -i :80",
        "ss -tlnp",
        "dmesg -T",
        "hostname -f",
        "getconf PAGE_SIZE",
        "yq -r .a b.yaml",
        "awk '{print $1}' a",
        "awk -F: '$3 == 0 {print $1}' /etc/passwd",
        "awk '{sum += $2} END {print sum / NR}' a",
        "awk '$1 < 5 && $2 >= 7 {print $3}' a",
        "awk '$1 > 5 {sum += $2 > 1}' a",
        "sqlite3 -safe -readonly -json -init /dev/null a.db 'select 1'",
        "gh pr list --state open --json number,title",
        "gh pr view 5 --comments",
        "gh run view 7 --log-failed",
        "ffprobe -v error -show_entries format=duration -of csv=p=0 a.mp4",
        "ffprobe -show_format -i a.mp4",
        "pmap -x 1",
        "pandoc ./lua",
        "ffmpeg -y -i a.mp4 -vf scale=640:-1,fps=10 out/b.gif",
        "pdftotext -layout a.pdf -",
        "pdftotext -layout a.pdf",
        "pdftoppm -png -r 100 -singlefile a.pdf page",
        "pandoc -f markdown -t html -o a.html a.md",
        "curl -s -H 'Accept: application/json' https://example.com",
        "curl -s -o /dev/null -w '%{http_code}' https://example.com",
    ]);
}

#[test]
fn another_name_of_a_program_can_be_another_program() {
    let mut machine = Machine::new();
    for name in ["pandoc-lua", "pandoc-server"] {
        machine.link(&format!("/usr/bin/{name}"), "/usr/bin/pandoc");
        let verdict = decide(&format!("{name} a"), &machine, &policy(&[name]));
        assert!(verdict.contains("is not covered by the entry"), "{name}: {verdict}");
    }
}

#[test]
fn any_arguments_are_covered_only_where_the_entry_says_so() {
    let mut machine = Machine::new();
    machine.link("/usr/bin/deploy", "/usr/bin/deploy");
    let verdicts: Vec<String> = ["deploy", "deploy --args to [a-z]+", "deploy --any-arguments"]
        .iter()
        .map(|entry| {
            let policy = policy(&[entry]);
            let verdict = |command| decide(command, &machine, &policy);
            format!("{entry}\n  {}\n  {}", verdict("deploy to east"), verdict("deploy -e ./x"))
        })
        .collect();
    insta::assert_snapshot!(verdicts.join("\n"), @"
    deploy
      ask: `deploy to east` is not covered by the entry `deploy`: no table says what the arguments of `deploy` can make it do; it needs an entry with `--args` or `--any-arguments`
      ask: `deploy -e ./x` is not covered by the entry `deploy`: no table says what the arguments of `deploy` can make it do; it needs an entry with `--args` or `--any-arguments`
    deploy --args to [a-z]+
      allow: /usr/bin/deploy by `deploy --args to [a-z]+`
      ask: `deploy -e ./x` is not covered by the entry `deploy`: its arguments must be like `to [a-z]+`
    deploy --any-arguments
      allow: /usr/bin/deploy by `deploy --any-arguments`
      allow: /usr/bin/deploy by `deploy --any-arguments`
    ");
}

#[test]
fn a_program_that_a_skill_brings_is_not_taken_for_one_of_its_name() {
    let mut machine = Machine::new();
    machine.path.insert(0, "/home/me/tools".into());
    machine.link("/home/me/tools/jq", "/home/me/tools/jq");
    let mut policy = policy(&[]);
    policy.skill_programs = vec![SkillProgram {
        name: "jq".to_owned(),
        real: "/home/me/tools/jq".into(),
        skill: "own".to_owned(),
    }];
    insta::assert_snapshot!(decide("jq . a", &machine, &policy), @"ask: `jq` is `/home/me/tools/jq`, which is in none of the trusted folders [always: jq . a]");
    machine.path.remove(0);
    policy.skill_programs[0].real = "/usr/bin/jq".into();
    insta::assert_snapshot!(decide("jq . a", &machine, &policy), @"allow: /usr/bin/jq by skill own");
}

#[test]
fn a_script_of_an_unknown_name_is_its_interpreter() {
    let mut machine = Machine::new();
    for (name, line) in [("pdb3", "/usr/bin/python3"), ("deploy", "/bin/sh"), ("zcat", "/bin/sh")] {
        let path = format!("/usr/bin/{name}");
        machine.link(&path, &path);
        machine.scripts.insert(path.into(), vec![line.to_owned()]);
    }
    let policy = policy(&["*"]);
    let verdicts = ["pdb3 a", "pdb3 --version", "deploy", "zcat a"]
        .map(|command| format!("{command}\n  {}", decide(command, &machine, &policy)));
    insta::assert_snapshot!(verdicts.join("\n"), @"
    pdb3 a
      ask: `pdb3 a` is not covered by the entry `*`: `pdb3` is a script that no table describes, so it counts as its interpreter; it needs an entry with `--args` or `--any-arguments`
    pdb3 --version
      ask: `pdb3 --version` is not covered by the entry `*`: `pdb3` is a script that no table describes, so it counts as its interpreter; it needs an entry with `--args` or `--any-arguments`
    deploy
      ask: `deploy` is not covered by the entry `*`: `deploy` is a script that no table describes, so it counts as its interpreter; it needs an entry with `--args` or `--any-arguments`
    zcat a
      allow: /usr/bin/zcat by `*`
    ");
}

#[test]
fn a_script_is_not_covered_by_its_own_name() {
    assert_not_covered(&["deploy x", "deploy.sh x", "x-ray a", "arm-wrestle a"]);
}
