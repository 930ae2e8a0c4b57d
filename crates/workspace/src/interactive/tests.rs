//! Transcripts: whatever pieces output comes in and is taken in, it is all there once.

use metier_sandbox::Stream;
use proptest::prelude::*;

use super::transcript::{Bounds, Transcript};

const EVERYTHING: Bounds = Bounds { lines: usize::MAX, bytes: usize::MAX };

/// What is taken of a text.
fn plain(text: &str) -> String {
    Transcript::plain(text)
}

/// What is taken when each piece is taken as it comes.
fn pieces(pieces: &[&str]) -> Vec<String> {
    let mut transcript = Transcript::new(EVERYTHING);
    let take = |piece: &&str| {
        transcript.write(Stream::Output, piece.as_bytes());
        transcript.take(EVERYTHING).text
    };
    pieces.iter().map(take).collect()
}

#[test]
fn sequences_are_taken_out() {
    for (written, expected) in [
        ("\x1b[1;31mred\x1b[0m\n", "red\n"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2;0;0;0~~\n~~\x1b\\picture", "picture"),
        ("\x1b(B\x1b[m\x1b=\x1b>\x1b7x", "x"),
        ("\x1b[?2004h>>> \x1b[?2004l", ">>> "),
        ("a\x1b[3\nb", "a\n"),
        ("a\x07b\x00c\x7fd\te", "abcd\te"),
        ("a\u{9b}b", "a"),
        ("a\u{85}b\u{9b}31mc\u{9d}0;title\u{9c}d", "abcd"),
        ("«©\u{b6}\u{bf}»", "«©\u{b6}\u{bf}»"),
        ("\x1b]0;title\x1b7text", "text"),
        ("\x1bP\x1b[31mtext\x1b\\", "text"),
        ("\x1b]never closed\ntext", "\ntext"),
        ("\x1b\x1b[31mx", "x"),
        ("\x1b[31é", "é"),
    ] {
        assert_eq!(plain(written), expected, "{written:?}");
    }
}

#[test]
fn lines_are_as_they_were_last() {
    for (written, expected) in [
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("one\r\r\ntwo", "one\ntwo"),
        (" 10%\r 50%\r100%\r\ndone\r\n", "100%\ndone\n"),
        (" 10%\r 50%\r", " 50%"),
        ("working\r\x1b[Kdone\n", "done\n"),
        ("working\x1b[2K\rdone\n", "done\n"),
        ("working\x1b[2K\x1b[1Gdone\n", "done\n"),
        ("text\x1b[K\n", "text\n"),
        ("ab\x08 \x08c", "ac"),
    ] {
        assert_eq!(plain(written), expected, "{written:?}");
    }
}

#[test]
fn a_prompt_is_given_once_and_its_line_goes_on() {
    assert_eq!(pieces(&["Name: ", "", "bob\r\n", "Hello\r\n"]), ["Name: ", "", "bob\n", "Hello\n"]);
    assert_eq!(pieces(&["foo\r", "\n", "bar"]), ["foo", "\n", "bar"]);
    assert_eq!(pieces(&["10%", "\r20%", "\r30%\r\n"]), ["10%", "\n20%", "\n30%\n"]);
    assert_eq!(pieces(&["10%", "\r\x1b[K", "done"]), ["10%", "", "\ndone"]);
}

#[test]
fn characters_and_sequences_may_come_in_pieces() {
    let mut transcript = Transcript::new(EVERYTHING);
    let mut taken = String::new();
    for byte in "é\x1b[31m😀\x1b[0m\r\n".as_bytes() {
        transcript.write(Stream::Output, &[*byte]);
        taken.push_str(&transcript.take(EVERYTHING).text);
    }
    assert_eq!(taken, "é😀\n");
}

#[test]
fn streams_do_not_get_into_each_others_characters() {
    let mut transcript = Transcript::new(EVERYTHING);
    let [first, second] = "é".as_bytes() else { panic!("two bytes") };
    transcript.write(Stream::Output, &[*first]);
    transcript.write(Stream::Error, b"x");
    transcript.write(Stream::Output, &[*second]);
    assert_eq!(transcript.take(EVERYTHING).text, "xé");
}

#[test]
fn what_is_not_a_character_is_marked() {
    let mut transcript = Transcript::new(EVERYTHING);
    transcript.write(Stream::Output, b"a\xffb\xc3");
    transcript.end();
    assert_eq!(transcript.take(EVERYTHING).text, "a\u{fffd}b\u{fffd}");
}

#[test]
fn the_oldest_lines_are_dropped_and_counted() {
    let mut transcript = Transcript::new(Bounds { lines: 3, bytes: 1 << 20 });
    transcript.write(Stream::Output, b"1\n2\n3\n4\n5\nopen");
    let taken = transcript.take(EVERYTHING);
    assert_eq!((taken.text.as_str(), taken.dropped_lines), ("3\n4\n5\nopen", 2));
    assert_eq!((taken.offset, taken.next_offset), (4, 14));
    let mut transcript = Transcript::new(Bounds { lines: 1000, bytes: 200_000 });
    let chunks = vec![b'x'; 10 << 20];
    chunks.chunks(60_000).for_each(|chunk| transcript.write(Stream::Output, chunk));
    let taken = transcript.take(EVERYTHING);
    assert!(taken.text.len() < 300_000 && taken.dropped_lines > 50);
    assert_eq!(taken.next_offset, 10 << 20);
}

#[test]
fn no_more_than_was_asked_is_taken() {
    let mut transcript = Transcript::new(EVERYTHING);
    transcript.write(Stream::Output, "1\n2\n3\n".as_bytes());
    assert_eq!(transcript.take(Bounds { lines: 2, bytes: 100 }).text, "1\n2\n");
    assert_eq!(transcript.take(Bounds { lines: 2, bytes: 100 }).text, "3\n");
    transcript.write(Stream::Output, "ééé\nopen é".as_bytes());
    let few = Bounds { lines: 9, bytes: 5 };
    let taken = [0; 5].map(|_| transcript.take(few).text);
    assert_eq!(taken, ["éé", "é\nop", "en é", "", ""]);
}

proptest! {
    /// All that was taken, whenever, is what was written.
    #[test]
    fn nothing_is_lost_and_nothing_comes_twice(
        text in "[a-zé😀 \n\t]{0,200}",
        cuts in proptest::collection::vec((0_usize..40, 1_usize..5, 4_usize..20), 0..40),
    ) {
        let mut transcript = Transcript::new(EVERYTHING);
        let mut bytes = text.as_bytes();
        let mut taken = String::new();
        let mut offset = 0;
        for (count, lines, most) in cuts {
            let (now, later) = bytes.split_at(count.min(bytes.len()));
            transcript.write(Stream::Output, now);
            bytes = later;
            let part = transcript.take(Bounds { lines, bytes: most });
            prop_assert!(part.text.len() <= most);
            prop_assert_eq!(part.offset, offset);
            offset = part.next_offset;
            taken.push_str(&part.text);
        }
        transcript.write(Stream::Output, bytes);
        transcript.end();
        taken.push_str(&transcript.take(EVERYTHING).text);
        prop_assert_eq!(taken, text);
    }

    /// Nothing that is written stops the reader, and no control character gets through.
    #[test]
    fn anything_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut transcript = Transcript::new(EVERYTHING);
        transcript.write(Stream::Output, &bytes);
        transcript.end();
        let text = transcript.take(EVERYTHING).text;
        prop_assert!(!text.contains(|it: char| it.is_control() && it != '\n' && it != '\t'));
    }
}
