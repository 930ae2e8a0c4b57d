//! Rules of masking, by example and for arbitrary values, texts and cuts.

use std::io::Read;

use proptest::prelude::*;
use serde_json::json;

use crate::{MAX_SECRET_BYTES, MAX_SECRETS, MAX_TOTAL_BYTES, Redactor, RedactorError};

const KEY: &str = "s3cr3t/\"k+y\\ é1";

fn redactor(values: &[&str]) -> Redactor {
    Redactor::new(values).unwrap()
}

/// The result of a stream that comes in pieces of these lengths, again and again.
fn in_pieces(redactor: &Redactor, bytes: &[u8], lengths: &[usize]) -> Vec<u8> {
    let (mut stream, mut result, mut rest) = (redactor.stream(), Vec::new(), bytes);
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, others) = rest.split_at(rest.len().min(*length));
        result.extend_from_slice(&stream.push(piece));
        rest = others;
    }
    result.extend_from_slice(&stream.finish());
    result
}

/// Asserts that a text is masked, whole and byte by byte.
#[track_caller]
fn assert_masked(redactor: &Redactor, text: &str, expected: &str) {
    assert_eq!(redactor.redact(text), expected);
    let bytes = in_pieces(redactor, text.as_bytes(), &[1]);
    assert_eq!(String::from_utf8_lossy(&bytes), expected);
}

#[test]
fn a_value_is_masked_as_it_is_and_twice_in_a_row_once() {
    let redactor = redactor(&[KEY]);
    assert_masked(&redactor, &format!("a {KEY} b"), "a **** b");
    assert_masked(&redactor, &format!("{KEY}{KEY}"), "****");
    assert_masked(&redactor, &format!("{KEY}-{KEY}"), "****-****");
    assert_masked(&redactor, &KEY[..KEY.len() - 1], &KEY[..KEY.len() - 1]);
}

#[test]
fn base64_is_masked_at_every_alignment_in_both_alphabets_and_in_lines() {
    let redactor = redactor(&["key?>~?>~9"]);
    assert_masked(&redactor, "a2V5Pz5+Pz5+OQ==", "****Q==");
    assert_masked(&redactor, "a2V5Pz5-Pz5-OQ", "****Q");
    // `u:` and `me:` come first.
    assert_masked(&redactor, "Basic dTprZXk/Pn4/Pn45", "Basic dTp****");
    assert_masked(&redactor, "Basic bWU6a2V5Pz5+Pz5+OQ==", "Basic bWU6****Q==");
    assert_masked(&redactor, "a2V5P\r\n  z5+Pz\n5+OQ==", "****Q==");
}

#[test]
fn percent_encoding_is_masked_however_much_of_it_is_encoded() {
    let redactor = redactor(&[KEY]);
    for text in [
        "s3cr3t%2F%22k%2By%5C%20%C3%A91",
        "s3cr3t%2f%22k%2by%5c%20%c3%a91",
        "s3cr3t%2F%22k%2By%5C+%C3%A91",
        "s3cr3t/%22k+y%5C%20%C3%A91",
        "%73%33%63%72%33%74%2f%22%6b%2B%79%5c%20%c3%a9%31",
    ] {
        assert_masked(&redactor, &format!("?q={text}&x=1"), "?q=****&x=1");
    }
    // Base64 in an address.
    let key = self::redactor(&["key?>~?>~9"]);
    assert_masked(&key, "?a=dTprZXk%2FPn4%2fPn45", "?a=dTp****");
}

#[test]
fn escapes_of_json_are_masked_whichever_are_used() {
    let redactor = redactor(&[KEY, "p\u{1f511}ssword-1"]);
    for text in [
        r#"s3cr3t/\"k+y\\ é1"#,
        r#"s3cr3t\/\"k+y\\ \u00e91"#,
        r#"s3cr3t\u002F\u0022k\u002By\u005C\u0020\u00E91"#,
        r#"\u0073\u0033\u0063\u0072\u0033\u0074\u002f\u0022\u006b\u002b\u0079\u005c\u0020\u00e9\u0031"#,
        r#"s3cr3t\x2f\"k\x2by\\ é1"#,
        r#"p\ud83d\udd11ssword-1"#,
        r#"p\\ud83d\\\udd11ssword-1"#,
    ] {
        assert_masked(&redactor, &format!("{{\"k\":\"{text}\"}}"), "{\"k\":\"****\"}");
    }
}

#[test]
fn characters_of_two_units_are_masked_however_each_is_written() {
    let redactor = redactor(&["p\u{1f511}ss\u{1f512}\u{1f511}word"]);
    for text in [
        "p\u{1f511}ss\u{1f512}\u{1f511}word",
        "p\u{1f511}ss\\ud83d\\udd12\u{1f511}word",
        r"p\ud83d\udd11ss\uD83D\uDD12\ud83d\udd11word",
        "p\\ud83d\\udd11ss\u{1f512}\\ud83d\n\\udd11word",
        "p%F0%9F%94%91ss\u{1f512}%f0%9f%94%91word",
    ] {
        assert_masked(&redactor, &format!("a\\ud83d{text}\\ud83d"), "a\\ud83d****\\ud83d");
    }
    for text in [r"p\ud83dss", r"\udd11\ud83d", r"\ud83d\ud83d\udd11", r"\ud83d"] {
        assert_masked(&redactor, text, text);
    }
}

/// Writes a value as JSON in a text of JSON, so many times.
fn nested(value: &str, depth: u32) -> String {
    (0..depth).fold(value.to_owned(), |text, _| json!({ "k": text }).to_string())
}

#[test]
fn backslashes_of_a_value_do_not_hide_it_in_nested_json() {
    for key in [r"corp\bsmith-99", r"corp\\smith-99", r#"corp\\\"smith\\n\t-99"#, KEY] {
        let redactor = redactor(&[key]);
        for depth in 1..=3 {
            let expected = nested("****", depth);
            assert_masked(&redactor, &nested(key, depth), &expected);
        }
    }
}

/// Writes a value as JSON of ASCII with escaped slashes in a text of such JSON, so many times.
fn nested_ascii(value: &str, depth: u32) -> String {
    let escaped = |it: char| match it {
        '\\' | '"' | '/' => format!("\\{it}"),
        ' '..='~' => it.to_string(),
        _ => it.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    (0..depth).fold(value.to_owned(), |text, _| {
        format!("{{\"k\":\"{}\"}}", text.chars().map(escaped).collect::<String>())
    })
}

#[test]
fn a_value_is_masked_in_json_that_is_nested_ten_deep() {
    for key in ["ab12\"cd\"34ef", "tok/en/12345", "schl\u{fc}ssel\u{2014}1", "p\u{1f511}ssword-1"] {
        let redactor = redactor(&[key]);
        for depth in 1..=10 {
            assert_masked(&redactor, &nested(key, depth), &nested("****", depth));
            assert_masked(&redactor, &nested_ascii(key, depth), &nested_ascii("****", depth));
        }
    }
}

#[test]
fn an_escape_before_a_value_does_not_take_in_its_beginning() {
    for (key, text, expected) in [
        ("ab12\"cd\"34ef", "100%ab12%22cd%2234ef", "100%****"),
        ("tok\"en/12345", r#"\tok\"en\/12345"#, r"\****"),
        ("u00e9\"u00e9\"", r#"\u00e9\"u00e9\""#, r"\****"),
        ("key-of-demo", "\x1b[k\x1b[1me\x1b[my-of-demo", "\x1b[****"),
        ("key-of-demo", "\x1b]k\x1b[1me\x1b[my-of-demo", "\x1b]****"),
        // A form seems to have begun before.
        ("ab12\"cd\"34ef", "ab%ab12%22cd%2234ef", "ab%****"),
        (r"corp\smith-99", r"\\\\\corp\\smith-99", r"\\\\\****"),
    ] {
        assert_masked(&redactor(&[key]), text, expected);
    }
}

#[test]
fn long_sequences_of_a_terminal_do_not_hide_a_value() {
    let redactor = redactor(&["key-of-demo"]);
    let colours = "\x1b[1;3;4;38;2;255;255;255;48;2;100;100;100;58;2;100;100;100m";
    let text: String = "key-of-demo".chars().map(|it| format!("{it}{colours}")).collect();
    assert_masked(&redactor, &text, &format!("****{colours}"));
}

/// Every kind of sequence in ECMA-48 and ECMA-35, of seven bits, of eight bits, and with control characters in UTF-8.
fn terminal_sequences() -> Vec<Vec<u8>> {
    let mut sequences: Vec<Vec<u8>> = Vec::new();
    let is_longer = |byte| matches!(byte, b'P' | b'X' | b'[' | b']' | b'^' | b'_');
    // Fp, Fe and Fs: one byte after the escape; Fe also as one control character beyond ASCII.
    for last in (b'0'..=b'~').filter(|byte| !is_longer(*byte)) {
        sequences.push(vec![0x1b, last]);
        if matches!(last, b'@'..=b'_') {
            sequences.extend([vec![last + 0x40], vec![0xc2, last + 0x40]]);
        }
    }
    // nF: one or more bytes in between.
    for between in b' '..=b'/' {
        for last in b'0'..=b'~' {
            sequences.push(vec![0x1b, between, last]);
        }
    }
    sequences.extend([b"\x1b$(B".to_vec(), b"\x1b!-/~".to_vec()]);
    let introducers = |byte: u8| [vec![0x1b, byte], vec![byte + 0x40], vec![0xc2, byte + 0x40]];
    let joined = |first: &[u8], rest: &[u8]| [first, rest].concat();
    for introducer in introducers(b'[') {
        for last in b'@'..=b'~' {
            for parameters in
                [&b""[..], b"1", b"38;2;1;2;3", b"?25", b">4;1", b"3 ", b"!", b"61\"$"]
            {
                sequences.push([&introducer, parameters, &[last]].concat());
            }
        }
        // With control characters in it, and cancelled.
        for rest in [&b"3\r1m"[..], b"\n\x08\x7fm", b"3\x18", b"3;\x1a"] {
            sequences.push(joined(&introducer, rest));
        }
    }
    for introducer in [b'P', b'X', b']', b'^', b'_'].into_iter().flat_map(introducers) {
        for rest in [&b"\x1b\\"[..], b"\x9c", b"\xc2\x9c", b"\x07", b"\x18", b"\x1a"] {
            sequences.push(joined(&introducer, rest));
            // In the last two characters is the byte that ends a string of eight bits.
            let text = "2;t[\u{ff}\u{271c}\u{1f41c}";
            sequences.push([&introducer, text.as_bytes(), rest].concat());
        }
    }
    sequences
}

/// What is a sequence cut off by another.
fn cut_sequences() -> Vec<Vec<u8>> {
    let beginnings: [&[u8]; 7] =
        [b"\x1b", b"\x1b(", b"\x1b[3;", b"\x9b3;", b"\x1b]0;t", b"\x1bPq", b"\x9d0;t"];
    let ends: [&[u8]; 5] = [b"\x1b7", b"\x1b[0m", b"\x1b%G", b"\x1b]t\x07", b"\x1b_t\x1b\\"];
    beginnings.iter().flat_map(|it| ends.iter().map(|end| [*it, *end].concat())).collect()
}

#[test]
fn every_sequence_of_a_terminal_is_a_gap() {
    let redactor = redactor(&["key-of-demo", "schlüssel—ein©x"]);
    for sequence in terminal_sequences().into_iter().chain(cut_sequences()) {
        for key in ["key-of-demo", "schlüssel—ein©x", "6b65792d6f662d64656d6f"] {
            let characters: Vec<&[u8]> = key.split_inclusive(|_| true).map(str::as_bytes).collect();
            let text = [b"a ", &characters.join(&sequence[..])[..], b" b"].concat();
            let masked = redactor.redact_bytes(&text);
            let shown = || format!("{:?} in {}", sequence.escape_ascii().to_string(), key);
            assert_eq!(masked.escape_ascii().to_string(), "a **** b", "{}", shown());
        }
        let text = [b"a key", &sequence[..], b"-of-demo b"].concat();
        assert_eq!(in_pieces(&redactor, &text, &[1]), b"a **** b");
    }
}

#[test]
fn a_sequence_of_more_than_64_bytes_is_no_gap() {
    let redactor = redactor(&["key-of-demo"]);
    let text = |title: usize| format!("key-of\x1b]{}\x07-demo", "t".repeat(title));
    assert_masked(&redactor, &text(61), "****");
    assert_masked(&redactor, &text(62), &text(62));
}

#[test]
fn hexadecimal_digits_of_either_case_are_masked_also_in_one_text() {
    let redactor = redactor(&["key-of-demo"]);
    assert_masked(&redactor, "6B65792d6F662d64656D6f", "****");
    assert_masked(&redactor, "6b65792D6F662d\n64656D6f.", "****.");
}

#[test]
fn hexadecimal_line_breaks_and_colours_do_not_hide_a_value() {
    let redactor = redactor(&["key-of-demo"]);
    assert_masked(&redactor, "6b65792d6f662d64656d6f", "****");
    assert_masked(&redactor, " 6B 65 79 2D 6F 66 2D 64\n 65 6D 6F\n", " ****\n");
    assert_masked(&redactor, "key-of\n-demo", "****");
    assert_masked(&redactor, "\x1b[1mk\x1b[31;1mey\x1b(B\x1b[m-of-\x1b[0mdemo.", "\x1b[1m****.");
    assert_masked(&redactor, "key\x1b]0;title\x07-of-\x1b]2;t\x1b\\demo", "****");
    let far = format!("key-of{}-demo", "\n".repeat(17));
    assert_masked(&redactor, &far, &far);
}

#[test]
fn a_value_that_is_the_beginning_or_a_part_of_another_is_masked_with_it() {
    let redactor = redactor(&["secret-1", "secret-1-longer", "t-1-long"]);
    assert_masked(&redactor, "secret-1-longer!", "****!");
    assert_masked(&redactor, "secret-1-longe!", "****e!");
    assert_masked(&redactor, "secret-1-lon!", "****-lon!");
}

#[test]
fn the_beginning_of_a_value_is_held_back_until_it_is_decided() {
    let mut stream = redactor(&["secret-1"]).stream();
    assert_eq!(*stream.push(b"a sec"), *b"a ");
    assert_eq!(*stream.push(b"ret-"), *b"");
    assert_eq!(*stream.push(b"2"), *b"secret-2");
    assert_eq!(*stream.push(b"secret-1"), *b"****");
    assert_eq!(*stream.push(b" secre"), *b" ");
    assert_eq!(stream.finish(), b"secre");
}

#[test]
fn short_values_are_left_out_and_too_much_is_an_error() {
    assert!(redactor(&["1234567", " a b c d e f g "]).is_empty());
    assert!(!redactor(&["12345678"]).is_empty());
    let many = (0..=MAX_SECRETS).map(|it| format!("number-{it:09}"));
    assert_eq!(Redactor::new(many).unwrap_err(), RedactorError::TooMany { count: MAX_SECRETS + 1 });
    let long = "x".repeat(MAX_SECRET_BYTES + 1);
    assert_eq!(
        Redactor::new([long]).unwrap_err(),
        RedactorError::TooLong { bytes: MAX_SECRET_BYTES + 1 }
    );
    let much = ["a", "b", "c", "d", "e"].map(|it| it.repeat(MAX_SECRET_BYTES));
    assert_eq!(
        Redactor::new(much).unwrap_err(),
        RedactorError::TooMuch { bytes: MAX_TOTAL_BYTES + MAX_SECRET_BYTES }
    );
}

#[test]
fn json_is_masked_in_texts_names_and_numbers() {
    let value = json!({ "secret-1": ["a secret-1", 12_345_678, 123, true, null] });
    let masked = redactor(&["secret-1", "12345678"]).redact_json(value);
    assert_eq!(masked, json!({ "****": ["a ****", "****", 123, true, null] }));
}

#[test]
fn names_of_fields_stay_where_they_are_the_programs_own() {
    let value = json!({ "directory": ["directory", { "exit_code": 12_345_678 }] });
    let masked = redactor(&["directory", "exit_code", "12345678"]).redact_values(value);
    assert_eq!(masked, json!({ "directory": ["****", { "exit_code": "****" }] }));
}

#[test]
fn the_end_of_a_beginning_is_left_out_if_a_value_may_have_begun() {
    let redactor = redactor(&["secret-1"]);
    assert_eq!(redactor.redact_beginning("secret-1 and secret-"), "**** and ");
    assert_eq!(redactor.redact_beginning("secret-1 and secret-2"), "**** and secret-2");
}

#[test]
fn a_reader_gives_what_a_stream_does() {
    let text = "secret-1 and secret-2, ".repeat(3000);
    let redactor = redactor(&["secret-1"]);
    let mut read = String::new();
    redactor.reader(text.as_bytes()).read_to_string(&mut read).unwrap();
    assert_eq!(read, text.replace("secret-1", "****"));
}

#[test]
fn nothing_of_a_value_is_in_what_is_printed_for_debugging() {
    let redactor = redactor(&["secret-1"]);
    let mut stream = redactor.stream();
    stream.push(b"secre");
    assert_eq!(format!("{redactor:?} {stream:?}"), "**** ****");
}

/// Writes a value in one of the ways that must be recognised.
fn written(value: &str, way: u8) -> String {
    let bytes = value.as_bytes();
    match way {
        0 => value.to_owned(),
        1 => bytes.iter().map(|byte| format!("%{byte:02X}")).collect(),
        2 => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        3 => value.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect(),
        4 => value.chars().map(|it| format!("{it}\n")).collect(),
        way => {
            let form = crate::forms::forms(value).into_iter().cycle().nth(usize::from(way));
            String::from_utf8(form.unwrap()).unwrap_or_else(|_| value.to_owned())
        }
    }
}

/// Writes a value as one program does: in one encoding, in which the signs of its escapes are always escaped.
fn encoded(value: &str, way: u8) -> String {
    let percent = |it: char| match it {
        'a'..='z' | 'A'..='Z' | '0'..='9' => it.to_string(),
        _ => it.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect(),
    };
    let json = |value: &str| {
        let quoted = json!(value).to_string();
        quoted[1..quoted.len() - 1].replace('/', "\\/")
    };
    match way {
        0 => value.chars().map(percent).collect(),
        1 => json(value),
        2 => json(&json(value)),
        3 => json(&json(&json(value))),
        4 => value.chars().map(|it| format!("{it}\x1b[1m")).collect(),
        5 => value.chars().map(|it| format!("{it}\x1b]t\x07\r\n")).collect(),
        way => written(value, way - 6),
    }
}

proptest! {
    #[test]
    fn what_precedes_a_value_does_not_hide_it(
        value in "[a-fA-F0-9\"/%\\\\u\u{e9}\u{2014}]{8,12}",
        before in "[a-f0-9u%+\\\\\u{1b}\\[\\](\u{9b}\u{e9}]{0,8}",
        way in 0u8..10,
    ) {
        let redactor = redactor(&[&value]);
        let text = format!("{before}{}", encoded(&value, way));
        let masked = redactor.redact(&text);
        let rest = masked.split_once("****").map(|(before, rest)| (before.to_owned(), rest));
        // Backslashes that escape the first backslash of an escape are not part of the value.
        let start_of = |it: &str| it.trim_end_matches('\\').to_owned();
        let is_before = |it: &str| start_of(&before).starts_with(&start_of(it));
        let end = match way { 4 => "\x1b[1m", 5 => "\x1b]t\x07\r\n", _ => "" };
        prop_assert!(
            rest.as_ref().is_some_and(|(start, rest)| is_before(start) && rest.trim_end() == end.trim_end()),
            "{:?} became {:?}", text, masked
        );
    }

    #[test]
    fn the_result_does_not_depend_on_the_cuts_and_has_no_form_of_a_value(
        values in prop::collection::vec("[a-c+/% \\\\é\u{1f511}]{8,12}", 1..4),
        parts in prop::collection::vec(("[a-c+/%\\\\ \n\u{1b}\\[m0-9u]{0,12}", any::<prop::sample::Index>(), 0u8..12), 0..6),
        lengths in prop::collection::vec(1usize..9, 1..6),
    ) {
        let redactor = Redactor::new(&values).unwrap();
        let part = |(text, at, way): &(String, prop::sample::Index, u8)| {
            format!("{text}{}", written(at.get(&values[..]).as_str(), *way))
        };
        let text: String = parts.iter().map(part).collect();
        let whole = redactor.redact(&text);
        let pieces = in_pieces(&redactor, text.as_bytes(), &lengths);
        prop_assert_eq!(whole.as_bytes(), &pieces[..]);
        for value in values.iter().filter(|value| !Redactor::is_too_short(value)) {
            for way in 0..12 {
                prop_assert!(!whole.contains(&written(value, way)), "{:?} in {:?}", value, whole);
            }
        }
    }

    #[test]
    fn bytes_without_a_value_are_unchanged(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        lengths in prop::collection::vec(1usize..9, 1..6),
    ) {
        let redactor = Redactor::new(["a-value-that-is-not-there", "\\%41+\u{1b}[0m----"]).unwrap();
        prop_assert_eq!(&*redactor.redact_bytes(&bytes), &bytes[..]);
        prop_assert_eq!(in_pieces(&redactor, &bytes, &lengths), bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_held_back_is_bounded(
        unit in "[ab\\\\u06d81%\n \u{1b}\\[\\]m]{1,12}",
        begun in "(ab){0,5}",
        length in 30_000_usize..40_000,
    ) {
        let redactor = Redactor::new(["abababababab"]).unwrap();
        let text = format!("{begun}{}", unit.repeat(length / unit.len()));
        let mut stream = redactor.stream();
        text.as_bytes().chunks(500).for_each(|piece| drop(stream.push(piece)));
        let held = stream.finish().len();
        // Each digit in an escape, with the longest gap of the longest escapes before it.
        prop_assert!(held <= 24 * 17 * 64, "{}", held);
    }
}
