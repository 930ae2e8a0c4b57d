//! Fetching an image, for whoever waits for it: which one, and how much of it has come.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use bollard::models::CreateImageInfo;

/// Most layers whose bytes are counted; images have fewer.
const MAX_LAYERS: usize = 1024;

/// What has to be done before a command can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preparing<'a> {
    /// The engine fetches an image.
    Image {
        /// Its name.
        name: &'a str,
        /// Bytes that have come, as far as the engine tells.
        bytes: u64,
    },
    /// Nothing any more.
    Done,
}

/// Is told what has to be done, again and again.
pub type Teller = Arc<dyn Fn(Preparing<'_>) + Send + Sync>;

/// Who is told, if anybody is.
#[derive(Clone, Default)]
pub(super) struct Told(pub(super) Option<Teller>);

impl fmt::Debug for Told {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Told").field(&self.0.is_some()).finish()
    }
}

impl Told {
    fn tell(&self, preparing: Preparing<'_>) {
        if let Some(teller) = &self.0 {
            teller(preparing);
        }
    }
}

/// An image on its way. When the value is gone, so is the waiting.
#[derive(Debug)]
pub(super) struct Fetching<'a> {
    name: &'a str,
    told: &'a Told,
    /// Bytes that have come of each layer.
    layers: BTreeMap<String, u64>,
}

impl<'a> Fetching<'a> {
    pub(super) fn begin(name: &'a str, told: &'a Told) -> Self {
        told.tell(Preparing::Image { name, bytes: 0 });
        Self { name, told, layers: BTreeMap::new() }
    }

    /// Takes what the engine tells of one layer. Unpacking it is counted anew, from nothing, and so is left out.
    pub(super) fn take(&mut self, step: &CreateImageInfo) {
        let detail = step.progress_detail.as_ref().and_then(|detail| detail.current);
        let (Some(layer), Some(bytes)) = (&step.id, detail) else { return };
        let bytes = u64::try_from(bytes).unwrap_or_default();
        if !self.layers.contains_key(layer) && self.layers.len() >= MAX_LAYERS {
            return;
        }
        let known = self.layers.entry(layer.clone()).or_default();
        *known = bytes.max(*known);
        let bytes = self.layers.values().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        self.told.tell(Preparing::Image { name: self.name, bytes });
    }
}

impl Drop for Fetching<'_> {
    fn drop(&mut self) {
        self.told.tell(Preparing::Done);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use bollard::models::ProgressDetail;

    use super::*;

    #[test]
    fn what_has_come_of_all_layers_is_told_and_the_end() {
        let all = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&all);
        let told = Told(Some(Arc::new(move |preparing| {
            telling.lock().unwrap().push(format!("{preparing:?}"));
        })));
        let mut fetching = Fetching::begin("debian", &told);
        for (layer, current) in [("a", 5), ("b", 7), ("a", 20), ("a", 3), ("c", -1)] {
            let detail = ProgressDetail { current: Some(current), total: None };
            let step = CreateImageInfo {
                id: Some(layer.to_owned()),
                progress_detail: Some(detail),
                ..CreateImageInfo::default()
            };
            fetching.take(&step);
        }
        fetching.take(&CreateImageInfo::default());
        drop(fetching);
        insta::assert_snapshot!(all.lock().unwrap().join("\n"), @r#"
        Image { name: "debian", bytes: 0 }
        Image { name: "debian", bytes: 5 }
        Image { name: "debian", bytes: 12 }
        Image { name: "debian", bytes: 27 }
        Image { name: "debian", bytes: 27 }
        Image { name: "debian", bytes: 27 }
        Done
        "#);
    }
}
