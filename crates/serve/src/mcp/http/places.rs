//! The places that connections have, and who gives one up when there are too many.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

/// Connections of strangers that there is always room for: as many can show a token at the same time.
pub(super) const MIN_STRANGERS: usize = 32;

/// All connections, oldest first.
pub(super) struct Places {
    connections: Mutex<VecDeque<ConnectionPlace>>,
    /// Connections at a time.
    most: usize,
}

/// The place of one connection.
struct ConnectionPlace {
    number: u64,
    /// The place in the list of the token that the last request had; a stranger has none.
    owner: Option<usize>,
    /// Whether its task has begun: before that, nothing that has arrived was looked at.
    is_begun: bool,
    task: AbortHandle,
}

impl Places {
    /// Returns places for as many connections, more than strangers always have.
    pub(super) fn new(most: usize) -> Self {
        Self { connections: Mutex::default(), most }
    }

    /// Whether there is no room for one more connection.
    pub(super) fn are_full(&self) -> bool {
        self.lock().len() >= self.most
    }

    /// Adds a connection, of a stranger, and starts its task, which cannot ask for its place before it has one. Each
    /// number is higher than the one before.
    pub(super) fn add(&self, number: u64, start: impl FnOnce() -> AbortHandle) {
        let mut places = self.lock();
        let task = start();
        places.push_back(ConnectionPlace { number, owner: None, is_begun: false, task });
    }

    /// Forgets a connection that has ended.
    pub(super) fn forget(&self, number: u64) {
        let mut places = self.lock();
        if let Ok(index) = places.binary_search_by_key(&number, |it| it.number) {
            places.remove(index);
        }
    }

    /// Whether there is a connection whose task has not begun.
    pub(super) fn have_unbegun(&self) -> bool {
        self.lock().iter().any(|it| !it.is_begun)
    }

    /// Notes that the task of a connection has begun.
    pub(super) fn begin(&self, number: u64) {
        let mut places = self.lock();
        if let Ok(index) = places.binary_search_by_key(&number, |it| it.number) {
            places[index].is_begun = true;
        }
    }

    /// Ends the connection of the oldest stranger whose task has begun, if there is one.
    pub(super) fn drop_oldest_stranger(&self) -> bool {
        let mut places = self.lock();
        let oldest = places.iter().position(|it| it.owner.is_none() && it.is_begun);
        let oldest = oldest.and_then(|index| places.remove(index));
        oldest.is_some_and(|it| {
            it.task.abort();
            true
        })
    }

    /// Gives a connection to a token, and says whether it may have it.
    ///
    /// If all places for tokens are taken, the newest connection of the token with the most is ended, unless this one
    /// would have as many then.
    pub(super) fn own(&self, number: u64, token: usize) -> bool {
        let mut places = self.lock();
        let Ok(index) = places.binary_search_by_key(&number, |it| it.number) else {
            return false;
        };
        if places[index].owner == Some(token) {
            return true;
        }
        places[index].owner = None;
        let most_owned = self.most.saturating_sub(MIN_STRANGERS);
        if places.iter().filter(|it| it.owner.is_some()).count() >= most_owned {
            let count = |token| places.iter().filter(|it| it.owner == Some(token)).count();
            let owners = places.iter().filter_map(|it| it.owner);
            let Some(greatest) = owners.max_by_key(|owner| count(*owner)) else { return false };
            if count(greatest) <= count(token) + 1 {
                return false;
            }
            let newest = places.iter().rposition(|it| it.owner == Some(greatest));
            if let Some(ended) = newest.and_then(|newest| places.remove(newest)) {
                ended.task.abort();
            }
        }
        if let Ok(index) = places.binary_search_by_key(&number, |it| it.number) {
            places[index].owner = Some(token);
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<ConnectionPlace>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_CONNECTIONS: usize = 256;
    const MAX_OWNED: usize = MAX_CONNECTIONS - MIN_STRANGERS;

    /// Places with connections of tokens, and the next number.
    async fn owned_by(tokens: &[(usize, usize)]) -> (Places, u64) {
        let (places, mut number) = (Places::new(MAX_CONNECTIONS), 0);
        for &(token, count) in tokens {
            for _ in 0..count {
                number = opened(&places, number);
                assert!(places.own(number, token));
            }
        }
        (places, number)
    }

    fn opened(places: &Places, last: u64) -> u64 {
        places.add(last + 1, || tokio::spawn(std::future::pending::<()>()).abort_handle());
        places.begin(last + 1);
        last + 1
    }

    fn count(places: &Places, token: Option<usize>) -> usize {
        places.lock().iter().filter(|it| it.owner == token).count()
    }

    #[tokio::test]
    async fn a_token_with_all_places_gives_one_up_for_another() {
        let (places, last) = owned_by(&[(0, MAX_OWNED)]).await;
        let number = opened(&places, last);
        assert!(!places.own(number, 0), "it has enough");
        assert!(places.own(number, 1));
        assert_eq!((count(&places, Some(0)), count(&places, Some(1))), (MAX_OWNED - 1, 1));
        assert!(places.own(number, 1), "it has it already");
    }

    #[tokio::test]
    async fn tokens_share_alike_and_nobody_loses_a_place_to_one_that_has_as_many() {
        let (places, mut last) = owned_by(&[(0, MAX_OWNED)]).await;
        for _ in 0..MAX_OWNED {
            last = opened(&places, last);
            let _taken = places.own(last, 1);
        }
        assert_eq!(
            (count(&places, Some(0)), count(&places, Some(1))),
            (MAX_OWNED / 2, MAX_OWNED / 2)
        );
    }

    #[tokio::test]
    async fn strangers_take_no_place_of_a_token() {
        let (places, mut last) = owned_by(&[(0, 3)]).await;
        for _ in 0..2 {
            last = opened(&places, last);
        }
        assert!(places.drop_oldest_stranger() && places.drop_oldest_stranger());
        assert!(!places.drop_oldest_stranger());
        assert_eq!((count(&places, Some(0)), count(&places, None)), (3, 0));
    }

    #[tokio::test]
    async fn a_connection_on_which_another_token_is_shown_counts_for_that_one() {
        let (places, last) = owned_by(&[(0, 2)]).await;
        assert!(places.own(last, 1));
        assert_eq!((count(&places, Some(0)), count(&places, Some(1))), (1, 1));
        places.forget(last);
        assert!(!places.own(last, 1), "it has gone");
    }

    #[tokio::test]
    async fn a_stranger_whose_request_was_not_looked_at_keeps_its_place() {
        let (places, last) = owned_by(&[(0, 1)]).await;
        let begun = opened(&places, last);
        let start = || tokio::spawn(std::future::pending::<()>()).abort_handle();
        places.add(begun + 1, start);
        assert!(places.drop_oldest_stranger());
        assert!(!places.drop_oldest_stranger(), "the other one has not begun");
        places.begin(begun + 1);
        assert!(places.drop_oldest_stranger());
    }
}
