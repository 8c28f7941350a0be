//! The id of a delivery: the number of its change, the place of its event among those of the change, and the beginning of the
//! change's hash. It is drawn from nothing, so that whoever makes it again makes the same; after a restore another history has
//! other hashes, and so other ids.

use std::fmt;
use std::str::FromStr;

use super::endpoint::Key;

/// The id of a delivery, `msg_<sequence>_<place>_<mark>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId {
    /// The number of the change, from 1.
    pub sequence: i64,
    /// The place of the event among those of the change, from 0.
    pub place: u16,
    mark: Mark,
}

impl DeliveryId {
    /// That of an event of a change.
    pub fn of(sequence: i64, place: u16, hash: &[u8; 32]) -> Self {
        Self { sequence, place, mark: Mark::of(hash) }
    }

    /// Where the delivery stands among those of a webhook.
    pub fn key(&self) -> Key {
        (self.sequence, self.place)
    }

    /// That of its parts, unless the text is no mark.
    pub fn new(sequence: i64, place: u16, mark: &str) -> Option<Self> {
        Some(Self { sequence, place, mark: mark.parse().ok()? })
    }

    /// The beginning of the change's hash, as 12 lower-case hexadecimal digits.
    pub fn mark(&self) -> String {
        self.mark.to_string()
    }
}

/// The beginning of a change's hash, as 12 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Mark([u8; 6]);

impl Mark {
    fn of(hash: &[u8; 32]) -> Self {
        let [first, second, third, fourth, fifth, sixth, ..] = *hash;
        Self([first, second, third, fourth, fifth, sixth])
    }
}

/// A text that is not an id of a delivery, or not in the one form that it is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a delivery")]
pub struct InvalidId;

impl fmt::Display for Mark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}

impl FromStr for Mark {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let mut bytes = [0; 6];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| InvalidId)?;
        let mark = Self(bytes);
        if mark.to_string() == text { Ok(mark) } else { Err(InvalidId) }
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "msg_{}_{}_{}", self.sequence, self.place, self.mark)
    }
}

impl FromStr for DeliveryId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let mut parts = text.strip_prefix("msg_").ok_or(InvalidId)?.splitn(3, '_');
        let mut part = || parts.next().ok_or(InvalidId);
        let id = Self {
            sequence: part()?.parse().map_err(|_| InvalidId)?,
            place: part()?.parse().map_err(|_| InvalidId)?,
            mark: part()?.parse()?,
        };
        // Numbers can be read from more texts than they are written as.
        if id.sequence > 0 && id.to_string() == text { Ok(id) } else { Err(InvalidId) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_has_the_number_of_the_change_the_place_of_the_event_and_the_beginning_of_the_hash() {
        let mut hash = [0xcd; 32];
        hash[0] = 0x0a;
        let id = DeliveryId::of(4711, 2, &hash);
        assert_eq!(id.to_string(), "msg_4711_2_0acdcdcdcdcd");
        assert_eq!(DeliveryId::new(4711, 2, &id.mark()), Some(id));
    }

    #[test]
    fn an_id_is_read_in_its_one_form_only() {
        for wrong in [
            "",
            "msg_",
            "msg_1_0",
            "msg_1_0_",
            "msg_1_0_0acdcdcdcdc",
            "msg_1_0_0acdcdcdcdcdcd",
            "msg_1_0_0ACDCDCDCDCD",
            "msg_1_0_0acdcdcdcdcg",
            "msg_1_0_0acdcdcdcdcd_",
            "msg_0_0_0acdcdcdcdcd",
            "msg_-1_0_0acdcdcdcdcd",
            "msg_+1_0_0acdcdcdcdcd",
            "msg_01_0_0acdcdcdcdcd",
            "msg_1_00_0acdcdcdcdcd",
            "msg_1_65536_0acdcdcdcdcd",
            "msg_9223372036854775808_0_0acdcdcdcdcd",
            "MSG_1_0_0acdcdcdcdcd",
            " msg_1_0_0acdcdcdcdcd",
            "msg_1_0_0acdcdcdcdcd\n",
            "msg_test_0acdcdcdcdcd",
        ] {
            assert_eq!(wrong.parse::<DeliveryId>(), Err(InvalidId), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(sequence in 1..i64::MAX, place: u16, mark: [u8; 6]) {
            let id = DeliveryId { sequence, place, mark: Mark(mark) };
            prop_assert_eq!(id.to_string().parse(), Ok(id));
            // The id is signed beside the body, and a full stop would end it early.
            let keys = webhook_signing::Keys::from(webhook_signing::Key::new("key").unwrap());
            prop_assert!(keys.sign(&id.to_string(), b"", 0).is_ok());
        }
    }
}
