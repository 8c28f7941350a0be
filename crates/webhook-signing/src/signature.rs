//! The headers of a delivery: how they are signed and verified.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq as _;

use crate::{Key, Keys};

/// The header that has the signature of the body: HMAC-SHA256 in lower-case hex.
pub const SIGNATURE: &str = "Signature";
/// The header that names the delivery; the same at every attempt, so that a receiver knows what it has seen.
pub const WEBHOOK_ID: &str = "webhook-id";
/// The header that says when the attempt was signed, in seconds since 1970 began.
pub const WEBHOOK_TIMESTAMP: &str = "webhook-timestamp";
/// The header that has the signatures of id, time and body: `v1,` and base64, one for each valid key, separated by blanks.
pub const WEBHOOK_SIGNATURE: &str = "webhook-signature";

/// How far the clocks of sender and receiver, with the time on the way, may lie apart: 5 minutes.
pub const TOLERANCE_SECONDS: i64 = 5 * 60;

/// The most characters of an id.
const MAX_ID: usize = 256;

/// The headers of Standard Webhooks as they arrived.
#[derive(Clone, Copy, Debug)]
pub struct StandardHeaders<'a> {
    /// [`WEBHOOK_ID`]
    pub id: &'a str,
    /// [`WEBHOOK_TIMESTAMP`]
    pub timestamp: &'a str,
    /// [`WEBHOOK_SIGNATURE`]
    pub signature: &'a str,
}

/// An id with a full stop would let one signature stand for two different deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id has 1 to {MAX_ID} visible ASCII characters, and no full stop")]
pub struct InvalidId;

/// Why a delivery is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The id is invalid.
    #[error("{WEBHOOK_ID}: {0}")]
    Id(#[from] InvalidId),
    /// The time is not a number.
    #[error("{WEBHOOK_TIMESTAMP} is not a whole number of seconds")]
    Timestamp,
    /// Somebody may be repeating an old delivery.
    #[error("the delivery was signed more than {TOLERANCE_SECONDS} seconds ago")]
    TooOld,
    /// The clocks differ by too much.
    #[error("the delivery was signed more than {TOLERANCE_SECONDS} seconds from now")]
    TooNew,
    /// It was signed with another key, or changed on its way.
    #[error("the signature is not that of a valid key")]
    Signature,
}

impl Keys {
    /// The headers of an attempt that is made now, names and values. Every attempt is signed for itself, with the same id.
    ///
    /// [`SIGNATURE`] is made with the key in use; [`WEBHOOK_SIGNATURE`] has one signature for each valid key.
    pub fn sign(&self, id: &str, body: &[u8], now_unix: i64) -> Result<[(&'static str, String); 4], InvalidId> {
        check_id(id)?;
        let timestamp = now_unix.to_string();
        let signatures: Vec<String> =
            self.valid(now_unix).map(|key| standard_signature(key, id, &timestamp, body)).collect();
        Ok([
            (SIGNATURE, hex_signature(&self.current, body)),
            (WEBHOOK_ID, id.to_owned()),
            (WEBHOOK_TIMESTAMP, timestamp),
            (WEBHOOK_SIGNATURE, signatures.join(" ")),
        ])
    }

    /// Whether the header [`SIGNATURE`] is that of this body under a valid key. It says nothing of when that was signed, so
    /// a delivery that somebody repeats is accepted again.
    pub fn verify_hex(&self, signature: &str, body: &[u8], now_unix: i64) -> Result<(), Refused> {
        let good = self.valid(now_unix).any(|key| is_equal(&hex_signature(key, body), signature));
        if good { Ok(()) } else { Err(Refused::Signature) }
    }

    /// Whether the headers of Standard Webhooks are those of this body under a valid key, signed about now.
    pub fn verify_standard(&self, headers: StandardHeaders<'_>, body: &[u8], now_unix: i64) -> Result<(), Refused> {
        let StandardHeaders { id, timestamp, signature } = headers;
        check_id(id)?;
        let signed_unix: i64 = timestamp.parse().map_err(|_| Refused::Timestamp)?;
        if signed_unix < now_unix.saturating_sub(TOLERANCE_SECONDS) {
            return Err(Refused::TooOld);
        }
        if signed_unix > now_unix.saturating_add(TOLERANCE_SECONDS) {
            return Err(Refused::TooNew);
        }
        let good = self.valid(now_unix).any(|key| {
            let expected = standard_signature(key, id, timestamp, body);
            signature.split(' ').any(|given| is_equal(&expected, given))
        });
        if good { Ok(()) } else { Err(Refused::Signature) }
    }
}

fn check_id(id: &str) -> Result<(), InvalidId> {
    let good = (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'.');
    if good { Ok(()) } else { Err(InvalidId) }
}

fn hex_signature(key: &Key, body: &[u8]) -> String {
    hex::encode(key.hmac(&[body]))
}

fn standard_signature(key: &Key, id: &str, timestamp: &str, body: &[u8]) -> String {
    let hmac = key.hmac(&[id.as_bytes(), b".", timestamp.as_bytes(), b".", body]);
    format!("v1,{}", STANDARD.encode(hmac))
}

/// Takes the same time wherever the two differ, so that no signature can be guessed piece by piece.
fn is_equal(expected: &str, given: &str) -> bool {
    expected.as_bytes().ct_eq(given.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_614_265_330;
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNED: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    /// The key, and the delivery above, that the libraries of Standard Webhooks are tested with.
    fn keys() -> Keys {
        Keys::from(Key::from_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap())
    }

    fn verify(id: &str, timestamp: &str, signature: &str) -> Result<(), Refused> {
        keys().verify_standard(StandardHeaders { id, timestamp, signature }, BODY, NOW)
    }

    #[test]
    fn the_published_example_is_signed_and_verified() {
        let [_, id, timestamp, signature] = keys().sign(ID, BODY, NOW).unwrap();
        assert_eq!(id, ("webhook-id", ID.to_owned()));
        assert_eq!(timestamp, ("webhook-timestamp", "1614265330".to_owned()));
        assert_eq!(signature, ("webhook-signature", SIGNED.to_owned()));
        assert_eq!(verify(ID, "1614265330", SIGNED), Ok(()));
    }

    #[test]
    fn the_hex_form_is_the_hmac_of_the_body() {
        let keys = Keys::from(Key::new("Jefe").unwrap());
        let body = b"what do ya want for nothing?";
        let [signature, ..] = keys.sign("id", body, NOW).unwrap();
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signature, ("Signature", expected.to_owned()));
        assert_eq!(keys.verify_hex(expected, body, NOW), Ok(()));
        for wrong in ["", &expected[..63], &expected.to_uppercase(), &format!("{expected}0"), &format!(" {expected}")] {
            assert_eq!(keys.verify_hex(wrong, body, NOW), Err(Refused::Signature), "{wrong}");
        }
    }

    #[test]
    fn one_good_signature_of_several_is_enough() {
        for several in [format!("v1,AAAA {SIGNED}"), format!("v1a,AAAA  {SIGNED} v2,x")] {
            assert_eq!(verify(ID, "1614265330", &several), Ok(()), "{several}");
        }
        let bare = &SIGNED[3..];
        for wrong in ["", " ", "v1,", bare, &format!("v1a,{bare}"), &format!("{SIGNED},"), &SIGNED.replace('=', "")] {
            assert_eq!(verify(ID, "1614265330", wrong), Err(Refused::Signature), "{wrong}");
        }
    }

    #[test]
    fn a_delivery_is_good_for_five_minutes_in_both_directions() {
        let signed_at = |time: i64| {
            let [_, (_, id), (_, timestamp), (_, signature)] = keys().sign(ID, BODY, time).unwrap();
            verify(&id, &timestamp, &signature)
        };
        assert_eq!(signed_at(NOW - 300), Ok(()));
        assert_eq!(signed_at(NOW + 300), Ok(()));
        assert_eq!(signed_at(NOW - 301), Err(Refused::TooOld));
        assert_eq!(signed_at(NOW + 301), Err(Refused::TooNew));
    }

    #[test]
    fn a_time_that_is_not_a_number_is_refused() {
        for wrong in ["", "now", "1614265330.0", " 1614265330", "99999999999999999999"] {
            assert_eq!(verify(ID, wrong, SIGNED), Err(Refused::Timestamp), "{wrong}");
        }
        // The same number as another text is not what was signed.
        assert_eq!(verify(ID, "+1614265330", SIGNED), Err(Refused::Signature));
    }

    #[test]
    fn an_id_that_could_be_read_in_two_ways_is_refused() {
        for wrong in ["", "a.1", "a b", "é", "a\n", &"a".repeat(257)] {
            assert_eq!(keys().sign(wrong, BODY, NOW), Err(InvalidId), "{wrong}");
            assert_eq!(verify(wrong, "1614265330", SIGNED), Err(Refused::Id(InvalidId)), "{wrong}");
        }
    }
}
