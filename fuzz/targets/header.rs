//! Any bytes as a `SKILL.md`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use metier_fuzz::{check_diagnostic, check_skill_file};
use metier_skill::header::decode;

fuzz_target!(|bytes: &[u8]| {
    let (text, undecodable) = decode(bytes);
    if let Some(diagnostic) = &undecodable {
        check_diagnostic(&text, diagnostic);
    }
    check_skill_file(&text);
});
