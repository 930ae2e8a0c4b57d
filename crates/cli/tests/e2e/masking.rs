//! Skills that print their keys in every form: where the keys are afterwards.
//!
//! A value is looked for in everything that leaves metier: what a model and a collector were sent, what was printed, and every file of the
//! state directory but the configuration and the files that programs made themselves.

use std::fs;
use std::path::Path;

use metier_testkit::provider::{Provider, Said, Wire};
use metier_testkit::server::{Reply, Server};
use metier_testkit::{Outcome, Terminal, TestEnv};
use serde_json::{Value, json};

use crate::environment;

/// A key with everything that encodings change, and one that can be a file name.
const KEYS: [&str; 2] = [r#"sk/7+"q\é?>~z Q9"#, "tk_0123456789abcdefXYZ"];
/// The key of the provider, which it alone is sent.
const PROVIDER_KEY: &str = "pk-provider-0123456789";
/// Prints both keys in every form, slowly too, on both streams and into files.
const LEAK: &str = r#"
hex() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n'; }
forms() {
    echo "verbatim $1"
    for before in '' u: me:; do
        printf %s%s "$before" "$1" | base64 -w 0; echo
        printf %s%s "$before" "$1" | base64 -w 8
        printf %s%s "$before" "$1" | base64 -w 0 | tr '+/' '-_'; echo
    done
    hex "$1"; echo
    hex "$1" | sed 's/../%&/g'; echo
    hex "$1" | tr a-f A-F | sed 's/../%&/g'; echo
    printf '"%s"\n' "$(printf %s "$1" | sed 's/[\\"]/\\&/g; s,/,\\/,g')"
    for ((at = 0; at < ${#1}; at++)); do printf %s "${1:at:1}"; sleep 0.01; done; echo
    for ((at = 0; at < ${#1}; at++)); do printf '\033[3%dm%s' "$((at % 8))" "${1:at:1}"; done; echo
}
for key in "$FIRST_KEY" "$SECOND_KEY"; do
    forms "$key"
    forms "$key" >&2
    forms "$key" > "$OUTPUT_DIR/forms-${#key}.txt"
done
echo made > "$OUTPUT_DIR/$SECOND_KEY.txt"
(sleep 0.1; echo "later $FIRST_KEY") &
wait
echo "the end"
"#;

/// The binary with a skill that has both keys, a provider and a collector of spans.
pub(crate) struct Leaky {
    pub(crate) env: TestEnv,
    provider: Provider,
    collector: Server,
}

impl Leaky {
    pub(crate) fn new() -> Self {
        let (provider, collector) = (Provider::start(Wire::ChatCompletions), Server::start());
        collector.reply("/v1/traces", Reply::ok(""));
        let env = environment().with_variable("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url(""));
        env.skill("project/skills", "leaky", "Prints. Use when asked to print.");
        env.write("project/skills/leaky/leak.sh", LEAK);
        env.write(
            "home/.metier/config.toml",
            format!(
                "[models.providers.test]\nbase_url = '{}'\nkey = '{PROVIDER_KEY}'\n\
                 [skills.entries.leaky.env]\nFIRST_KEY = '{}'\nSECOND_KEY = '{}'\n",
                provider.server.url("/v1"),
                KEYS[0],
                KEYS[1],
            ),
        );
        Self { env, provider, collector }
    }

    fn exec(&self, words: &[&str]) -> Outcome {
        let fixed = ["exec", "leaky", "--skills-dir", "skills", "--no-default-sources"];
        self.env.run(fixed.iter().chain(words))
    }

    /// Asserts that no form of a key is anywhere.
    #[track_caller]
    pub(crate) fn assert_masked(&self, printed: &[&str]) {
        let mut places: Vec<(String, Vec<u8>)> = Vec::new();
        let requests = self.provider.bodies().into_iter();
        places.extend(requests.map(|body| ("a request to the model".to_owned(), body.into())));
        let spans = self.collector.requests().into_iter();
        places.extend(spans.map(|it| ("spans".to_owned(), it.body)));
        places.extend(printed.iter().map(|it| ("the terminal".to_owned(), it.as_bytes().into())));
        collect(&self.env.home().join(".metier"), &mut places);
        assert!(places.len() > printed.len() + 3, "there is nothing to look at");
        for key in [KEYS[0], KEYS[1], PROVIDER_KEY] {
            for form in forms(key) {
                for (place, bytes) in &places {
                    assert!(!has(bytes, &form), "{form} is in {place}");
                }
            }
        }
    }
}

/// Reads every file below a folder but those that may have keys.
fn collect(folder: &Path, places: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry")) {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type().expect("its type").is_dir() {
            if !["artifacts", "work", "out", "files"].contains(&&*name) {
                collect(&path, places);
            }
        } else if name != "config.toml" {
            places.push((path.display().to_string(), fs::read(&path).unwrap_or_default()));
            places.push(("a name".to_owned(), name.as_bytes().to_vec()));
        }
    }
}

/// Whether bytes have a form, also with ends of lines in between.
fn has(bytes: &[u8], form: &str) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let joined = text.replace("\\n", "").replace("\\r", "").replace(['\n', '\r'], "");
    text.contains(form) || joined.contains(form)
}

/// The forms of a key that nobody may see.
fn forms(key: &str) -> Vec<String> {
    let escaped = key.replace('\\', r"\\").replace('"', r#"\""#);
    let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent = |digits: &str| -> String {
        let pairs = digits.as_bytes().chunks(2).map(|it| String::from_utf8_lossy(it));
        pairs.map(|pair| format!("%{pair}")).collect()
    };
    let mut forms = vec![key.to_owned(), escaped.replace('/', r"\/"), escaped, hex.clone()];
    forms.extend([percent(&hex), percent(&hex.to_uppercase())]);
    for before in ["", "u", "me"] {
        let whole = base64(format!("{before}{key}").as_bytes());
        let first = (before.len() * 8).div_ceil(6);
        let inner = &whole[first..(before.len() + key.len()) * 8 / 6];
        forms.extend([inner.to_owned(), inner.replace('+', "-").replace('/', "_")]);
    }
    forms
}

/// Base64 without padding.
fn base64(bytes: &[u8]) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let sextet = |it: &[u8]| {
        let text = format!("{:0<6}", String::from_utf8_lossy(it));
        char::from(alphabet[usize::from_str_radix(&text, 2).expect("bits")])
    };
    bits.as_bytes().chunks(6).map(sextet).collect()
}

#[test]
fn a_skill_that_prints_its_keys_gives_them_to_nobody() {
    let leaky = Leaky::new();
    let command = "bash leak.sh";
    let outputs = json!({ "globs": ["out/**"], "inline": true, "save": true });
    let run = json!({ "skill": "leaky", "command": command, "outputs": outputs });
    let spoken = format!("You said {}, and I say {}.", KEYS[0], KEYS[1]);
    leaky.provider.says([
        Said::call("a", "skill_load", json!({ "skill": "leaky" })),
        Said::call("b", "skill_run", run),
        Said::call("c", "read_file", json!({ "file_name": "out/forms-22.txt", "start_line": 2 })),
        // A model that guesses a key does not get it written down either.
        Said::call(
            "d",
            "skill_run",
            json!({ "skill": "leaky", "command": format!("false {}", KEYS[1]) }),
        ),
        Said::text(&spoken),
    ]);
    let task = format!("print; the key is {} and https://x/?k={}", KEYS[0], KEYS[1]);
    let fixed = ["run", &task, "--model", "test/small", "--skills-dir", "skills"];
    let outcome = leaky.env.run(fixed.iter().chain(&["--no-default-sources", "--session", "one"]));
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(outcome.stdout, "You said ****, and I say ****.\n");
    let shown = ["sessions show one", "sessions export one", "sessions list --json"];
    let shown = shown.map(|line| leaky.env.run(line.split(' ')));
    let mut printed = vec![outcome.stdout.as_str(), outcome.stderr.as_str()];
    printed.extend(shown.iter().flat_map(|it| [it.stdout.as_str(), it.stderr.as_str()]));
    leaky.assert_masked(&printed);
    // It did print them, and the files have them.
    let requests = leaky.provider.bodies();
    let last = requests.last().expect("a request");
    assert!(last.contains("verbatim ****") && last.contains("the end"), "{last}");
    assert!(last.contains("later ****") && last.contains("out/****.txt"), "{last}");
    let authorized = leaky.provider.server.requests();
    let header = authorized[0].header("authorization");
    assert_eq!(header, Some(&*format!("Bearer {PROVIDER_KEY}")));
}

#[test]
fn exec_shows_no_key_in_a_pipe_at_a_terminal_or_in_an_error() {
    let leaky = Leaky::new();
    let piped = leaky.exec(&["--", "bash leak.sh"]);
    assert!(piped.stdout.contains("verbatim ****") && piped.stdout.ends_with("the end\n"));
    let json = leaky.exec(&["--json", "--", "bash leak.sh"]);
    assert_eq!((piped.code, json.code), (0, 0), "{piped}\n{json}");
    // In the arguments of what fails, of what is not found, and of what is refused.
    let failing = leaky.exec(&["--", &format!("cat '/none/{}'; printf '{}'", KEYS[1], KEYS[0])]);
    let missing = leaky.env.run(["exec", KEYS[1], "--", "true"]);
    let refused = leaky.exec(&["--env", &format!("BAD NAME={}", KEYS[1]), "--", "true"]);
    assert!(missing.code != 0 && refused.code != 0, "{missing}\n{refused}");
    assert!(failing.stderr.contains("/none/****"), "{failing}");
    let mut command = leaky.env.command(leaky.env.binary());
    command.args(["exec", "leaky", "--skills-dir", "skills", "--no-default-sources"]);
    command.args(["--", "bash leak.sh"]).env("TERM", "xterm");
    let (code, written, seen) = Terminal::start(command, 100).finish();
    assert_eq!(code, 0, "{seen}");
    let outcomes = [piped, json, failing, missing, refused];
    let mut printed = vec![written.as_str(), seen.as_str()];
    printed.extend(outcomes.iter().flat_map(|it| [it.stdout.as_str(), it.stderr.as_str()]));
    leaky.assert_masked(&printed);
}

#[test]
fn a_usage_error_shows_no_key() {
    let leaky = Leaky::new();
    let assert_unknown = |key: &str, env: &TestEnv| {
        for words in [
            vec![key.to_owned()],
            vec!["exec".into(), "leaky".into(), key.to_owned()],
            vec!["exec".into(), "leaky".into(), format!("--api-key={key}")],
            vec!["exec".into(), "leaky".into(), format!("--{key}")],
            vec!["exec".into(), "leaky".into(), "--timeout".into(), key.to_owned()],
            vec!["skills".into(), "lint".into(), "--format".into(), key.to_owned()],
            vec!["doctor".into(), format!("--quiet={key}")],
        ] {
            let outcome = env.run(&words);
            assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome}");
            assert!(outcome.stderr.starts_with("error: "), "{outcome}");
            for form in forms(key) {
                assert!(!has(outcome.stderr.as_bytes(), &form), "{form} is in {outcome}");
            }
        }
    };
    for key in [KEYS[0], KEYS[1], PROVIDER_KEY] {
        assert_unknown(key, &leaky.env);
    }
    let too_many = leaky.env.run(["exec", "leaky", KEYS[1]]).stderr;
    assert!(too_many.starts_with("error: `****` is one argument too many\n"), "{too_many}");
    // With settings that cannot be read, keys of the environment are known.
    let env = environment().with_variable("OPENAI_API_KEY", KEYS[1]);
    env.write("home/.metier/config.toml", "[");
    assert_unknown(KEYS[1], &env);
}

#[test]
fn a_run_masks_keys_that_it_did_not_receive() {
    let leaky = Leaky::new();
    leaky.env.skill("project/skills", "other", "Has no key. Use when asked.");
    let command = format!("printf '%s\\n' '{}' '{PROVIDER_KEY}'; env", KEYS[0]);
    let words = ["exec", "other", "--skills-dir", "skills", "--no-default-sources", "--"];
    let outcome = leaky.env.run(words.iter().chain(&[command.as_str()]));
    assert!(outcome.stdout.starts_with("****\n****\n"), "{outcome}");
    assert!(!outcome.stdout.contains("FIRST_KEY"), "{outcome}");
    leaky.assert_masked(&[&outcome.stdout, &outcome.stderr]);
}

#[test]
fn doctor_names_keys_that_are_too_short_to_be_masked() {
    let env = environment();
    env.write("home/.metier/config.toml", "skills.entries.demo.env.PIN = '1234'\n");
    let outcome = env.run(["doctor"]);
    let warning =
        "warning: values of fewer than 8 bytes are not masked: skills.entries.demo.env.PIN";
    let folded = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(folded.contains(warning), "{outcome}");
    let report = env.run(["doctor", "--json"]).stdout;
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["unmasked_keys"], json!(["skills.entries.demo.env.PIN"]));
}

#[test]
fn a_value_that_is_the_name_of_a_field_takes_no_field_of_a_run_away() {
    let env = environment();
    env.skill("project/skills", "demo", "Says. Use when asked to say.");
    let config = "[skills.entries.demo.env]\nTARGET = 'directory'\nFIELD = 'exit_code'\n";
    env.write("home/.metier/config.toml", config);
    let words = ["exec", "demo", "--skills-dir", "skills", "--no-default-sources", "--json"];
    let outcome = env.run(words.iter().chain(&["--", "echo $TARGET $FIELD"]));
    let answer: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!((&answer["exit_code"], &answer["stdout"]), (&json!(0), &json!("**** ****\n")));
    let mut places = Vec::new();
    collect(&env.home().join(".metier"), &mut places);
    let record = places.iter().find(|(name, _)| name.ends_with("/record.json")).expect("a record");
    let record: Value = serde_json::from_slice(&record.1).expect("JSON");
    assert!(record["directory"].is_string() && record["exit_code"] == 0, "{record}");
    assert_eq!(record.get("****"), None);
}
