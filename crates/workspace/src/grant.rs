//! What a skill asks for, held against what the user allows.
//!
//! The user's settings are what a run has at most. A skill that asks for less gets less, and one
//! that asks for more is not run at all: half of what it needs would only fail in stranger ways.

use std::time::Duration;

use thiserror::Error;

use crate::executor::{Executor, Network};
use crate::order::RunSettings;

/// A mebibyte.
const MEBIBYTE: u64 = 1 << 20;

/// What a skill asks for; what the settings say where it says nothing.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The network.
    pub network: Option<Network>,
    /// Time for a run, when its caller does not say. The caller may still say more.
    pub timeout: Option<Duration>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Processes at a time.
    pub processes: Option<u64>,
}

/// What a skill asks for beyond what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BeyondError {
    /// More of the network.
    #[error("it asks for the network `{asked}`, and `{allowed}` is allowed")]
    Network {
        /// What it asks for.
        asked: String,
        /// What is allowed.
        allowed: String,
    },
    /// More time.
    #[error("it asks for {asked} seconds, and at most {allowed} are allowed")]
    Timeout {
        /// Seconds it asks for.
        asked: u64,
        /// Seconds that are allowed.
        allowed: u64,
    },
    /// More memory.
    #[error("it asks for {asked} MiB of memory, and at most {allowed} are allowed")]
    Memory {
        /// Mebibytes it asks for.
        asked: u64,
        /// Mebibytes that are allowed.
        allowed: u64,
    },
    /// More processes.
    #[error("it asks for {asked} processes, and at most {allowed} are allowed")]
    Processes {
        /// Processes it asks for.
        asked: u64,
        /// Processes that are allowed.
        allowed: u64,
    },
}

impl RunSettings {
    /// What a run has after the skill was asked: what it asks for, where that is less.
    ///
    /// A list of addresses in place of the whole network is only as good as the executor that
    /// keeps it; with one that does not, the run has what the user allowed.
    ///
    /// # Errors
    ///
    /// With the first thing of which it asks for more.
    pub fn granted(mut self, executor: &Executor) -> Result<Self, BeyondError> {
        let Asked { network, timeout, memory, processes } = self.asked.clone();
        if let Some(asked) = network {
            self.network = self.network.narrowed(asked, executor)?;
        }
        if let Some(asked) = timeout {
            if asked > self.max_timeout {
                let (asked, allowed) = (asked.as_secs(), self.max_timeout.as_secs());
                return Err(BeyondError::Timeout { asked, allowed });
            }
            self.default_timeout = asked;
        }
        if let Some(asked) = memory {
            if asked > self.limits.memory {
                let (asked, allowed) = (asked / MEBIBYTE, self.limits.memory / MEBIBYTE);
                return Err(BeyondError::Memory { asked, allowed });
            }
            self.limits.memory = asked;
        }
        if let Some(asked) = processes {
            let allowed = self.limits.processes;
            if asked > allowed {
                return Err(BeyondError::Processes { asked, allowed });
            }
            self.limits.processes = asked;
        }
        Ok(self)
    }
}

impl Network {
    /// The part of this network that is asked for.
    fn narrowed(self, asked: Self, executor: &Executor) -> Result<Self, BeyondError> {
        match (&self, &asked) {
            (_, Self::None) | (Self::Host, Self::Host) => Ok(asked),
            (Self::Host, Self::Listed(..)) => Ok(if executor.keeps_lists() { asked } else { self }),
            (Self::Listed(all), Self::Listed(some)) if all.covers(some) => Ok(asked),
            _ => Err(BeyondError::Network { asked: asked.to_string(), allowed: self.to_string() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{Firmness, LocalExecutor};

    const SANDBOX: LocalExecutor = LocalExecutor::Sandbox(Firmness::Full);

    fn network(words: &str) -> Network {
        match words {
            "none" => Network::None,
            "host" => Network::Host,
            words => {
                let entries: Vec<String> = words.split(' ').map(str::to_owned).collect();
                Network::listed(&entries).unwrap()
            }
        }
    }

    /// The network of a run for which some was allowed and some asked.
    fn reached(allowed: &str, asked: &str, executor: LocalExecutor) -> String {
        let settings = RunSettings {
            network: network(allowed),
            asked: Asked { network: Some(network(asked)), ..Asked::default() },
            ..RunSettings::default()
        };
        match settings.granted(&executor.into()) {
            Ok(settings) => settings.network.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_skill_reaches_what_it_asks_for_if_all_of_that_is_allowed() {
        for (allowed, asked) in [
            ("none", "none"),
            ("host", "none"),
            ("host", "host"),
            ("host", "a.example:1"),
            ("a.example:1", "none"),
            ("a.example:1 b.example:1", "b.example:1"),
            ("*.example.com:443", "api.example.com:443"),
            ("*.example.com:443", "*.eu.example.com:443"),
            ("*.example.com:443", "*.example.com:443"),
            ("A.example:1", "a.EXAMPLE.:1"),
        ] {
            assert_eq!(reached(allowed, asked, SANDBOX), asked, "{allowed}");
        }
    }

    #[test]
    fn a_skill_that_asks_for_more_of_the_network_is_refused() {
        for (allowed, asked) in [
            ("none", "host"),
            ("none", "a.example:1"),
            ("a.example:1", "host"),
            ("a.example:1", "a.example:2"),
            ("a.example:1", "a.example:1 b.example:1"),
            ("*.example.com:443", "example.com:443"),
            ("*.example.com:443", "*.example.com:80"),
            ("*.eu.example.com:443", "*.example.com:443"),
            ("*.example.com:443", "*.badexample.com:443"),
            ("api.example.com:443", "*.example.com:443"),
            ("*.example.com:443", "192.0.2.1:443"),
        ] {
            let said = format!("it asks for the network `{asked}`, and `{allowed}` is allowed");
            assert_eq!(reached(allowed, asked, SANDBOX), said);
            assert_eq!(reached(allowed, asked, LocalExecutor::Host), said);
        }
    }

    #[test]
    fn who_cannot_keep_a_list_gives_what_the_user_allowed_and_no_more() {
        assert_eq!(reached("host", "a.example:1", LocalExecutor::Host), "host");
        assert_eq!(reached("host", "none", LocalExecutor::Host), "none");
    }

    /// Timeout, mebibytes and processes of a run of a skill that asks for these.
    fn given(seconds: u64, mebibytes: u64, processes: u64) -> String {
        let asked = Asked {
            network: None,
            timeout: Some(Duration::from_secs(seconds)),
            memory: Some(mebibytes * MEBIBYTE),
            processes: Some(processes),
        };
        let settings = RunSettings { asked, ..RunSettings::default() };
        match settings.granted(&SANDBOX.into()) {
            Ok(it) => format!(
                "{} of {} s, {} MiB, {} processes, network {}",
                it.default_timeout.as_secs(),
                it.max_timeout.as_secs(),
                it.limits.memory / MEBIBYTE,
                it.limits.processes,
                it.network
            ),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_skill_has_the_time_and_limits_it_asks_for_up_to_those_of_the_user() {
        insta::assert_snapshot!(given(60, 100, 10), @"60 of 3600 s, 100 MiB, 10 processes, network none");
        insta::assert_snapshot!(given(3600, 2048, 256), @"3600 of 3600 s, 2048 MiB, 256 processes, network none");
        insta::assert_snapshot!(given(3601, 1, 1), @"it asks for 3601 seconds, and at most 3600 are allowed");
        insta::assert_snapshot!(given(1, 2049, 1), @"it asks for 2049 MiB of memory, and at most 2048 are allowed");
        insta::assert_snapshot!(given(1, 1, 257), @"it asks for 257 processes, and at most 256 are allowed");
    }
}
