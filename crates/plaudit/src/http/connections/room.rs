//! How many connections there is room for.

use crate::config::{self, Config};
use crate::streams;

/// The descriptors that are kept for listening, logs and the database, whose readers have a few for each thread.
const RESERVED: usize = 128;
/// The most connections unless the operator sets it.
const MAX_CONNECTIONS: usize = 10_000;
/// What a connection may take of memory that no budget counts, and the part of the memory that connections may take of it in
/// all unless the operator sets how many there are.
const BYTES: usize = 256 << 10;
const MEMORY_SHARE: usize = 8;
/// The part of the connections that an address may have unless the operator sets it.
const SHARE: usize = 8;
/// The part of the descriptors that connections to others have unless the operator sets how many there are, and how many these are
/// at least and at most.
const OUTGOING_SHARE: usize = 16;
const OUTGOING: (usize, usize) = (16, 1024);

/// How many connections there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// In all.
    pub all: usize,
    /// Of one address.
    pub of_address: usize,
}

impl Room {
    /// What the settings ask for, as far as a process with so many descriptors has them: one of a connection, and one of
    /// the file that its request reads or writes. `memory` is what the process may use, in bytes, where that is known.
    pub fn new(config: &Config, descriptors: Option<usize>, memory: Option<usize>) -> Self {
        let server = &config.server;
        let fitting = memory.map_or(MAX_CONNECTIONS, |memory| memory / MEMORY_SHARE / BYTES);
        let wanted =
            if server.max_connections == 0 { MAX_CONNECTIONS.min(fitting).max(1) } else { server.max_connections };
        let outgoing = outgoing(config, descriptors);
        let possible = descriptors.map_or(wanted, |descriptors| {
            descriptors.saturating_sub(RESERVED + config.database.pool_size + outgoing).div_ceil(2).max(1)
        });
        let all = wanted.min(possible);
        if server.max_connections > all {
            tracing::warn!(
                descriptors,
                "server.max_connections is {wanted}, but the limit of descriptors leaves room for {all} connections: raise \
                 it (`ulimit -n`, or LimitNOFILE= of systemd)"
            );
        }
        let share = server.max_connections_per_address;
        let of_address = if share == 0 { all.div_ceil(SHARE) } else { share.min(all) };
        Self { all, of_address }
    }

    /// How many streams may be open: what the settings ask for, as far as other requests keep half of the connections and
    /// other keys most of them.
    pub fn streams(self, limits: &config::Limits) -> streams::Limits {
        let part = |wanted: usize, share: usize| wanted.min(self.all / share).max(1);
        streams::Limits { node: part(limits.streams, 2), key: part(limits.streams_per_key, SHARE) }
    }
}

/// How many connections to others there may be, in a process with so many descriptors.
pub fn outgoing(config: &Config, descriptors: Option<usize>) -> usize {
    let (least, most) = OUTGOING;
    match config.webhooks.connections {
        0 => descriptors.map_or(most, |descriptors| (descriptors / OUTGOING_SHARE).clamp(least, most)),
        connections => connections,
    }
}

/// Raises the limit of descriptors as far as the system lets the process, and gives it; nothing where there is none.
pub fn raise_descriptors() -> Option<usize> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::warn!(%error, "the limit of descriptors cannot be raised");
        }
        getrlimit(Resource::Nofile).current.and_then(|current| usize::try_from(current).ok())
    }
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfigArgs;

    fn config(variables: &[(&str, &str)]) -> Config {
        let variables = variables.iter().map(|(name, value)| (format!("PLAUDIT_{name}"), (*value).to_owned()));
        Config::load(&ConfigArgs::default(), variables, std::path::Path::new("/nonexistent")).unwrap()
    }

    #[test]
    fn the_room_is_what_the_descriptors_leave() {
        for (connections, of_address, descriptors, room) in [
            ("0", "0", None, (2_048, 256)),
            ("0", "0", Some(1_048_576), (2_048, 256)),
            ("0", "0", Some(1_024), (416, 52)),
            ("0", "0", Some(100), (1, 1)),
            ("0", "300", Some(1_024), (416, 300)),
            ("0", "500", Some(1_024), (416, 416)),
            ("10000", "0", Some(1_024), (416, 52)),
            ("50000", "0", Some(1_048_576), (50_000, 6_250)),
            ("4", "0", None, (4, 1)),
        ] {
            let config =
                config(&[("SERVER_MAX_CONNECTIONS", connections), ("SERVER_MAX_CONNECTIONS_PER_ADDRESS", of_address)]);
            let (all, of_address) = room;
            assert_eq!(Room::new(&config, descriptors, Some(4 << 30)), Room { all, of_address });
        }
    }

    #[test]
    fn the_default_fits_the_memory() {
        let all = |memory| Room::new(&config(&[]), None, memory).all;
        assert_eq!([None, Some(64 << 30), Some(512 << 20), Some(0)].map(all), [10_000, 10_000, 256, 1]);
    }

    #[test]
    fn streams_leave_half_of_the_connections_to_other_requests_and_most_to_other_keys() {
        for (all, streams, of_key, limits) in [
            (10_000, "5000", "1000", (5_000, 1_000)),
            (448, "5000", "1000", (224, 56)),
            (448, "100", "10", (100, 10)),
            (1, "5000", "1000", (1, 1)),
        ] {
            let config = config(&[("LIMITS_STREAMS", streams), ("LIMITS_STREAMS_PER_KEY", of_key)]);
            let found = Room { all, of_address: 1 }.streams(&config.limits);
            assert_eq!((found.node, found.key), limits);
        }
    }
}
