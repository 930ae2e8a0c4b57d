use std::path::PathBuf;

use super::uses::all_names as uses_names;
use super::*;
use crate::facts::Executable;
use crate::facts::{FileFact, Identity};

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn program(path: &str) -> Executable {
    let file = FileFact { real: PathBuf::from(path), identity: Identity::default() };
    Executable { path: path.into(), file, is_replaceable: false, interpreter: None }
}

fn kind(path: &str) -> String {
    format!("{:?}", kind_of(path, Some(&program(path)))).split('(').next().unwrap().to_owned()
}

#[test]
fn programs_are_known_by_every_form_of_their_name() {
    let kinds = [
        (
            "Interpreter",
            "python python3 python3.11 Python3 pypy3 node18 lua5.4 php8.2 vim.basic perl5.36.0 ld-linux-x86-64.so.2",
        ),
        ("Shell", "sh bash bash-5.2 BASH zsh5 dash pwsh"),
        ("Privilege", "sudo su sudo.ws doas"),
        ("Runner", "npx npm pip3 pip3.11 uvx"),
        ("MultiCall", "busybox busybox.static toybox"),
        ("Carrier", "xargs linux32 nc.openbsd proxychains4"),
        ("Wrapper", "env timeout nice"),
        ("Ordinary", "ls base64 md5sum git sum supper shred git.sh bash.py"),
    ];
    for (expected, names) in kinds {
        for name in names.split(' ') {
            assert_eq!(kind(&format!("/usr/bin/{name}")), expected, "{name}");
        }
    }
}

#[test]
fn a_program_that_is_many_is_the_one_it_is_called() {
    let mut applet = program("/bin/busybox");
    applet.path = "/bin/ls".into();
    assert!(kind_of("ls", Some(&applet)).is_ordinary());
    applet.path = "/bin/sh".into();
    assert!(matches!(kind_of("sh", Some(&applet)), Kind::Shell));
    assert!(matches!(kind_of("/bin/busybox", Some(&program("/bin/busybox"))), Kind::MultiCall));
}

fn is_covered(text: &str, program: &Executable) -> bool {
    let words = words(text);
    uncovered(&words, (program, kind_of(&words[0], Some(program))), false).is_none()
}

fn inner(text: &str) -> String {
    let words = words(text);
    let Kind::Wrapper(wrapper) = kind_of(&words[0], None) else {
        return "not a wrapper".to_owned();
    };
    match inner_of(wrapper, &words) {
        Ok(None) => "nothing".to_owned(),
        Ok(Some(inner)) => words[inner.at..].join(" "),
        Err(word) => format!("unknown: {word}"),
    }
}

#[test]
fn what_a_wrapper_starts_is_found_or_nothing_is_said() {
    let cases = [
        "env ls",
        "env A=1 B=2 ls -l",
        "env -- ls",
        "env A=1",
        "env -i ls",
        "env -",
        "nice -n 5 ls",
        "nice -n5 ls",
        "nice --adjustment=5 ls",
        "nice --adjustment 5 ls",
        "nice -19 ls",
        "nice ls -n",
        "nohup -- ls",
        "nohup --x ls",
        "timeout 5 ls",
        "timeout 5s",
        "timeout ls x",
        "timeout -s KILL 5 ls",
        "timeout --signal=9 5 ls",
        "timeout -- 5 ls",
        "timeout 5 -- ls",
        "timeout -x 5 ls",
        "stdbuf -oL -eL ls",
        "stdbuf -o L ls",
        "stdbuf --output=L ls",
        "ionice -c3 ls",
        "ionice -p 7",
        "taskset 0x3 ls",
        "taskset -c 0-3 ls",
        "taskset -p 7 ls",
        "caffeinate -i -t 5 ls",
        "time -p ls",
        "time -f %e ls",
        "time -o x ls",
        "setsid ls",
    ];
    let lines: Vec<String> = cases.iter().map(|case| format!("{case} → {}", inner(case))).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    env ls → ls
    env A=1 B=2 ls -l → ls -l
    env -- ls → ls
    env A=1 → nothing
    env -i ls → unknown: -i
    env - → unknown: -
    nice -n 5 ls → ls
    nice -n5 ls → ls
    nice --adjustment=5 ls → ls
    nice --adjustment 5 ls → ls
    nice -19 ls → ls
    nice ls -n → ls -n
    nohup -- ls → ls
    nohup --x ls → unknown: --x
    timeout 5 ls → ls
    timeout 5s → nothing
    timeout ls x → unknown: ls
    timeout -s KILL 5 ls → ls
    timeout --signal=9 5 ls → ls
    timeout -- 5 ls → ls
    timeout 5 -- ls → unknown: --
    timeout -x 5 ls → unknown: -x
    stdbuf -oL -eL ls → ls
    stdbuf -o L ls → ls
    stdbuf --output=L ls → ls
    ionice -c3 ls → ls
    ionice -p 7 → unknown: -p
    taskset 0x3 ls → ls
    taskset -c 0-3 ls → ls
    taskset -p 7 ls → unknown: -p
    caffeinate -i -t 5 ls → ls
    time -p ls → ls
    time -f %e ls → unknown: -f
    time -o x ls → unknown: -o
    setsid ls → not a wrapper
    ");
}

#[test]
fn a_value_never_looks_like_an_option() {
    for text in ["-k -o", "-t --output=x", "--key -o", "-S -T"] {
        assert!(filter("sort", &words(text)).unwrap().is_err(), "{text}");
    }
    for text in ["-n -5", "-c -5", "-n 5", "--lines -5"] {
        assert_eq!(filter("head", &words(text)), Some(Ok(())), "{text}");
    }
}

#[test]
fn options_end_at_two_dashes_and_not_before() {
    assert_eq!(filter("grep", &words("-- -f")), Some(Ok(())));
    assert_eq!(filter("grep", &words("-- -f x")), Some(Err(Fault::Operand("x"))));
    assert_eq!(filter("grep", &words("x -f y")), Some(Err(Fault::Option("-f"))));
    assert_eq!(filter("tr", &words("-d")), Some(Err(Fault::Missing)));
    assert_eq!(filter("grep", &words("-n")), Some(Err(Fault::Missing)));
    assert_eq!(filter("head", &words("-é")), Some(Err(Fault::Option("-é"))));
    assert_eq!(filter("ls", &words("-l")), None);
}

#[test]
fn a_harmless_program_is_covered_with_any_arguments_and_an_unknown_one_with_none() {
    for text in
        ["ls -la /etc", "grep -r x /etc", "cat /etc/passwd", "cp a b", "rm -rf x", "jq . file"]
    {
        let name = text.split(' ').next().unwrap();
        assert!(is_covered(text, &program(&format!("/usr/bin/{name}"))), "{text}");
    }
    for text in ["json_pp -f eval", "mpirun ./x", "deploy", "deploy --version", "id3 a", "ls2 a"] {
        let name = text.split(' ').next().unwrap();
        assert!(!is_covered(text, &program(&format!("/usr/bin/{name}"))), "{text}");
    }
}

#[test]
fn a_program_is_in_one_table_only() {
    let mut names: Vec<&str> = uses_names().collect();
    names.extend(harmless::all());
    for name in harmless::all() {
        assert!(kind_of(name, None).is_ordinary(), "`{name}` is of a kind, and harmless");
    }
    names.sort_unstable();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn what_a_program_really_is_must_be_known() {
    let mut link = program("/opt/strange/busy");
    link.path = "/usr/bin/cat".into();
    assert!(!is_covered("cat a", &link));
    link.file.real = "/usr/lib/cargo/bin/coreutils/cat".into();
    assert!(is_covered("cat a", &link));
    link.file.real = "/usr/bin/which.debianutils".into();
    link.path = "/usr/bin/which".into();
    assert!(is_covered("which a", &link));
    link.path = "/usr/bin/sort".into();
    for real in ["/usr/bin/bash", "/usr/bin/perl", "/usr/bin/xargs", "/opt/strange/busy"] {
        link.file.real = real.into();
        assert!(!is_covered("sort a", &link), "{real}");
    }
}

#[test]
fn a_script_is_its_interpreter_unless_a_table_describes_it_where_it_is_trusted() {
    let trusted = [PathBuf::from("/usr/bin")];
    let kind = |path: &str, line: &str| {
        let mut script = program(path);
        script.interpreter = Some(words(line));
        let name = path.rsplit('/').next().unwrap();
        format!("{:?}", kind_in(name, &script, &trusted)).split('(').next().unwrap().to_owned()
    };
    let cases = [
        ("/usr/bin/json_pp", "/usr/bin/perl", "Script"),
        ("/usr/bin/pdb3", "/usr/bin/env python3", "Script"),
        ("/usr/bin/tool", "/usr/bin/env -S X=1 uv run", "Script"),
        ("/usr/bin/tool", "/opt/unheard-of", "Script"),
        ("/usr/bin/tool", "/usr/bin/sudo sh", "Privilege"),
        ("/usr/bin/tool", "/usr/bin/env -S sudo sh", "Privilege"),
        ("/usr/bin/zcat", "/bin/sh", "Ordinary"),
        ("/usr/bin/npm", "/usr/bin/env node", "Runner"),
        ("/usr/bin/pydoc3", "/usr/bin/python3", "Interpreter"),
        ("/home/me/bin/zcat", "/bin/sh", "Script"),
        ("/home/me/bin/jq", "/bin/sh", "Script"),
        ("/home/me/bin/npm", "/usr/bin/env node", "Script"),
    ];
    for (path, line, expected) in cases {
        assert_eq!(kind(path, line), expected, "{path} {line}");
    }
}

#[test]
fn letters_that_stand_together_are_read_as_the_program_reads_them() {
    let is_covered = |text: &str| {
        let name = text.split(' ').next().unwrap();
        is_covered(text, &program(&format!("/usr/bin/{name}")))
    };
    for text in [
        "fd -gx touch",
        "fd -Hx touch",
        "fd -X vi",
        "rg --pre x y",
        "rg -z y",
        "fd --exec x",
        "shuf -o x",
    ] {
        assert!(!is_covered(text), "{text}");
    }
    for text in ["fd -g x", "fd -HI -e rs x", "rg -gx y", "rg -n -C 3 x src", "shuf -n 3 file"] {
        assert!(is_covered(text), "{text}");
    }
}

#[test]
fn each_name_of_a_program_must_be_harmless() {
    let mut link = program("/usr/bin/git");
    link.path = "/usr/bin/g".into();
    assert!(is_covered("g status", &link));
    assert!(!is_covered("g push", &link));
}

#[test]
fn variables_are_compared_by_name_and_by_beginning() {
    let allowed = words("TZ LC_*");
    assert!(is_allowed_variable("LC_ALL", &allowed));
    assert!(is_allowed_variable("TZ", &allowed));
    for name in ["TZX", "XLC_ALL", "LC", "tz"] {
        assert!(!is_allowed_variable(name, &allowed), "{name}");
    }
    for name in ["CI", "NODE_ENV", "DEBUG", "TZ", "LC_ALL", "PYTHONUNBUFFERED", "RUST_LOG"] {
        assert!(!is_loader_variable(name), "{name}");
    }
}

/// Names that an attacker tried, each of which makes some program load or start something.
const TRIED: &str = "\
    RUSTFMT _PYTHON_SYSCONFIGDATA_NAME PYLINTRC MAKESYSPATH LFTP_HOME TASKDATA autom4te_perllibdir GRAPHVIZ_DOT BLACK_CACHE_DIR \
    KUBECTL_EXTERNAL_DIFF GDAL_VRT_ENABLE_PYTHON CCC_OVERRIDE_OPTIONS DEPENDENCIES_OUTPUT OMPI_CC MPICH_CC PRTE_MCA_plm_rsh_agent GCCGO \
    JUST_SHELL VAGRANT_HOME BUILDAH_RUNTIME TERRAGRUNT_TFPATH KUSTOMIZE_PLUGIN_HOME RAKULIB GPRC MPV_HOME MAILCAPS VK_IMPLICIT_LAYER_PATH \
    OPENCL_LAYERS HSA_TOOLS_LIB AUTOHEADER RUST_GDB COVERAGE_RCFILE KERAS_BACKEND PEX_ROOT R_TESTS R_MAKEVARS_USER HYDRA_BOOTSTRAP_EXEC \
    SYSTEMTAP_STAPRUN \
    MAKEFILES MAKEFLAGS TAR_OPTIONS AWKPATH AWKLIBPATH R_PROFILE R_PROFILE_USER R_ENVIRON R_LIBS VIMINIT EXINIT GVIMINIT GTK_MODULES \
    GTK_PATH GTK3_MODULES QT_PLUGIN_PATH QT_QPA_PLATFORM_PLUGIN_PATH TERMINFO TERMINFO_DIRS TERMCAP PYTHONPATH PYTHONWARNINGS \
    PYTHONPYCACHEPREFIX PERL5LIB PERL5OPT PERL5DB PERLLIB RUBYOPT RUBYLIB GEM_PATH BUNDLE_GEMFILE NODE_OPTIONS NODE_PATH npm_config_script_shell \
    JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH MAVEN_OPTS GRADLE_OPTS SBT_OPTS LUA_INIT LUA_PATH LUA_CPATH_5_4 PHPRC \
    PHP_INI_SCAN_DIR TCLLIBPATH TCL_LIBRARY GUILE_LOAD_PATH EMACSLOADPATH GCC_EXEC_PREFIX COMPILER_PATH LIBRARY_PATH CPATH CC CXX \
    CMAKE_TOOLCHAIN_FILE CMAKE_C_COMPILER_LAUNCHER PKG_CONFIG_PATH CARGO_BUILD_RUSTC_WRAPPER RUSTC_WRAPPER RUSTFLAGS RUSTUP_TOOLCHAIN GOFLAGS \
    GOTOOLCHAIN GOCACHEPROG CGO_CFLAGS PIP_INDEX_URL PIP_CONFIG_FILE UV_INDEX_URL POETRY_HOME GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_CONFIG_COUNT \
    GIT_CONFIG_KEY_0 GIT_PAGER SSH_ASKPASS SUDO_ASKPASS GNUPGHOME OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES KRB5_CONFIG SASL_PATH \
    LOCPATH NLSPATH GCONV_PATH GLIBC_TUNABLES LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT MALLOC_TRACE MALLOC_CONF LESSOPEN LESSCLOSE LESS LESSKEYIN \
    PAGER MANPAGER AWS_PAGER EDITOR VISUAL BROWSER ZIPOPT ZIP UNZIP RSYNC_RSH CURL_HOME WGETRC SQLITE_HISTORY PSQLRC PSQL_PAGER \
    PGSYSCONFDIR PGSERVICEFILE MYSQL_HOME LIBMYSQL_PLUGIN_DIR DOCKER_HOST DOCKER_CONFIG KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE \
    CLOUDSDK_PYTHON MAGICK_CONFIGURE_PATH MAGICK_CODER_MODULE_PATH GS_LIB GS_OPTIONS TEXINPUTS TEXMFHOME TEXMFCNF openout_any shell_escape \
    FONTCONFIG_FILE FONTCONFIG_PATH XDG_CONFIG_HOME XDG_DATA_DIRS XDG_RUNTIME_DIR GIO_EXTRA_MODULES GIO_MODULE_DIR GST_PLUGIN_PATH \
    GST_PLUGIN_PATH_1_0 GST_PLUGIN_SCANNER DBUS_SESSION_BUS_ADDRESS SYSTEMD_PAGER SCREENRC TMUX_TMPDIR BASH_ENV ENV BASH_FUNC_ls%% \
    PROMPT_COMMAND PS4 SHELLOPTS BASHOPTS CDPATH GLOBIGNORE INPUTRC ZDOTDIR HOME TMPDIR PATH IFS BC_ENV_ARGS GVBINDIR \
    CUDA_INJECTION64_PATH OMP_TOOL_LIBRARIES VK_LAYER_PATH LIBGL_DRIVERS_PATH SDL_DYNAMIC_API ASAN_OPTIONS VALGRIND_LIB FZF_DEFAULT_COMMAND \
    PYTEST_PLUGINS PYTEST_ADDOPTS MPLBACKEND JUPYTER_PATH IPYTHONDIR HTTPS_PROXY https_proxy SSL_CERT_FILE CURL_CA_BUNDLE METIER_HOME METIER_X_TOKEN \
    LD_X_TOKEN DOTNET_STARTUP_HOOKS CORECLR_PROFILER_PATH ERL_FLAGS ELIXIR_ERL_OPTIONS JULIA_LOAD_PATH OCTAVE_PATH GHC_PACKAGE_PATH PSModulePath \
    RESTIC_PASSWORD_COMMAND BORG_PASSCOMMAND BORG_RSH PYSPARK_PYTHON PYSPARK_DRIVER_PYTHON SPARK_HOME HADOOP_CONF_DIR GUNICORN_CMD_ARGS \
    COVERAGE_PROCESS_START DJANGO_SETTINGS_MODULE FLASK_APP NCCL_NET_PLUGIN FI_PROVIDER_PATH UCX_MODULE_DIR TRITON_PTXAS_PATH GEGL_PATH \
    BABL_PATH CHICKEN_REPOSITORY_PATH MATPLOTLIBRC QTWEBENGINEPROCESS_PATH CHROME_WRAPPER";

#[test]
fn what_makes_a_program_load_or_start_something_is_in_the_table() {
    let missing: Vec<&str> =
        TRIED.split_whitespace().filter(|it| !is_loader_variable(it)).collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert!(TRIED.split_whitespace().count() > 37);
}

#[test]
fn what_only_says_how_to_print_or_who_asks_is_not() {
    let harmless = "API_KEY GITHUB_TOKEN GH_TOKEN NPM_TOKEN GIT_TOKEN OPENAI_API_KEY AWS_ACCESS_KEY_ID AWS_REGION PGHOST PGPASSWORD TEXT LESSON \
        STACK_NAME LDAP LDAP_URL MODE OUTPUT FORMAT LOG_LEVEL NODE_ENV RUST_LOG RUST_BACKTRACE PYTHONUNBUFFERED PYTHONIOENCODING TF_CPP_MIN_LOG_LEVEL \
        CUDA_VISIBLE_DEVICES OMP_NUM_THREADS DEBIAN_FRONTEND QT_QPA_PLATFORM DISPLAY COLUMNS TERM GIT_AUTHOR_NAME";
    let taken: Vec<&str> =
        harmless.split_whitespace().filter(|it| is_loader_variable(it)).collect();
    assert_eq!(taken, Vec::<&str>::new());
}

#[test]
fn every_name_of_an_installation_is_in_the_table_too() {
    for name in ["JAVA_HOME", "GOPATH", "RUSTUP_HOME", "CARGO_HOME"] {
        assert!(names_installation(name) && is_loader_variable(name), "{name}");
    }
    assert!(!names_installation("JAVA_TOOL_OPTIONS") && !names_installation("LD_PRELOAD"));
}
