//! Options of programs, as the tables name them.

/// Options that a program may be given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Letters without a value: `-a`, and several together: `-la`.
    pub(crate) letters: &'static str,
    /// Letters with a value: `-n5` or `-n 5`.
    pub(crate) valued: &'static str,
    /// Letters that may have a value directly after them: `-I`, `-Idate`.
    pub(crate) optional: &'static str,
    /// Words without a value: `--all`. One dash is part of the word, where programs have such.
    pub(crate) words: &'static [&'static str],
    /// Words with a value: `--lines=5` or `--lines 5`.
    pub(crate) valued_words: &'static [&'static str],
    /// Words that may have a value after `=`, and never after a blank: `--color`, `--color=auto`.
    pub(crate) optional_words: &'static [&'static str],
    /// Whether a number is one: `-5`.
    pub(crate) has_numbers: bool,
    /// How the program takes its options apart.
    pub(crate) syntax: OptionSyntax,
}

/// The way in which a program takes its options apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionSyntax {
    /// As `getopt_long` does: the rest of a word is the value of a letter, and `=` ends the name of an option.
    Getopt,
    /// By code of its own. Only what all such code reads alike is accepted: a letter with a value is a word of its own,
    /// its value is the next word, and `=` is a sign like any other. Two dashes stand before the operands or nowhere.
    Own,
    /// The same, and whatever follows the first operand is one too.
    OwnLeading,
}

/// No options at all.
pub(crate) const NONE: Options = Options {
    letters: "",
    valued: "",
    optional: "",
    words: &[],
    valued_words: &[],
    optional_words: &[],
    has_numbers: false,
    syntax: OptionSyntax::Getopt,
};

/// Whether options may stand behind operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// They may.
    Mixed,
    /// The first operand ends them.
    First,
}

/// What a program was given.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Given<'a> {
    /// Its options without dashes, and their values.
    pub(crate) options: Vec<(&'a str, Option<&'a str>)>,
    /// Its operands; with [`Order::First`], the first alone.
    pub(crate) operands: Vec<&'a str>,
    /// How many words come before the first operand.
    pub(crate) before: usize,
}

/// Whether a word can be the value of the one before it. One that looks like an option never is: a program that
/// counts values in another way than its table would then see an option where the table saw a value.
fn is_value(word: &str) -> bool {
    word.strip_prefix('-').is_none_or(|rest| {
        rest.is_empty() || rest.starts_with(|first: char| first.is_ascii_digit())
    })
}

impl Options {
    /// Takes arguments apart. An option must be written out: what is short for one could be short for another.
    ///
    /// # Errors
    ///
    /// The first word that is no known option, or lacks its value.
    pub(crate) fn read<'a>(&self, words: &'a [String], order: Order) -> Result<Given<'a>, &'a str> {
        let mut given = Given { before: words.len(), ..Given::default() };
        let mut place = 0;
        while let Some(word) = words.get(place) {
            let next = words.get(place + 1).map(String::as_str).filter(|next| is_value(next));
            let has_operands = !given.operands.is_empty();
            if has_operands && self.syntax == OptionSyntax::OwnLeading {
                given.operands.extend(words[place..].iter().map(String::as_str));
                break;
            }
            if word == "--" {
                if has_operands && self.syntax == OptionSyntax::Own {
                    return Err(word);
                }
                given.before = given.before.min(place + 1);
                given.operands.extend(words[place + 1..].iter().map(String::as_str));
                break;
            }
            if word == "-" || !word.starts_with('-') {
                given.before = given.before.min(place);
                given.operands.push(word);
                if order == Order::First {
                    break;
                }
                place += 1;
                continue;
            }
            let taken = self.option(word, next, &mut given).ok_or(word.as_str())?;
            // Programs differ in whether such a value may be the next word, which would then not end the options.
            if self.may_lack_value(word)
                && words.get(place + taken).is_some_and(|next| next == "--")
            {
                return Err(word);
            }
            place += taken;
        }
        Ok(given)
    }

    /// Reads one word of options and gives how many words that took.
    fn option<'a>(
        &self,
        word: &'a str,
        next: Option<&'a str>,
        given: &mut Given<'a>,
    ) -> Option<usize> {
        let digits = &word[1..];
        if self.has_numbers && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            given.options.push((digits, None));
            return Some(1);
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if self.syntax == OptionSyntax::Getopt => (name, Some(value)),
            _ => (word, None),
        };
        let bare = name.trim_start_matches('-');
        if value.is_none() && (self.words.contains(&name) || self.optional_words.contains(&name)) {
            given.options.push((bare, None));
            return Some(1);
        }
        if value.is_some()
            && (self.valued_words.contains(&name) || self.optional_words.contains(&name))
        {
            given.options.push((bare, value));
            return Some(1);
        }
        if self.valued_words.contains(&name) {
            given.options.push((bare, Some(next?)));
            return Some(2);
        }
        if word.starts_with("--") { None } else { self.cluster(word, next, given) }
    }

    /// Whether a word ends with an option that may have a value and has none.
    fn may_lack_value(&self, word: &str) -> bool {
        let is_cluster = !word.starts_with("--") && !self.words.contains(&word);
        self.optional_words.contains(&word)
            || (is_cluster && word.ends_with(|last: char| self.optional.contains(last)))
    }

    /// Reads letters that stand together behind one dash.
    fn cluster<'a>(
        &self,
        word: &'a str,
        next: Option<&'a str>,
        given: &mut Given<'a>,
    ) -> Option<usize> {
        for (at, letter) in word.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let (name, rest) = (&word[at..end], &word[end..]);
            if self.letters.contains(letter) {
                given.options.push((name, None));
            } else if self.syntax != OptionSyntax::Getopt && name != &word[1..] {
                return None;
            } else if self.optional.contains(letter) {
                given.options.push((name, Some(rest).filter(|rest| !rest.is_empty())));
                return Some(1);
            } else if self.valued.contains(letter) {
                let attached = !rest.is_empty();
                given.options.push((name, Some(if attached { rest } else { next? })));
                return Some(if attached { 1 } else { 2 });
            } else {
                return None;
            }
        }
        Some(1)
    }
}
