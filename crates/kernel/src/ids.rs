//! Slugs, tokens and secrets. All randomness comes from here, so that a test can seed it.

use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::kind::Kind;
use crate::text::{Slug, Token};

/// A source of identifiers.
#[derive(Clone, Debug, Default)]
pub struct Ids(Option<Arc<Mutex<u64>>>);

/// The letters of a token of a file.
const TOKEN_LENGTH: usize = 24;

impl Ids {
    /// Identifiers from the system's randomness.
    pub fn random() -> Self {
        Self(None)
    }

    /// Identifiers that are the same for the same seed; for tests and synthetic data, never for secrets.
    pub fn seeded(seed: u64) -> Self {
        Self(Some(Arc::new(Mutex::new(seed))))
    }

    // The one place that may ask the system; see clippy.toml.
    #[allow(clippy::disallowed_methods)]
    fn fill(&self, bytes: &mut [u8]) {
        match &self.0 {
            None => {
                if getrandom::fill(bytes).is_err() {
                    // Without randomness every identifier would be guessable, and going on would be worse.
                    std::process::abort();
                }
            }
            Some(state) => {
                let mut state = state.lock();
                for chunk in bytes.chunks_mut(8) {
                    chunk.copy_from_slice(&split_mix(&mut state).to_le_bytes()[..chunk.len()]);
                }
            }
        }
    }

    fn letters(&self, count: usize) -> String {
        let mut letters = String::with_capacity(count);
        let mut bytes = [0; 32];
        while letters.len() < count {
            self.fill(&mut bytes);
            letters.extend(letters_of(&bytes).take(count - letters.len()).map(char::from));
        }
        letters
    }

    /// What letters name, drawn until they do.
    fn drawn<T>(&self, count: usize, named: impl Fn(&str) -> Option<T>) -> T {
        loop {
            if let Some(drawn) = named(&self.letters(count)) {
                return drawn;
            }
        }
    }

    /// A new slug.
    pub fn slug(&self) -> Slug {
        self.drawn(Slug::LENGTH, Slug::parse)
    }

    /// A new token of a file.
    pub fn token(&self) -> Token {
        self.drawn(TOKEN_LENGTH, Token::parse)
    }

    /// A secret of `count` letters.
    pub fn secret(&self, count: usize) -> String {
        self.letters(count)
    }

    /// 32 bytes of a secret.
    pub fn secret_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.fill(&mut bytes);
        bytes
    }

    /// A random UUID, version 4 of RFC 9562, in lower case.
    pub fn uuid(&self) -> String {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        formatted_uuid(bytes, 0x40)
    }
}

/// The next of the numbers that look random and follow from a state: `SplitMix64`, Steele, Lea and Flood 2014.
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The letters that bytes stand for, each of the 52 as likely as the others.
fn letters_of(bytes: &[u8]) -> impl Iterator<Item = u8> {
    const ALPHABET: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    // 208 is the largest multiple of 52 in a byte; what is above it would favour the first letters.
    bytes.iter().filter(|byte| **byte < 208).map(|byte| ALPHABET[usize::from(byte % 52)])
}

/// The slug of a record that states none and is known by a text: made from its kind and that text, so that every run
/// agrees. Another attempt gives another slug.
pub fn derived_slug(kind: Kind, text: &str, attempt: u32) -> Slug {
    let mut round = 0_u32;
    loop {
        let digest = Sha256::digest(format!("plaudit {kind} {attempt}.{round} {text}"));
        let letters: Vec<u8> = letters_of(&digest).take(Slug::LENGTH).collect();
        if let Some(slug) = letters.try_into().ok().and_then(Slug::from_letters) {
            return slug;
        }
        round += 1;
    }
}

/// The UUID of a record that states none: made from its kind and slug, so that two imports of one file agree. Version 8
/// of RFC 9562: a UUID whose bits have a meaning of our own.
pub fn derived_uuid(kind: Kind, slug: Slug) -> String {
    derived(&format!("plaudit {kind} {slug}"))
}

/// The UUID of a person whose only user states none: made from the slugs of account and user, so that two imports of one
/// file agree and no two accounts mean the same person by it.
pub fn derived_person(account: Slug, user: Slug) -> String {
    derived(&format!("plaudit person {account} {user}"))
}

fn derived(text: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(text).into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    formatted_uuid(bytes, 0x80)
}

fn formatted_uuid(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = bytes[6] & 0x0f | version;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = hex::encode(bytes);
    format!("{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_derived_slug_depends_on_kind_text_and_attempt() {
        let made = derived_slug(Kind::Role, "Judge", 0);
        assert_eq!(made, derived_slug(Kind::Role, "Judge", 0));
        assert_ne!(made, derived_slug(Kind::Role, "judge", 0));
        assert_ne!(made, derived_slug(Kind::Role, "Judge", 1));
        assert_ne!(made, derived_slug(Kind::Season, "Judge", 0));
    }

    #[test]
    fn a_derived_uuid_depends_on_kind_and_slug() {
        let slug = Slug::parse("AbCdEfGh").unwrap();
        let made = derived_uuid(Kind::User, slug);
        assert_eq!(made.len(), 36);
        assert_eq!(made, derived_uuid(Kind::User, slug));
        assert_ne!(made, derived_uuid(Kind::Account, slug));
        let other = Slug::parse("OtherAcc").unwrap();
        assert_ne!(derived_person(slug, slug), derived_person(other, slug));
        assert_eq!(derived_person(other, slug), derived_person(other, slug));
    }
}
