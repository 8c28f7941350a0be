//! Signatures of published results: Ed25519 (RFC 8032), with a key of the deployment.
//!
//! Keys and signatures are written in hexadecimal digits, those of a public key being 64 and those of a signature 128.

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

/// The name of the algorithm, as bundles have it.
pub const ALGORITHM: &str = "Ed25519";

/// Signs results.
#[derive(Debug)]
pub struct ResultSigner(Ed25519KeyPair);

impl ResultSigner {
    /// A signer whose private key is this secret; nothing where the library refuses it, which it does of no 32 bytes.
    pub fn new(secret: &[u8; 32]) -> Option<Self> {
        Ed25519KeyPair::from_seed_unchecked(secret).ok().map(Self)
    }

    /// The public key.
    pub fn public_key(&self) -> String {
        hex::encode(self.0.public_key())
    }

    /// The signature of a text.
    pub fn sign(&self, text: &str) -> String {
        hex::encode(self.0.sign(text.as_bytes()))
    }
}

/// Whether a signature is that of a text by the owner of a public key.
pub fn is_signed(public_key: &str, text: &str, signature: &str) -> bool {
    let (Ok(key), Ok(signature)) = (hex::decode(public_key), hex::decode(signature)) else { return false };
    UnparsedPublicKey::new(&ED25519, key).verify(text.as_bytes(), &signature).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, section 7.1, test 2.
    #[test]
    fn a_signature_is_that_of_rfc_8032() {
        let secret = hex::decode("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb").unwrap();
        let signer = ResultSigner::new(&secret.try_into().unwrap()).unwrap();
        let public_key = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
        let signature = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
                         085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
        assert_eq!(signer.public_key(), public_key);
        assert_eq!(signer.sign("r"), signature);
        assert!(is_signed(public_key, "r", signature));
        assert!(!is_signed(public_key, "s", signature));
        assert!(!is_signed(&signature[..64], "r", signature));
    }
}
