//! A signing key.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// What stands before the base64 of a key in the form that Standard Webhooks libraries take.
const PREFIX: &str = "whsec_";

/// A signing key: any bytes, at least one. Standard Webhooks asks for 24 to 64 random bytes.
#[derive(Clone)]
pub struct Key {
    bytes: Vec<u8>,
    /// The key is hashed once; every signature starts from a copy of this state.
    keyed: Hmac<Sha256>,
}

/// Why something is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// It has no bytes.
    #[error("a signing key must not be empty")]
    Empty,
    /// It is not in the form of a secret.
    #[error("a secret is `whsec_` and base64")]
    Secret,
}

impl Key {
    /// The key that has these bytes. A key that is shown as text has the bytes of that text.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, InvalidKey> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Err(InvalidKey::Empty);
        }
        let keyed = Hmac::new_from_slice(&bytes).map_err(|_| InvalidKey::Empty)?;
        Ok(Self { bytes, keyed })
    }

    /// The key in a secret: `whsec_` and the base64 of its bytes.
    pub fn from_secret(secret: &str) -> Result<Self, InvalidKey> {
        let text = secret.strip_prefix(PREFIX).ok_or(InvalidKey::Secret)?;
        Self::new(STANDARD.decode(text).map_err(|_| InvalidKey::Secret)?)
    }

    /// The secret that Standard Webhooks libraries take.
    pub fn secret(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.bytes))
    }

    /// The bytes of the key.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The HMAC-SHA256 of these parts, one after the other.
    pub(crate) fn hmac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.keyed.clone();
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

/// Takes the same time wherever two keys differ.
impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.bytes.ct_eq(&other.bytes).into()
    }
}

impl Eq for Key {}

/// Does not show the key, so that no log does.
impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key, data and HMAC-SHA256 of RFC 4231, sections 4.2 to 4.5, 4.7 and 4.8; 4.6 is of a truncated one.
    #[test]
    fn the_hmac_is_that_of_rfc_4231() {
        let counting: Vec<u8> = (1..=25).collect();
        let vectors: [(&[u8], &[u8], &str); 6] = [
            (&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (&[0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
            (&counting, &[0xcd; 50], "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
            (
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
            (
                &[0xaa; 131],
                b"This is a test using a larger than block-size key and a larger than block-size data. The key needs \
                  to be hashed before being used by the HMAC algorithm.",
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
            ),
        ];
        for (key, data, expected) in vectors {
            let key = Key::new(key).unwrap();
            assert_eq!(hex::encode(key.hmac(&[data])), expected);
            let (start, end) = data.split_at(data.len() / 2);
            assert_eq!(hex::encode(key.hmac(&[start, b"", end])), expected);
        }
    }

    #[test]
    fn a_key_is_read_from_its_secret() {
        let key = Key::new("AbCdEfGhIjKlMnOpQrStUvWx").unwrap();
        assert_eq!(key.secret(), "whsec_QWJDZEVmR2hJaktsTW5PcFFyU3RVdld4");
        assert_eq!(Key::from_secret(&key.secret()), Ok(key));
    }

    #[test]
    fn what_is_not_a_key_is_refused() {
        assert_eq!(Key::new(""), Err(InvalidKey::Empty));
        assert_eq!(Key::from_secret("whsec_"), Err(InvalidKey::Empty));
        for text in ["", "QWJj", "WHSEC_QWJj", "whsec_QWJ", "whsec_QW-_", "whsec_QWJj\n", "whpk_QWJj"] {
            assert_eq!(Key::from_secret(text), Err(InvalidKey::Secret), "{text}");
        }
    }

    #[test]
    fn a_key_is_not_shown_by_debug() {
        assert_eq!(format!("{:?}", Key::new("AbCdEfGh").unwrap()), "Key(..)");
    }
}
