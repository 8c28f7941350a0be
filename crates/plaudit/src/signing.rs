//! What the service signs: published results ([`results`]), and addresses that are good for a time.
//!
//! The address of a file is `/download/{account slug}/{token}?expires={seconds}&signature={signature}`. The signature is the
//! HMAC-SHA256 of everything before `&signature=`, in base64url without padding. Slugs and tokens are letters, so the
//! signed text can be read in one way only.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

pub mod results;

/// The length of a signature in an address: 32 bytes in base64.
const SIGNATURE: usize = 43;

/// Signs and verifies download addresses. The key is hashed once; every address starts from a copy of that state.
#[derive(Clone)]
pub struct DownloadSigner {
    keyed: Hmac<Sha256>,
}

impl std::fmt::Debug for DownloadSigner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("DownloadSigner").finish_non_exhaustive()
    }
}

/// Why an address is refused; both are answered 403.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It was good once.
    #[error("the download address has expired")]
    Expired,
    /// It was not made here.
    #[error("the download address is not valid")]
    Tampered,
}

/// When an address made now ends that is good for at least so many seconds: at a whole minute, so that answers made within
/// one minute are the same.
pub fn expiry(now_unix: i64, lifetime_seconds: u32) -> i64 {
    let end = now_unix.saturating_add(i64::from(lifetime_seconds));
    end.saturating_add((60 - end.rem_euclid(60)) % 60)
}

impl DownloadSigner {
    /// A signer with this secret.
    pub fn new(secret: &[u8; 32]) -> Self {
        // HMAC fills a shorter key with zeros itself; a whole block cannot be refused.
        let mut block = [0; 64];
        block[..secret.len()].copy_from_slice(secret);
        Self { keyed: Hmac::new(&block.into()) }
    }

    /// Appends the address of a file, from its first slash on. Account and token must be letters.
    pub fn write_address(&self, out: &mut Vec<u8>, account: &str, token: &str, expires_unix: i64) {
        debug_assert!(account.bytes().chain(token.bytes()).all(|byte| byte.is_ascii_alphabetic()));
        let start = out.len();
        for part in ["/download/", account, "/", token, "?expires=", itoa::Buffer::new().format(expires_unix)] {
            out.extend_from_slice(part.as_bytes());
        }
        let signature = self.keyed.clone().chain_update(&out[start..]).finalize().into_bytes();
        let mut text = [0; SIGNATURE];
        let written = URL_SAFE_NO_PAD.encode_slice(signature, &mut text);
        debug_assert_eq!(written.ok(), Some(SIGNATURE));
        out.extend_from_slice(b"&signature=");
        out.extend_from_slice(&text);
    }

    /// Whether the parts of an address are as they were made, and still good.
    pub fn verify(
        &self,
        account: &str,
        token: &str,
        expires: &str,
        signature: &str,
        now_unix: i64,
    ) -> Result<(), Refused> {
        let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        let expires_unix: i64 = expires.parse().map_err(|_| Refused::Tampered)?;
        let signed = format!("/download/{account}/{token}?expires={expires_unix}");
        let is_plain = is_name(account) && is_name(token) && expires_unix.to_string() == expires;
        if !is_plain || !self.is_signature_of(&signed, signature) {
            return Err(Refused::Tampered);
        }
        if now_unix < expires_unix { Ok(()) } else { Err(Refused::Expired) }
    }

    /// The signature of an address that is no download. What is signed is the address up to `&signature=`, so that its
    /// path tells what it is good for.
    pub fn signature_of(&self, signed: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.keyed.clone().chain_update(signed).finalize().into_bytes())
    }

    /// Whether this is the signature of an address; takes the same time wherever the two differ.
    pub fn is_signature_of(&self, signed: &str, signature: &str) -> bool {
        let mut given = [0; 32];
        let is_whole = matches!(URL_SAFE_NO_PAD.decode_slice(signature, &mut given), Ok(32));
        // `verify_slice` takes the same time wherever the two differ.
        self.keyed.clone().chain_update(signed).verify_slice(&given).is_ok() && is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: [u8; 32] = [7; 32];

    fn signer() -> DownloadSigner {
        DownloadSigner::new(&SECRET)
    }

    /// Account, token, expiry and signature of an address.
    fn parts(address: &str) -> [String; 4] {
        let (path, query) = address.strip_prefix("/download/").unwrap().split_once('?').unwrap();
        let (account, token) = path.split_once('/').unwrap();
        let (expires, signature) = query.strip_prefix("expires=").unwrap().split_once("&signature=").unwrap();
        [account, token, expires, signature].map(str::to_owned)
    }

    #[test]
    fn an_address_is_good_until_it_ends() {
        let mut out = b"https://x".to_vec();
        signer().write_address(&mut out, "AbCdEfGh", "TokenAbc", 1_800_000_000);
        let address = String::from_utf8(out.split_off(9)).unwrap();
        let [account, token, expires, signature] = parts(&address);
        assert_eq!([account.as_str(), &token, &expires], ["AbCdEfGh", "TokenAbc", "1800000000"]);
        assert_eq!(signature, signer().signature_of("/download/AbCdEfGh/TokenAbc?expires=1800000000"));
        let verify = |now| signer().verify(&account, &token, &expires, &signature, now);
        assert_eq!(verify(1_799_999_999), Ok(()));
        assert_eq!(verify(1_800_000_000), Err(Refused::Expired));
        let other = DownloadSigner::new(&[8; 32]);
        assert_eq!(other.verify(&account, &token, &expires, &signature, 0), Err(Refused::Tampered));
    }

    #[test]
    fn the_signature_is_plain_hmac() {
        let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&SECRET).unwrap();
        mac.update(b"/download/A/B?expires=60");
        assert_eq!(
            signer().signature_of("/download/A/B?expires=60"),
            URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
        );
    }

    #[test]
    fn any_change_is_tampering() {
        let good = [
            "AbCdEfGh",
            "TokenAbc",
            "1800000000",
            &signer().signature_of("/download/AbCdEfGh/TokenAbc?expires=1800000000"),
        ];
        let verify = |parts: [&str; 4]| signer().verify(parts[0], parts[1], parts[2], parts[3], 0);
        assert_eq!(verify(good), Ok(()));
        for position in 0..4 {
            for at in 0..good[position].len() {
                let mut changed = good[position].as_bytes().to_vec();
                changed[at] = if changed[at] == b'1' { b'2' } else { b'1' };
                let changed = String::from_utf8(changed).unwrap();
                let mut parts = good;
                parts[position] = &changed;
                assert_eq!(verify(parts), Err(Refused::Tampered), "{parts:?}");
            }
            for wrong in ["", "+1800000000", "01800000000", "../x", "é", "a?b"] {
                let mut parts = good;
                parts[position] = wrong;
                assert_eq!(verify(parts), Err(Refused::Tampered), "{parts:?}");
            }
        }
        assert_eq!(verify(["TokenAbc", "AbCdEfGh", good[2], good[3]]), Err(Refused::Tampered));
    }

    #[test]
    fn an_address_ends_at_a_whole_minute() {
        assert_eq!(expiry(0, 900), 900);
        assert_eq!(expiry(1, 900), 960);
        assert_eq!(expiry(60, 900), 960);
        assert_eq!(expiry(61, 900), 1020);
    }
}
