//! What `metier exec` says when it cannot: one line on what is wrong, what to do, and nothing run.

use insta::assert_snapshot;
use metier_testkit::TestEnv;

use crate::{compact, environment, run, write_skill};

fn with_skill() -> TestEnv {
    let env = environment();
    write_skill(&env, "demo-skill", "name: demo-skill\ndescription: Demo. Use when testing.");
    env
}

#[test]
fn a_skill_that_is_not_there_is_met_with_the_nearest_name() {
    let env = with_skill();
    let said = |name: &str| {
        let line = format!("exec {name} --no-default-sources --skills-dir skills -- ls");
        compact(&run(&env, &line))
    };
    let said = ["demo-skil", "Demo-Skill", "demo", "unheard-of"].map(said);
    assert_snapshot!(said.join("\n"), @"
    1 |  | error: there is no skill `demo-skil` / hint: did you mean `demo-skill`?
    1 |  | error: there is no skill `Demo-Skill` / hint: did you mean `demo-skill`?
    1 |  | error: there is no skill `demo` / hint: did you mean `demo-skill`?
    1 |  | error: there is no skill `unheard-of` / hint: `metier skills list --all` shows every skill that was found
    ");
}

#[test]
fn an_executor_that_is_not_there_is_met_with_those_that_are() {
    let env = with_skill();
    assert_snapshot!(run(&env, "exec demo-skill --executor docker --skills-dir skills -- ls"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: `docker` is no value of `--executor <WHERE>`
    hint: it is one of sandbox, host, container; `metier exec --help` shows what it takes
    ");
    env.write("home/.metier/config.toml", "[exec]\nexecutor = \"docker\"\n");
    assert_snapshot!(run(&env, "exec demo-skill --skills-dir skills -- ls"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: [HOME]/.metier/config.toml:2: `exec.executor` is not `sandbox`, `host` or `container`
    ");
}

#[test]
fn a_request_that_is_wrong_is_met_with_the_place() {
    let env = with_skill();
    let cases = [
        "",
        "{\"skill\": \"demo-skill\"",
        "[]",
        "{\"skill\": \"demo-skill\"}",
        "{\"skill\": 7, \"command\": \"ls\"}",
        "{\"skill\": \"demo-skill\", \"command\": \"ls\", \"comand\": \"ls\"}",
        "{\"skill\": \"demo-skill\", \"command\": \"ls\", \"timeout\": \"soon\"}",
        "{\"skill\": \"demo-skill\", \"command\": \"ls\", \"env\": {\"A\": 1}}",
        "{\"skill\": \"demo-skill\", \"command\": \"ls\", \"inputs\": [{\"from\": \"workspace://a\"}, {\"to\": \"b\"}]}",
        "{\"skill\": \"demo-skill\", \"command\": \"ls\", \"inputs\": [{\"from\": \"workspace://a\", \"mode\": \"move\"}]}",
        "{\"skill\": \"demo-skill\", \"command\": \"ls\", \"outputs\": {\"globs\": [\"a\", 2]}}",
        "{\"skill\": \"demo-skill\", \"command\": \"ls\"} {}",
        "{\"skill\": \"demo-skil\", \"command\": \"ls\"}",
    ];
    let arguments = ["exec", "--request", "-", "--skills-dir", "skills", "--no-default-sources"];
    let said = cases.map(|text| compact(&env.run_in(&env.project(), arguments, text)));
    assert_snapshot!(said.join("\n"), @r#"
    2 |  | error: standard input is not a request: EOF while parsing a value at line 1 column 0 / hint: write {"skill": "NAME", "command": "…"}, and `cwd`, `env`, `stdin`, `timeout`, `inputs`, `outputs` as needed
    2 |  | error: standard input is not a request: EOF while parsing an object at line 1 column 22 / hint: write {"skill": "NAME", "command": "…"}, and `cwd`, `env`, `stdin`, `timeout`, `inputs`, `outputs` as needed
    2 |  | error: standard input is not a request: invalid length 0, expected an object at line 1 column 2 / hint: write {"skill": "NAME", "command": "…"}, and `cwd`, `env`, `stdin`, `timeout`, `inputs`, `outputs` as needed
    2 |  | error: standard input is not a request: missing field `command` at line 1 column 23 / hint: write {"skill": "NAME", "command": "…"}, and `cwd`, `env`, `stdin`, `timeout`, `inputs`, `outputs` as needed
    2 |  | error: standard input is not a request: `skill`: invalid type: integer `7`, expected a string at line 1 column 11
    2 |  | error: standard input is not a request: `comand`: unknown field `comand`, expected one of `skill`, `command`, `cwd`, `env`, `stdin`, `timeout`, `inputs`, `outputs`, `output_files`, `save_as_artifacts`, `omit_inline_content`, `artifact_prefix` at line 1 column 49
    2 |  | error: standard input is not a request: `timeout`: invalid type: string "soon", expected f64 at line 1 column 58
    2 |  | error: standard input is not a request: `env.A`: invalid type: integer `1`, expected a string at line 1 column 55
    2 |  | error: standard input is not a request: `inputs[1]`: missing field `from` at line 1 column 90
    2 |  | error: standard input is not a request: `inputs[0].mode`: unknown variant `move`, expected `copy` or `link` at line 1 column 92
    2 |  | error: standard input is not a request: `outputs.globs[1]`: invalid type: integer `2`, expected a string at line 1 column 69
    2 |  | error: standard input has more than one value: trailing characters at line 1 column 42 / hint: write one JSON object, and nothing behind it
    1 |  | error: there is no skill `demo-skil` / hint: did you mean `demo-skill`?
    "#);
}

#[test]
fn an_engine_image_or_shell_that_is_not_there_is_met_with_what_to_do() {
    let engines = ["METIER_TEST_DOCKER", "METIER_TEST_PODMAN"];
    #[expect(clippy::disallowed_methods, reason = "the test command says it in a variable")]
    let engines = engines.map(|variable| std::env::var(variable).ok());
    let mut engines = engines.into_iter().flatten().peekable();
    if engines.peek().is_none() {
        metier_testkit::skip("exec in an image without a shell", "no variable names an engine");
    }
    for socket in engines {
        let env = with_skill().with_variable("DOCKER_HOST", &socket);
        let said = |image: &str| {
            let config =
                format!("[exec]\nexecutor = \"container\"\ncontainer.image = \"{image}\"\n");
            env.write("home/.metier/config.toml", config);
            let outcome = run(&env, "exec demo-skill --skills-dir skills -- ls");
            compact(&outcome).replace(&socket, "[SOCKET]")
        };
        let said = ["metier-test/empty:latest", "metier-test/absent:latest"].map(said);
        insta::allow_duplicates! {
            assert_snapshot!(said.join("\n"), @"
        1 |  | error: image `metier-test/empty:latest` has neither bash nor sh; name one that has a shell (`exec.container.image`) / hint: settings go into `[HOME]/.metier/config.toml`
        1 |  | error: the engine at `[SOCKET]` has no image `metier-test/absent:latest`; fetch it (`docker pull metier-test/absent:latest`, `podman pull metier-test/absent:latest`), name another (`exec.container.image`), or let metier fetch it (`exec.container.pull = true`) / hint: settings go into `[HOME]/.metier/config.toml`
        ");
        }
    }
}
