//! The shelf: which skills an agent has loaded, as the state of the session says.
//!
//! The names in the state are a contract with other tools that read sessions. The default agent's
//! carry no agent; every other agent has names of its own, so that two agents in one session do not
//! see each other's skills. Nothing is changed here: every change is a [`Delta`] for an event.

use metier_session::{Delta, DeltaError, State};

/// The agent whose names in the state carry no agent.
pub const DEFAULT_AGENT: &str = "default";

/// What the state says of a skill that is loaded.
const IS_LOADED: &str = "1";
/// Stands for every doc of a skill.
const ALL_DOCS: &str = "*";

/// The docs of a skill that were selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Those of these paths, in this order.
    Docs(Vec<String>),
    /// Every doc there is.
    All,
}

impl Default for Selection {
    fn default() -> Self {
        Self::Docs(Vec::new())
    }
}

impl Selection {
    /// Reads a value of the state; what cannot be understood selects nothing.
    fn read(value: &str) -> Self {
        if value == ALL_DOCS {
            return Self::All;
        }
        Self::Docs(serde_json::from_str(value).unwrap_or_default())
    }

    fn write(&self) -> String {
        match self {
            Self::All => ALL_DOCS.to_owned(),
            Self::Docs(docs) => serde_json::Value::from(docs.clone()).to_string(),
        }
    }

    /// Both together: those of `self` first, each once. Every doc stays every doc.
    #[must_use]
    pub fn with(&self, more: &Self) -> Self {
        match (self, more) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Docs(before), Self::Docs(more)) => {
                let mut docs = before.clone();
                for doc in more {
                    if !docs.contains(doc) {
                        docs.push(doc.clone());
                    }
                }
                Self::Docs(docs)
            }
        }
    }
}

/// What the names in the state begin with.
#[derive(Clone, Debug)]
struct Names {
    loaded: String,
    docs: String,
    order: String,
}

impl Names {
    fn of(agent: &str) -> Self {
        // A slash ends the agent's part of a name, so none may be in it.
        let part = agent.replace('%', "%25").replace('/', "%2F");
        let order = format!("temp:skill:order:{part}");
        if agent == DEFAULT_AGENT {
            return Self {
                loaded: "temp:skill:loaded:".to_owned(),
                docs: "temp:skill:docs:".to_owned(),
                order,
            };
        }
        Self {
            loaded: format!("temp:skill:loaded_by_agent:{part}/"),
            docs: format!("temp:skill:docs_by_agent:{part}/"),
            order,
        }
    }
}

/// The skills an agent has loaded.
#[derive(Clone, Debug)]
pub struct Shelf {
    names: Names,
    /// Least recently touched first.
    skills: Vec<(String, Selection)>,
}

impl Shelf {
    /// Reads the shelf of an agent.
    pub fn read(state: &State, agent: &str) -> Self {
        let names = Names::of(agent);
        let loaded: Vec<&str> = state
            .below(&names.loaded)
            .filter(|(_, value)| *value == IS_LOADED)
            .map(|(skill, _)| skill)
            .collect();
        let order: Vec<String> = state
            .get(&names.order)
            .and_then(|value| serde_json::from_str(value).ok())
            .unwrap_or_default();
        // Skills that the order does not know come first: nobody knows when they were touched.
        let unknown = loaded.iter().filter(|skill| !order.iter().any(|it| it == *skill));
        let known = order.iter().map(String::as_str).filter(|skill| loaded.contains(skill));
        let mut sorted: Vec<&str> = unknown.copied().collect();
        for skill in known {
            if !sorted.contains(&skill) {
                sorted.push(skill);
            }
        }
        let docs = |skill: &str| {
            let value = state.get(&format!("{}{skill}", names.docs));
            value.map(Selection::read).unwrap_or_default()
        };
        let skills = sorted.into_iter().map(|skill| (skill.to_owned(), docs(skill))).collect();
        Self { names, skills }
    }

    /// The docs selected of a skill, if it is loaded.
    pub fn selection(&self, skill: &str) -> Option<&Selection> {
        self.skills.iter().find(|(name, _)| name == skill).map(|(_, docs)| docs)
    }

    /// Whether a skill is loaded.
    pub fn has(&self, skill: &str) -> bool {
        self.selection(skill).is_some()
    }

    /// The skills that are loaded, the one touched longest ago first.
    pub fn skills(&self) -> impl Iterator<Item = (&str, &Selection)> {
        self.skills.iter().map(|(name, docs)| (name.as_str(), docs))
    }

    /// Loads a skill with these docs; loaded already, it gets these docs and becomes the latest.
    ///
    /// # Errors
    ///
    /// When the name cannot be one in a state.
    pub fn put(&self, skill: &str, docs: &Selection) -> Result<Delta, DeltaError> {
        let mut delta = Delta::new();
        delta.set(&format!("{}{skill}", self.names.loaded), IS_LOADED)?;
        delta.set(&format!("{}{skill}", self.names.docs), &docs.write())?;
        let others = self.skills.iter().map(|(name, _)| name.as_str()).filter(|it| *it != skill);
        self.note_order(&mut delta, others.chain([skill]))?;
        Ok(delta)
    }

    /// Takes skills away.
    ///
    /// # Errors
    ///
    /// When more are taken than one delta can hold.
    pub fn take(&self, skills: &[&str]) -> Result<Delta, DeltaError> {
        let mut delta = Delta::new();
        let (gone, left): (Vec<_>, Vec<_>) = self
            .skills
            .iter()
            .map(|(name, _)| name.as_str())
            .partition(|name| skills.contains(name));
        if gone.is_empty() {
            return Ok(delta);
        }
        for skill in gone {
            delta.remove(&format!("{}{skill}", self.names.loaded))?;
            delta.remove(&format!("{}{skill}", self.names.docs))?;
        }
        self.note_order(&mut delta, left.into_iter())?;
        Ok(delta)
    }

    /// Takes every skill away.
    ///
    /// # Errors
    ///
    /// When more are taken than one delta can hold.
    pub fn clear(&self) -> Result<Delta, DeltaError> {
        let all: Vec<&str> = self.skills.iter().map(|(name, _)| name.as_str()).collect();
        self.take(&all)
    }

    /// The skills that must go for `most` to be left, the one touched longest ago first.
    pub fn beyond(&self, most: usize) -> Vec<&str> {
        let more = self.skills.len().saturating_sub(most);
        self.skills.iter().take(more).map(|(name, _)| name.as_str()).collect()
    }

    fn note_order<'a>(
        &self,
        delta: &mut Delta,
        skills: impl Iterator<Item = &'a str>,
    ) -> Result<(), DeltaError> {
        let skills: Vec<&str> = skills.collect();
        if skills.is_empty() {
            return delta.remove(&self.names.order);
        }
        delta.set(&self.names.order, &serde_json::Value::from(skills).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(names: &[&str]) -> Selection {
        Selection::Docs(names.iter().map(|name| (*name).to_owned()).collect())
    }

    fn after(state: &State, delta: &Delta) -> State {
        let mut state = state.clone();
        state.apply(delta);
        state
    }

    fn written(state: &State) -> String {
        state.iter().map(|(name, value)| format!("{name} = {value}\n")).collect()
    }

    #[test]
    fn the_default_agent_has_the_plain_names() {
        let state = State::default();
        let delta = Shelf::read(&state, DEFAULT_AGENT).put("pdf", &docs(&["a.md"])).unwrap();
        insta::assert_snapshot!(written(&after(&state, &delta)), @r#"
        temp:skill:docs:pdf = ["a.md"]
        temp:skill:loaded:pdf = 1
        temp:skill:order:default = ["pdf"]
        "#);
    }

    #[test]
    fn another_agent_has_names_of_its_own_whatever_it_is_called() {
        let state = State::default();
        let delta = Shelf::read(&state, "a/b").put("pdf", &Selection::All).unwrap();
        let state = after(&state, &delta);
        insta::assert_snapshot!(written(&state), @r#"
        temp:skill:docs_by_agent:a%2Fb/pdf = *
        temp:skill:loaded_by_agent:a%2Fb/pdf = 1
        temp:skill:order:a%2Fb = ["pdf"]
        "#);
        assert!(!Shelf::read(&state, DEFAULT_AGENT).has("pdf"));
        assert!(!Shelf::read(&state, "a").has("pdf"));
        assert!(Shelf::read(&state, "a/b").has("pdf"));
    }

    #[test]
    fn touching_a_skill_makes_it_the_latest() {
        let mut state = State::default();
        for skill in ["a", "b", "c", "a"] {
            let delta = Shelf::read(&state, DEFAULT_AGENT).put(skill, &docs(&[])).unwrap();
            state.apply(&delta);
        }
        let shelf = Shelf::read(&state, DEFAULT_AGENT);
        assert_eq!(shelf.skills().map(|(name, _)| name).collect::<Vec<_>>(), ["b", "c", "a"]);
        assert_eq!(shelf.beyond(2), ["b"]);
        assert_eq!(shelf.beyond(3), [""; 0]);
    }

    #[test]
    fn clearing_leaves_nothing_behind() {
        let mut state = State::default();
        for skill in ["a", "b"] {
            state.apply(&Shelf::read(&state, DEFAULT_AGENT).put(skill, &docs(&["x"])).unwrap());
        }
        state.apply(&Shelf::read(&state, DEFAULT_AGENT).clear().unwrap());
        assert_eq!(written(&state), "");
    }

    #[test]
    fn a_state_that_makes_no_sense_loads_nothing_and_selects_nothing() {
        let mut delta = Delta::new();
        delta.set("temp:skill:loaded:off", "0").unwrap();
        delta.set("temp:skill:loaded:on", "1").unwrap();
        delta.set("temp:skill:docs:on", "[1, {").unwrap();
        delta.set("temp:skill:order:default", "nonsense").unwrap();
        let mut state = State::default();
        state.apply(&delta);
        let shelf = Shelf::read(&state, DEFAULT_AGENT);
        assert_eq!(shelf.skills().collect::<Vec<_>>(), [("on", &docs(&[]))]);
    }

    #[test]
    fn adding_keeps_the_order_and_every_doc_stays_every_doc() {
        let cases = [
            (docs(&["b", "a"]), docs(&["a", "c"]), docs(&["b", "a", "c"])),
            (Selection::All, docs(&["a"]), Selection::All),
            (docs(&["a"]), Selection::All, Selection::All),
        ];
        for (before, more, together) in cases {
            assert_eq!(before.with(&more), together);
        }
    }
}
