//! Finds any of many forms in one pass (Aho and Corasick): the time does not depend on how many there are.

use std::collections::VecDeque;

/// The state in which no form has begun.
pub(crate) const ROOT: u32 = 0;

/// A trie of forms with links to the longest proper suffix that is itself in the trie.
pub(crate) struct FormAutomaton {
    /// The states after one byte.
    first: Box<[u32; 256]>,
    /// The edges of each state: `labels` and `targets` from here to where those of the next begin.
    edges: Vec<u32>,
    labels: Vec<u8>,
    targets: Vec<u32>,
    suffix: Vec<u32>,
    depth: Vec<u32>,
    /// The longest form that ends in each state, in bytes; 0 if none does.
    matched: Vec<u32>,
    has_backslash: bool,
}

/// The trie while forms are added.
#[derive(Default)]
struct Trie {
    children: Vec<Vec<(u8, u32)>>,
    depth: Vec<u32>,
    matched: Vec<u32>,
}

impl Trie {
    fn state(&mut self, depth: u32) -> u32 {
        self.children.push(Vec::new());
        self.depth.push(depth);
        self.matched.push(0);
        u32::try_from(self.children.len() - 1).unwrap_or(u32::MAX)
    }

    fn child(&self, state: u32, byte: u8) -> Option<u32> {
        let children = self.children[state as usize].iter();
        children.clone().find(|(label, _)| *label == byte).map(|(_, child)| *child)
    }

    fn add(&mut self, form: &[u8]) {
        let mut state = ROOT;
        for (depth, byte) in (1..).zip(form) {
            state = self.child(state, *byte).unwrap_or_else(|| {
                let child = self.state(depth);
                self.children[state as usize].push((*byte, child));
                child
            });
        }
        self.matched[state as usize] = self.depth[state as usize];
    }

    /// Finds the longest suffix of each state, the shallow ones first, and passes on what ends there.
    fn suffixes(&mut self) -> Vec<u32> {
        let mut suffix = vec![ROOT; self.children.len()];
        let mut waiting = VecDeque::from([ROOT]);
        while let Some(state) = waiting.pop_front() {
            for (byte, child) in self.children[state as usize].clone() {
                waiting.push_back(child);
                let mut shorter = state;
                while shorter != ROOT {
                    shorter = suffix[shorter as usize];
                    if let Some(end) = self.child(shorter, byte) {
                        suffix[child as usize] = end;
                        break;
                    }
                }
                let inherited = self.matched[suffix[child as usize] as usize];
                let own = &mut self.matched[child as usize];
                *own = (*own).max(inherited);
            }
        }
        suffix
    }
}

impl FormAutomaton {
    pub(crate) fn new(forms: &[Vec<u8>]) -> Self {
        let mut trie = Trie::default();
        trie.state(0);
        forms.iter().for_each(|form| trie.add(form));
        let suffix = trie.suffixes();
        let mut first = Box::new([ROOT; 256]);
        for (byte, child) in &trie.children[ROOT as usize] {
            first[usize::from(*byte)] = *child;
        }
        let (mut edges, mut labels, mut targets) = (vec![0], Vec::new(), Vec::new());
        for children in &trie.children {
            labels.extend(children.iter().map(|(label, _)| *label));
            targets.extend(children.iter().map(|(_, child)| *child));
            edges.push(u32::try_from(labels.len()).unwrap_or(u32::MAX));
        }
        let (depth, matched) = (trie.depth, trie.matched);
        let has_backslash = labels.contains(&b'\\');
        Self { first, edges, labels, targets, suffix, depth, matched, has_backslash }
    }

    /// Whether a backslash is in any form.
    pub(crate) fn has_backslash(&self) -> bool {
        self.has_backslash
    }

    /// Whether a form begins with this byte.
    pub(crate) fn begins(&self, byte: u8) -> bool {
        self.first[usize::from(byte)] != ROOT
    }

    /// Returns the state after one more byte.
    pub(crate) fn next(&self, mut state: u32, byte: u8) -> u32 {
        while state != ROOT {
            let range =
                self.edges[state as usize] as usize..self.edges[state as usize + 1] as usize;
            let found = self.labels[range.clone()].iter().position(|label| *label == byte);
            if let Some(at) = found {
                return self.targets[range.start + at];
            }
            state = self.suffix[state as usize];
        }
        self.first[usize::from(byte)]
    }

    /// Whether what may have begun in one state may have begun in another as well.
    pub(crate) fn includes(&self, mut state: u32, other: u32) -> bool {
        while self.depth(state) > self.depth(other) {
            state = self.suffix[state as usize];
        }
        state == other
    }

    /// How many of the last bytes may be the beginning of a form.
    pub(crate) fn depth(&self, state: u32) -> usize {
        self.depth[state as usize] as usize
    }

    /// How many of the last bytes are a form; 0 if none has ended.
    pub(crate) fn matched(&self, state: u32) -> usize {
        self.matched[state as usize] as usize
    }
}
