//! What is signed is accepted with the keys that are valid, in both forms, and with no other.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use webhook_signing::{Key, Keys, REPLACED_VALID_SECONDS, Refused, StandardHeaders};

const REFUSED: Result<(), Refused> = Err(Refused::Signature);

/// A delivery as it arrives.
#[derive(Clone, Debug)]
struct Delivery {
    hex: String,
    id: String,
    timestamp: String,
    signature: String,
    body: Vec<u8>,
    now_unix: i64,
}

impl Delivery {
    fn signed(keys: &Keys, id: &str, body: &[u8], now_unix: i64) -> Self {
        let [(_, hex), (_, id), (_, timestamp), (_, signature)] = keys.sign(id, body, now_unix).unwrap();
        Self { hex, id, timestamp, signature, body: body.to_vec(), now_unix }
    }

    fn standard(&self, keys: &Keys) -> Result<(), Refused> {
        let headers = StandardHeaders { id: &self.id, timestamp: &self.timestamp, signature: &self.signature };
        keys.verify_standard(headers, &self.body, self.now_unix)
    }

    fn hex(&self, keys: &Keys) -> Result<(), Refused> {
        keys.verify_hex(&self.hex, &self.body, self.now_unix)
    }
}

/// A key of letters and digits.
fn key() -> impl Strategy<Value = Key> {
    "[A-Za-z0-9]{1,128}".prop_map(|text| Key::new(text).unwrap())
}

/// Three keys that differ.
fn keys() -> impl Strategy<Value = [Key; 3]> {
    [key(), key(), key()].prop_filter("keys differ", |[one, two, three]| one != two && two != three && one != three)
}

fn message() -> impl Strategy<Value = (String, Vec<u8>, i64)> {
    ("[!-\\-/-~]{1,256}", prop::collection::vec(any::<u8>(), 0..300), 0_i64..10_000_000_000)
}

proptest! {
    #[test]
    fn what_is_signed_with_a_key_is_accepted_with_it_and_no_other(
        [key, other, _] in keys(), (id, body, now) in message(),
    ) {
        let delivery = Delivery::signed(&Keys::from(key.clone()), &id, &body, now);
        let (same, other) = (Keys::from(key), Keys::from(other));
        prop_assert_eq!((delivery.standard(&same), delivery.hex(&same)), (Ok(()), Ok(())));
        prop_assert_eq!((delivery.standard(&other), delivery.hex(&other)), (REFUSED, REFUSED));
    }

    #[test]
    fn after_a_rotation_both_keys_verify_for_a_day(
        [old, new, other] in keys(), (id, body, now) in message(), since in 0..REPLACED_VALID_SECONDS,
    ) {
        let mut sender = Keys::from(old.clone());
        sender.rotate(new.clone(), now - since);
        let (old, new, other) = (Keys::from(old), Keys::from(new), Keys::from(other));

        let delivery = Delivery::signed(&sender, &id, &body, now);
        prop_assert_eq!(
            [&old, &new, &sender, &other].map(|keys| delivery.standard(keys)),
            [Ok(()), Ok(()), Ok(()), REFUSED]
        );
        // `Signature` has room for one: that of the key in use.
        prop_assert_eq!(
            [&old, &new, &sender, &other].map(|keys| delivery.hex(keys)),
            [REFUSED, Ok(()), Ok(()), REFUSED]
        );
        // A receiver that has rotated accepts what was signed before.
        let earlier = Delivery::signed(&old, &id, &body, now);
        prop_assert_eq!((earlier.standard(&sender), earlier.hex(&sender)), (Ok(()), Ok(())));
    }

    #[test]
    fn a_day_after_a_rotation_the_new_key_alone_verifies(
        [old, new, other] in keys(), (id, body, now) in message(), more in 0_i64..1_000_000,
    ) {
        let mut sender = Keys::from(old.clone());
        sender.rotate(new.clone(), now - REPLACED_VALID_SECONDS - more);
        let (old, new, other) = (Keys::from(old), Keys::from(new), Keys::from(other));

        let delivery = Delivery::signed(&sender, &id, &body, now);
        for (keys, expected) in [(&old, REFUSED), (&new, Ok(())), (&sender, Ok(())), (&other, REFUSED)] {
            prop_assert_eq!((delivery.standard(keys), delivery.hex(keys)), (expected, expected));
        }
        let earlier = Delivery::signed(&old, &id, &body, now);
        prop_assert_eq!((earlier.standard(&sender), earlier.hex(&sender)), (REFUSED, REFUSED));
    }

    #[test]
    fn every_change_on_the_way_is_refused(
        key in key(), (id, body, now) in message(), position: prop::sample::Index, flip in 1_u8..=255,
    ) {
        let keys = Keys::from(key);
        let sent = Delivery::signed(&keys, &id, &body, now);
        let changed = |bytes: &mut Vec<u8>| {
            // A longer body is a change too, and the only one of an empty body.
            let at = position.index(bytes.len() + 1);
            if at == bytes.len() { bytes.push(flip) } else { bytes[at] ^= flip }
        };

        let mut delivery = sent.clone();
        changed(&mut delivery.body);
        prop_assert_eq!((delivery.standard(&keys), delivery.hex(&keys)), (REFUSED, REFUSED));

        let text = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            changed(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let delivery = Delivery { id: text(&sent.id), ..sent.clone() };
        prop_assert!(delivery.standard(&keys).is_err());
        let delivery = Delivery { timestamp: text(&sent.timestamp), ..sent.clone() };
        prop_assert!(delivery.standard(&keys).is_err());
        let delivery = Delivery { hex: text(&sent.hex), ..sent.clone() };
        prop_assert_eq!(delivery.hex(&keys), REFUSED);
        // A blank after a signature would only end it.
        let mut signature = sent.signature.clone().into_bytes();
        let at = position.index(signature.len());
        signature[at] ^= flip;
        let delivery = Delivery { signature: String::from_utf8_lossy(&signature).into_owned(), ..sent };
        prop_assert_eq!(delivery.standard(&keys), REFUSED);
    }

    #[test]
    fn whatever_arrives_is_refused_without_a_panic(
        key in key(), id: String, timestamp in ".*|-?[0-9]{1,20}", signature: String, body: Vec<u8>, now_unix: i64,
    ) {
        let keys = Keys::from(key);
        let delivery = Delivery { hex: signature.clone(), id, timestamp, signature, body, now_unix };
        prop_assert!(delivery.standard(&keys).is_err());
        prop_assert_eq!(delivery.hex(&keys), REFUSED);
    }
}
