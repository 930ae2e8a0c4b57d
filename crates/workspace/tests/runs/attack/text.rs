//! Text that is more than text to somebody: variables that load code, signs of a shell, very long values.

use std::fs;

use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::bench::Bench;

/// Text that breaks out of quotes of every kind, and would leave a file behind.
const BREAKOUT: &str =
    "x'; touch PWNED; '\"; touch PWNED; \"$(touch PWNED)`touch PWNED`\ntouch PWNED";

/// Names that decide what a program loads, where it looks, or how a shell reads.
const LOADERS: &[&str] = &[
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "ld_preload",
    "DYLD_INSERT_LIBRARIES",
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "BASHOPTS",
    "IFS",
    "CDPATH",
    "GLOBIGNORE",
    "BASH_FUNC_ls%%",
    "BASH_FUNC_ls()",
    "GIT_SSH_COMMAND",
    "GIT_EXEC_PATH",
    "GIT_CONFIG_COUNT",
    "GIT_DIR",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "PYTHONBREAKPOINT",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5OPT",
    "PERL5LIB",
    "RUBYOPT",
    "RUBYLIB",
    "LUA_INIT",
    "LUA_PATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "GCONV_PATH",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "OPENSSL_ENGINES",
    "GLIBC_TUNABLES",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY",
    "https_proxy",
    "NO_PROXY",
    "ALL_PROXY",
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "WORK_DIR",
    "RUN_DIR",
    "SKILL_NAME",
    "METIER_HOME",
    "PIP_INDEX_URL",
    "UV_INDEX_URL",
    "npm_config_registry",
    "RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "MAKEFLAGS",
    "LESSOPEN",
    "DOTNET_STARTUP_HOOKS",
    "XDG_CONFIG_HOME",
    "SSH_ASKPASS",
    "TCLLIBPATH",
    "BASH_XTRACEFD",
    "MAKEFILES",
    "TAR_OPTIONS",
    "AWKPATH",
    "AWKLIBPATH",
    "R_PROFILE",
    "R_ENVIRON_USER",
    "VIMINIT",
    "EXINIT",
    "GTK_MODULES",
    "QT_PLUGIN_PATH",
    "TERMINFO",
    "TERMINFO_DIRS",
    "BC_ENV_ARGS",
    "GCC_EXEC_PREFIX",
    "CMAKE_TOOLCHAIN_FILE",
    "GUILE_LOAD_PATH",
    "EMACSLOADPATH",
    "GST_PLUGIN_PATH",
    "GIO_EXTRA_MODULES",
    "MAGICK_CONFIGURE_PATH",
    "GS_LIB",
    "TEXINPUTS",
    "FONTCONFIG_FILE",
    "PSQLRC",
    "DOCKER_HOST",
    "KUBECONFIG",
    "AWS_CONFIG_FILE",
    "KRB5_CONFIG",
    "RSYNC_RSH",
    "CURL_HOME",
    "WGETRC",
    "EDITOR",
    "AWS_PAGER",
    "ZDOTDIR",
    "INPUTRC",
    "XDG_DATA_DIRS",
    "DBUS_SESSION_BUS_ADDRESS",
    "FZF_DEFAULT_COMMAND",
    "",
    "A=B",
    "A B",
    "1A",
    "A\0",
    "A\nB",
];

/// Programs that do something else because of a variable: its name and value, and a command that prints `loaded` then.
const REAL: &[(&str, &str, &str)] = &[
    ("MAKEFILES", "{}/code.mk", "echo '$(info loaded)' > code.mk; echo 'all:' > Makefile; make"),
    (
        "TAR_OPTIONS",
        "--checkpoint=1 --checkpoint-action=exec=cat${IFS}code.txt",
        "echo loaded > code.txt; tar -cf x.tar code.txt",
    ),
    ("BC_ENV_ARGS", "{}/code.bc", "echo 'print \"loaded\"' > code.bc; echo 1 | bc"),
    ("PERL5OPT", "-M-strict;print+qq(loaded)", "perl -e 1"),
    ("PERL5LIB", "{}", "echo 'print qq(loaded); 1' > Code.pm; perl -MCode -e 1"),
    ("PYTHONPATH", "{}", "echo 'print(\"loaded\")' > sitecustomize.py; python3 -c 1"),
    ("BASH_ENV", "{}/code.sh", "echo 'echo loaded' > code.sh; bash -c true"),
    ("GIT_PAGER", "echo loaded; cat", "git -p --version"),
    ("LESSOPEN", "|echo loaded %s", "echo x > x; less -FX x"),
    ("MANPAGER", "echo loaded; cat", "man -P '' true"),
    (
        "AWKPATH",
        "{}",
        "mkdir -p d; echo 'BEGIN { print \"loaded\" }' > code.awk; cd d; gawk -f code.awk",
    ),
];

/// Makes sure that no variable of [`REAL`] can be given to a run. Where its program is there, the command itself sets it
/// first, to see that it does what is said of it.
fn real_programs(bench: &Bench) -> Result<usize, Failed> {
    let mut loaded = 0;
    for (name, value, command) in REAL {
        let inside =
            format!("cd $WORK_DIR; V=\"{}\"", value.replace("{}", "$PWD").replace('"', "\\\""));
        let (prepared, program) = command.rsplit_once("; ").unwrap_or(("true", command));
        let output =
            bench.sh(&format!("{inside}; {prepared}; {name}=\"$V\" {program} 2>/dev/null"));
        loaded += usize::from(output.stdout.contains("loaded"));
        let request = json!({"skill": "demo", "command": command, "env": {*name: value}});
        let refused = bench.run(request).expect_err("it is not run").to_string();
        assert_eq!(
            refused,
            format!(
                "`env`: `{name}` may not be set for a run; it decides what programs load or where they look"
            )
        );
    }
    Ok(loaded)
}

pub(super) fn environment_loaders(bench: &Bench) -> Result<(), Failed> {
    let loaded = real_programs(bench)?;
    // `bash` is there in any case.
    assert!(loaded > 0, "no program loaded anything");
    let mut accepted = Vec::new();
    for name in LOADERS {
        let request = json!({"skill": "demo", "command": "true", "env": {*name: "x"}});
        if bench.run(request).is_ok() {
            accepted.push(*name);
        }
    }
    assert_eq!(accepted, Vec::<&str>::new());
    // Those of an image count for nothing either.
    let set = bench.sh(
        "env | grep -v =$ | cut -d= -f1 | grep -e ^LD_ -e ^BASH_ENV -e PROXY; ls $WORK_DIR $HOME",
    );
    assert_eq!((set.stdout.contains("LD_"), set.exit_code), (false, Some(0)), "{set:?}");
    assert!(!set.stdout.contains("BASH_ENV") && !set.stdout.contains("PROXY"), "{set:?}");
    assert_eq!(set.stderr, "");
    Ok(())
}

pub(super) fn signs_of_a_shell(bench: &Bench) -> Result<(), Failed> {
    let command = "printf '%s' \"$VALUE\"; cat";
    let plain =
        json!({"skill": "demo", "command": command, "env": {"VALUE": BREAKOUT}, "stdin": BREAKOUT});
    let output = bench.run(plain)?;
    assert_eq!(output.stdout, BREAKOUT.repeat(2), "{output:?}");
    let attempts: Vec<(&str, Value)> = vec![
        ("skill", json!(BREAKOUT)),
        ("cwd", json!(BREAKOUT)),
        ("env", json!({BREAKOUT: "x"})),
        ("inputs", json!([{"from": BREAKOUT}])),
        ("inputs", json!([{"from": format!("workspace://out/{BREAKOUT}")}])),
        ("inputs", json!([{"from": format!("skill://demo/{BREAKOUT}")}])),
        ("inputs", json!([{"from": format!("artifact://{BREAKOUT}")}])),
        ("inputs", json!([{"from": "skill://demo/SKILL.md", "to": format!("work/{BREAKOUT}")}])),
        ("inputs", json!([{"from": "skill://demo/SKILL.md", "to": "work/x'; touch PWNED; '"}])),
        ("output_files", json!([BREAKOUT])),
        ("output_files", json!(["out/x'; touch PWNED; '*"])),
        ("outputs", json!({"globs": ["out/*"], "save": true, "name_template": BREAKOUT})),
        ("artifact_prefix", json!(BREAKOUT)),
    ];
    for (field, value) in attempts {
        let mut request = json!({
            "skill": "demo", "command": "echo x > 'out/x'\\''; touch PWNED; '\\'''", "save_as_artifacts": true
        });
        request[field] = value;
        // Refused or taken as a name; never as a command.
        let _either = bench.run(request);
        let found = crate::bench::find(&bench.path(""), "PWNED");
        assert!(found.is_empty(), "{field}: {found:?}");
    }
    Ok(())
}

pub(super) fn quotes_and_newlines(bench: &Bench) -> Result<(), Failed> {
    let evil = "x'; touch $WORKSPACE_DIR/out/pwned; '\"; touch out/pwned; \"`touch out/pwned`";
    let mut bench = Bench::new(bench.who);
    bench.session = format!("{evil}\n$(touch /tmp/pwned)");
    let name = format!("{evil}\nnext");
    // A folder cannot have a slash in its name; the tree's name can.
    bench.write("skills/plain/SKILL.md", "---\nname: plain\n---\n");
    let evil_file = evil.replace('/', "_");
    let mut order = bench.order(json!({
        "skill": "plain",
        "inputs": [
            {"from": "skill://plain/SKILL.md", "to": format!("work/inputs/{evil_file}")},
            {"from": "skill://plain/SKILL.md", "to": format!("work/{evil_file}/in")}
        ],
        "cwd": format!("$WORK_DIR/{evil_file}"),
        "env": {"GIVEN": name},
        "stdin": name,
        "command": "cat > \"$WORKSPACE_DIR/out/$GIVEN.txt\" 2>/dev/null; cat; \
            printf '%s' \"$SKILL_NAME\"; ls ../inputs | wc -l; ls $WORKSPACE_DIR/out",
        "outputs": {"globs": ["out/pwned", "work/**/pwned"]}
    }));
    order.trees[0].name.clone_from(&name);
    order.request.skill.clone_from(&name);
    for input in &mut order.request.inputs {
        input.from = "workspace://work/seed".to_owned();
    }
    fs::write(bench.workspace().join("work/seed"), "seed")?;
    let live = Box::new(|_, _: &[u8]| {});
    let cancel = metier_sandbox::Cancel::new()?;
    let output = crate::bench::block_on(bench.runner.run(order, live, cancel))?;
    assert!(output.stdout.contains(&name), "{output:?}");
    assert!(output.output_files.is_empty(), "{output:?}");
    assert!(!bench.workspace().join("out/pwned").exists());
    Ok(())
}

pub(super) fn times_that_are_none(bench: &Bench) -> Result<(), Failed> {
    for timeout in [0.0, -1.0, -0.0, 1e300, 1e18, 3601.0, 1e-12] {
        let request = json!({"skill": "demo", "command": "true", "timeout": timeout});
        assert!(bench.run(request).is_err(), "{timeout}");
    }
    for command in ["", " \n\t", "a\0b"] {
        assert!(bench.run(json!({"skill": "demo", "command": command})).is_err(), "{command:?}");
    }
    Ok(())
}

pub(super) fn very_long_values(bench: &Bench) -> Result<(), Failed> {
    let long = "a".repeat(9 << 20);
    let deep = "a/".repeat(100_000);
    for (field, value) in [
        ("skill", json!(long)),
        ("command", json!(format!("true {long}"))),
        ("cwd", json!(deep)),
        ("env", json!({"A": long})),
        ("inputs", json!([{"from": format!("workspace://{deep}")}])),
        ("inputs", json!([{"from": "skill://demo/SKILL.md", "to": format!("work/{deep}")}])),
        (
            "inputs",
            json!([{"from": "skill://demo/SKILL.md", "to": format!("work/{}", "n".repeat(300))}]),
        ),
        ("output_files", json!([deep])),
    ] {
        let mut request = json!({"skill": "demo", "command": "true"});
        request[field] = value;
        assert!(bench.run(request).is_err(), "{field}");
    }
    let input = json!({"skill": "demo", "command": "wc -c", "stdin": long});
    assert_eq!(bench.run(input)?.stdout.trim(), "9437184");
    assert_eq!(bench.sh("echo still works").stdout, "still works\n");
    Ok(())
}
