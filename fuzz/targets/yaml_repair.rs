//! Any bytes where YAML is expected: as a whole header, as one value, as the requirements.
//!
//! The delimiters are given, so that every input reaches the parser and the repair behind it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use metier_fuzz::check_skill_file;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    check_skill_file(&format!("---\n{text}\n---\nBody\n"));
    check_skill_file(&format!("---\nname: log-lens\ndescription: {text}\n---\nBody\n"));
    check_skill_file(&format!(
        "---\nname: log-lens\ndescription: Reads logs\nmetadata: {{\"openclaw\": {text}}}\n---\n"
    ));
});
