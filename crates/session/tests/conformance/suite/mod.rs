//! What every store must uphold, as functions that are given an empty store.
//!
//! [`conformance!`] makes a test of each, for a function that makes stores. To test another kind of
//! store, write such a function and name it there.

pub(crate) mod decisions;
pub(crate) mod log;
pub(crate) mod many;
pub(crate) mod sessions;
pub(crate) mod state;
pub(crate) mod transfer;
pub(crate) mod usage;

use std::sync::Arc;

use metier_session::DecisionStore;

use crate::support::Store;

/// A store, and what must outlive it.
pub(crate) struct Made {
    pub(crate) store: Store,
    /// The same store, for decisions.
    pub(crate) decisions: Arc<dyn DecisionStore>,
    pub(crate) _folder: Option<tempfile::TempDir>,
}

/// Makes a test of every check, for a function that makes a store.
macro_rules! conformance {
    ($make:path) => {
        $crate::suite::tests! { $make, decisions:
            decisions {
                a_decision_comes_back_as_it_was
                the_same_rule_of_the_same_agent_is_there_once
                an_agent_has_its_own_decisions_and_those_of_all
                what_is_revoked_is_gone_and_lets_nothing_run
                uses_are_counted_and_the_last_is_shown
                of_many_who_decide_at_once_nobody_loses_a_decision
                a_rule_that_is_too_large_or_of_nobody_is_refused
                more_decisions_than_can_be_read_are_refused
            }
        }
        $crate::suite::session_conformance!($make);
    };
}

/// The same for a store that keeps no decisions.
macro_rules! session_conformance {
    ($make:path) => {
        $crate::suite::tests! { $make, store:
            log {
                events_are_numbered_in_the_order_of_appending
                every_kind_of_event_comes_back_as_it_was
                an_append_is_there_whole_or_not_at_all
                of_sixteen_writers_nobody_loses_an_event
                a_number_that_is_not_the_last_is_a_conflict
                pages_have_neither_gaps_nor_repetitions
                a_page_of_large_events_ends_early
                what_is_too_large_is_refused
                what_could_not_be_read_again_is_refused
            }
            state {
                the_state_follows_from_the_log
                a_name_that_is_removed_leaves_nothing
                a_state_that_would_be_too_large_is_refused
            }
            sessions {
                those_who_begin_a_session_at_once_share_it
                a_session_that_is_made_again_shares_nothing
                ids_are_only_ids
                an_opening_is_set_once
                lists_are_newest_first
                lists_can_be_filtered
                a_title_is_that_of_the_first_message
                what_is_not_there_is_an_error_that_says_so
            }
            transfer {
                an_export_makes_the_same_session_elsewhere
                fields_of_later_versions_survive
                a_broken_line_leaves_nothing
                an_import_that_failed_can_begin_again
                what_a_line_says_is_not_obeyed
                nothing_is_imported_over_a_session
            }
            usage {
                usage_is_summed_from_all_sides
                usage_of_some_sessions_and_times
                sums_that_do_not_fit_stay_at_the_largest
                digests_of_what_is_deleted_are_not_kept
            }
            many {
                many_sessions_at_once_lose_and_reorder_nothing
                what_nobody_waits_for_is_whole_or_not_at_all
            }
        }
    };
}

macro_rules! tests {
    ($make:path, $part:ident: $($area:ident { $($check:ident)* })*) => { $($(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $check() {
            let made: $crate::suite::Made = $make();
            $crate::suite::$area::$check(&made.$part).await;
        }
    )*)* };
}

pub(crate) use {conformance, session_conformance, tests};
