//! Strict base64 as it arrives: the standard alphabet, padding at the end, no blanks and no loose bits (RFC 4648).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The text is not base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotBase64;

/// Decodes a text that comes piece by piece.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// What waits: the last four characters may be padded, so that they wait for the end.
    waiting: Vec<u8>,
}

impl Decoder {
    /// Takes the next characters and adds what they stand for to `out`.
    pub(super) fn take(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), NotBase64> {
        self.waiting.extend_from_slice(text);
        let ready = self.waiting.len().saturating_sub(1) / 4 * 4;
        let (now, _) = self.waiting.split_at(ready);
        if memchr::memchr(b'=', now).is_some() {
            return Err(NotBase64);
        }
        STANDARD.decode_vec(now, out).map_err(|_| NotBase64)?;
        self.waiting.drain(..ready);
        Ok(())
    }

    /// Takes the end of the text.
    pub(super) fn finish(&self, out: &mut Vec<u8>) -> Result<(), NotBase64> {
        STANDARD.decode_vec(&self.waiting, out).map_err(|_| NotBase64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(text: &str, piece: usize) -> Result<Vec<u8>, NotBase64> {
        let (mut decoder, mut out) = (Decoder::default(), Vec::new());
        for piece in text.as_bytes().chunks(piece) {
            decoder.take(piece, &mut out)?;
        }
        decoder.finish(&mut out)?;
        Ok(out)
    }

    #[test]
    fn only_the_one_text_of_some_bytes_is_base64() {
        for (text, bytes) in [("", ""), ("QQ==", "A"), ("QUI=", "AB"), ("QUJD", "ABC"), ("QUJDRA==", "ABCD")] {
            for piece in 1..9 {
                assert_eq!(decoded(text, piece).as_deref(), Ok(bytes.as_bytes()), "{text} by {piece}");
            }
        }
        for wrong in ["Q", "QQ", "QQ=", "QR==", "QQ==QQ==", "QQ= =", "QUI=QUJD", "====", "QQ===", "Q-_A", "=QUJ"] {
            for piece in 1..9 {
                assert_eq!(decoded(wrong, piece), Err(NotBase64), "{wrong} by {piece}");
            }
        }
    }

    proptest! {
        #[test]
        fn pieces_are_decoded_as_the_whole_is(text in "[A-Da-d/+=]{0,40}", piece in 1_usize..20) {
            prop_assert_eq!(decoded(&text, piece).ok(), STANDARD.decode(&text).ok());
        }
    }
}
