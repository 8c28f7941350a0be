//! Passwords: hashed with Argon2id, and never kept, logged or told.
//!
//! - A password has at least 8 characters and at most 1,024 bytes, and may be any text. It is hashed as it was sent.
//! - The parameters are those that OWASP recommends: 19 MiB of memory, 2 iterations, 1 lane, and a salt of 16 random
//!   bytes. They stand in the hash, which is a PHC string, so that other ones can follow.
//! - Hashing takes milliseconds on purpose. It runs away from the threads that answer requests and before the
//!   transaction, as many at once as there are processors.

use argon2::password_hash::PasswordHasher as _;
use argon2::password_hash::PasswordVerifier as _;
use argon2::password_hash::phc;
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use kernel::ids::Ids;
use kernel::json::Json;

/// The fewest characters of a password.
const FEWEST_CHARACTERS: usize = 8;
/// The most bytes of a password.
pub(super) const MOST_BYTES: usize = 1_024;
/// The memory of a hash, in KiB.
const MEMORY: u32 = 19 * 1_024;
/// How often the memory is gone through.
const ITERATIONS: u32 = 2;
/// How many lanes there are.
const LANES: u32 = 1;
/// The most memory, in KiB, and iterations of a hash that was made elsewhere.
const FOREIGN_LIMITS: (u32, u32) = (256 * 1_024, 64);

/// A password that was given.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl std::fmt::Debug for Password {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Password")
    }
}

/// The hash of a password, as a PHC string.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("PasswordHash")
    }
}

/// Reads a password.
pub fn password(json: &Json) -> Result<Password, String> {
    match json {
        Json::String(text) if text.len() > MOST_BYTES => Err(format!("must have at most {MOST_BYTES} bytes")),
        Json::String(text) if text.chars().count() < FEWEST_CHARACTERS => {
            Err(format!("must have at least {FEWEST_CHARACTERS} characters"))
        }
        Json::String(text) => Ok(Password(text.clone().into_owned())),
        _ => Err("must be a string".to_owned()),
    }
}

/// Reads the hash of a password.
pub fn password_hash(json: &Json) -> Result<PasswordHash, String> {
    let hash = json.as_str().and_then(PasswordHash::parse);
    hash.ok_or_else(|| "must be the hash of a password, as $argon2id$v=19$m=19456,t=2,p=1$…$…".to_owned())
}

impl PasswordHash {
    /// Reads a PHC string of Argon2id whose check costs no more than is reasonable.
    pub fn parse(text: &str) -> Option<Self> {
        let hash = phc::PasswordHash::new(text).ok()?;
        let params = Params::try_from(&hash).ok()?;
        let is_whole = hash.salt.is_some() && hash.hash.is_some() && hash.to_string() == text;
        let is_cheap = params.m_cost() <= FOREIGN_LIMITS.0 && params.t_cost() <= FOREIGN_LIMITS.1;
        (hash.algorithm == Algorithm::Argon2id.ident() && is_whole && is_cheap).then(|| Self(text.to_owned()))
    }

    /// The PHC string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the hash of a password. Takes as long as hashing it.
    pub fn matches(&self, password: &str) -> bool {
        let Ok(hash) = phc::PasswordHash::new(&self.0) else { return false };
        Argon2::default().verify_password(password.as_bytes(), &hash).is_ok()
    }
}

/// Hashes passwords, not too many at once.
#[derive(Debug)]
pub struct Passwords(Semaphore);

impl Default for Passwords {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self(Semaphore::new(processors))
    }
}

impl Passwords {
    /// The hash of a password.
    pub async fn hash(&self, ids: &Ids, password: Password) -> Result<PasswordHash, String> {
        let salt: [u8; 32] = ids.secret_bytes();
        let _permit = self.0.acquire().await.map_err(|error| error.to_string())?;
        let hashed = tokio::task::spawn_blocking(move || hashed(&password, &salt[..16])).await;
        hashed.map_err(|error| error.to_string())?
    }
}

fn hashed(password: &Password, salt: &[u8]) -> Result<PasswordHash, String> {
    let params = Params::new(MEMORY, ITERATIONS, LANES, None).map_err(|error| error.to_string())?;
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash = argon.hash_password_with_salt(password.0.as_bytes(), salt).map_err(|error| error.to_string())?;
    Ok(PasswordHash(hash.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Password, String> {
        password(&Json::String(text.into()))
    }

    #[test]
    fn a_password_has_8_characters_and_at_most_1024_bytes() {
        for right in
            ["12345678", "        ", "pässwörd", &"x".repeat(1_024), &"ä".repeat(512), "\0\u{7f}\u{1f600}abcde"]
        {
            assert!(read(right).is_ok(), "{right}");
        }
        for wrong in ["", "1234567", "äöüäöüä", &"x".repeat(1_025), &"ä".repeat(513)] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(password(&Json::Null).is_err());
        assert_eq!(format!("{:?}", read("12345678")), "Ok(Password)");
    }

    #[tokio::test]
    async fn a_hash_is_a_phc_string_of_argon2id_with_a_salt_of_its_own() {
        let (passwords, ids) = (Passwords::default(), Ids::seeded(1));
        let first = passwords.hash(&ids, read("correct horse").unwrap()).await.unwrap();
        let second = passwords.hash(&ids, read("correct horse").unwrap()).await.unwrap();
        assert!(first.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", first.as_str());
        assert_ne!(first, second);
        assert!(first.matches("correct horse") && second.matches("correct horse") && !first.matches("correct hors"));
        assert_eq!(PasswordHash::parse(first.as_str()), Some(first.clone()));
        assert_eq!(format!("{first:?}"), "PasswordHash");
    }

    #[test]
    fn what_is_no_hash_of_argon2id_is_refused() {
        let salted = "c2FsdHNhbHRzYWx0$RdescudvJCsgt3ub+b+dWRWJTmaaJObG";
        assert!(PasswordHash::parse(&format!("$argon2id$v=19$m=19456,t=2,p=1${salted}")).is_some());
        for wrong in [
            "",
            "password",
            &format!("$argon2i$v=19$m=19456,t=2,p=1${salted}"),
            &format!("$argon2id$v=19$m=99999999,t=2,p=1${salted}"),
            &format!("$argon2id$v=19$m=19456,t=9999,p=1${salted}"),
            &format!("$argon2id$v=19$m=19456,t=2,p=1${salted} "),
            "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0",
            "$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW",
        ] {
            assert_eq!(PasswordHash::parse(wrong), None, "{wrong}");
        }
    }
}
