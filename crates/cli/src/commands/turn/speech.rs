//! What a model says, while it says it.
//!
//! Whether words are the answer or come before calls is known when the reply is whole. Words of one
//! block are not shown before that, and can then be told apart from the answer; more of them are shown as
//! they come. A reply that may turn out to be a call in writing waits as well.

use crate::output::{Look, Markdown};

/// What a model says in one reply.
#[derive(Clone, Debug)]
pub(super) struct Speech {
    look: Look,
    markdown: Markdown,
    said: String,
    /// How much of it the renderer has.
    taken: usize,
    has_shown: bool,
}

/// What is left to show of a reply that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Lines that are ready for the terminal.
    Lines(String),
    /// Words before calls, as they were said.
    Words(String),
}

impl Speech {
    pub(super) fn new(look: Look) -> Self {
        let markdown = Markdown::new(look);
        Self { look, markdown, said: String::new(), taken: 0, has_shown: false }
    }

    /// The next reply begins.
    pub(super) fn begin(&mut self) {
        *self = Self::new(self.look);
    }

    /// Takes what comes next; gives the lines that are complete by it.
    pub(super) fn take(&mut self, piece: &str) -> String {
        self.said.push_str(piece);
        if may_be_call(&self.said) {
            return String::new();
        }
        let shown = self.markdown.push(&self.said[self.taken..]);
        self.taken = self.said.len();
        self.has_shown |= !shown.is_empty();
        shown
    }

    /// The last words that are not shown yet.
    pub(super) fn pending(&self) -> &str {
        self.markdown.pending()
    }

    /// The reply is whole, with this text.
    pub(super) fn replied(&mut self, text: &str, has_calls: bool) -> Left {
        let mut speech = std::mem::replace(self, Self::new(self.look));
        if has_calls && !speech.has_shown {
            return Left::Words(text.to_owned());
        }
        if !speech.has_shown {
            speech.begin();
        }
        // What the reply became may differ from how it came.
        let rest = text.strip_prefix(&speech.said[..speech.taken]);
        let mut lines = speech.markdown.push(rest.unwrap_or_default());
        lines.push_str(&speech.markdown.finish());
        if rest.is_none() {
            let mut whole = Markdown::new(self.look);
            lines.push_str(&whole.push(text));
            lines.push_str(&whole.finish());
        }
        Left::Lines(lines)
    }

    /// Nothing more comes, and the reply is not whole.
    pub(super) fn break_off(&mut self) -> String {
        let mut speech = std::mem::replace(self, Self::new(self.look));
        let shown = speech.markdown.push(&speech.said[speech.taken..]);
        shown + &speech.markdown.finish()
    }

    /// What was said does not count; says whether any of it was shown.
    pub(super) fn void(&mut self) -> bool {
        std::mem::replace(self, Self::new(self.look)).has_shown
    }
}

/// Whether what was said so far may be a call that is written as text: an object, alone or fenced.
fn may_be_call(said: &str) -> bool {
    const FENCE: &str = "```";
    let said = said.trim_start();
    said.starts_with('{') || said.starts_with(FENCE) || FENCE.starts_with(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speech() -> Speech {
        Speech::new(Look { width: 40, is_styled: false })
    }

    #[test]
    fn one_block_before_calls_is_words_and_an_answer_is_lines() {
        let mut speech = speech();
        assert_eq!(speech.take("Let me"), "");
        assert_eq!(speech.pending(), "Let me");
        assert_eq!(speech.take(" look."), "");
        assert_eq!(speech.replied("Let me look.", true), Left::Words("Let me look.".to_owned()));
        assert_eq!(speech.take("Two."), "");
        assert_eq!(speech.replied("Two.", false), Left::Lines("Two.\n".to_owned()));
    }

    #[test]
    fn what_was_begun_as_it_came_goes_on_like_that_before_calls_too() {
        let mut speech = speech();
        assert_eq!(speech.take("One.\n\nTwo"), "One.\n");
        assert_eq!(speech.replied("One.\n\nTwo.", true), Left::Lines("\nTwo.\n".to_owned()));
    }

    #[test]
    fn a_reply_that_may_be_a_call_waits_until_it_is_whole() {
        for text in ["{\"name\":\n\n1}\n\n", "```json\n{\n}\n```\n", " \n``"] {
            let mut held = speech();
            assert_eq!(held.take(text), "");
            assert_eq!(held.pending(), "");
            assert_eq!(held.replied("", true), Left::Words(String::new()));
        }
        let mut speech = speech();
        assert_eq!(speech.take("```sh\nls\n```\n"), "");
        let shown = Left::Lines("```sh\nls\n```\n".to_owned());
        assert_eq!(speech.replied("```sh\nls\n```\n", false), shown);
    }

    #[test]
    fn what_does_not_count_is_not_shown_again() {
        let mut speech = speech();
        assert!(!speech.void());
        speech.take("One.\n\nTw");
        assert!(speech.void());
        speech.take("Three");
        assert_eq!(speech.replied("Three.", false), Left::Lines("Three.\n".to_owned()));
    }

    #[test]
    fn a_reply_that_became_another_is_shown_as_it_became() {
        let mut speech = speech();
        speech.take("One.\n\nTwo");
        assert_eq!(speech.replied("Other.", false), Left::Lines("\nTwo\nOther.\n".to_owned()));
    }

    #[test]
    fn what_was_broken_off_is_shown_as_far_as_it_came() {
        let mut speech = speech();
        speech.take("One.\n\n- two");
        assert_eq!(speech.break_off(), "\n• two\n");
        assert_eq!(speech.break_off(), "");
        speech.take("{\"a\"");
        assert_eq!(speech.break_off(), "{\"a\"\n");
    }
}
