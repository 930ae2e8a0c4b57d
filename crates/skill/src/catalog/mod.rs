//! The catalog: what a model sees of skills it has not loaded, within a budget of tokens.
//!
//! Nothing but the skills and the budget decides the text, so it is the same from
//! turn to turn. Costs come from counts made when a header was read; joining
//! parts is paid by stated upper bounds, so no text is tokenised here.

mod budget;
mod cost;
mod render;
#[cfg(test)]
mod tests;

pub use budget::{Catalog, CatalogItem, CatalogReport, build};
pub use cost::{HeaderTokens, one_line};
pub use render::{Format, escape};

/// The share of a model's context window that the catalog may take.
const WINDOW_SHARE: usize = 50;
/// The window that is assumed when no model is set.
const USUAL_WINDOW: usize = 200_000;
/// The budget is never less than this: below it a catalog tells nothing.
const MIN_BUDGET: usize = 1_000;
/// The budget is never more than this: beyond it search is better.
const MAX_BUDGET: usize = 8_000;

/// The budget for a model with this context window, in tokens.
pub fn default_budget(window: Option<usize>) -> usize {
    (window.unwrap_or(USUAL_WINDOW) / WINDOW_SHARE).clamp(MIN_BUDGET, MAX_BUDGET)
}
