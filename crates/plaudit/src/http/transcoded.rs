//! The XML of documents that were shown lately: making it anew costs several times what copying it does, and a page that
//! is asked for after a change is the same but for what was changed.
//!
//! - XML is kept under everything that it is made from: the account, the version of its program, the languages, and the
//!   document itself, which is compared. So nothing has to be told of a change.
//! - It is kept when a document is shown for the second time, so that a walk through a long list copies nothing.

use std::sync::Arc;

use super::kept::{Keeper, Seen, Weigh};
use super::render::Filling;
use crate::db::AccountId;
use crate::text::Locale;

/// The most bytes of documents and their XML that a node keeps.
const KEPT_BYTES: usize = 16 << 20;
/// The most bytes of one document and its XML that are kept.
const DOCUMENT_BYTES: usize = 64 << 10;

/// The XML of documents that a node keeps.
pub struct Transcoded {
    kept: Keeper<u64, Arc<Shown>>,
    seen: Seen,
}

impl std::fmt::Debug for Transcoded {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Transcoded").finish_non_exhaustive()
    }
}

impl Default for Transcoded {
    fn default() -> Self {
        Self { kept: Keeper::new(KEPT_BYTES, DOCUMENT_BYTES), seen: Seen::default() }
    }
}

/// So many bytes of a document choose its place among those that are kept.
const BEGINNING: usize = 64;

/// A document as it was shown.
#[derive(Debug)]
struct Shown {
    account: AccountId,
    version: i64,
    locales: Box<[Locale]>,
    document: Box<str>,
    xml: Box<[u8]>,
}

impl Weigh for Arc<Shown> {
    fn weight(&self) -> usize {
        self.document.len() + self.xml.len() + size_of::<Shown>()
    }
}

impl Shown {
    fn is_of(&self, filling: &Filling, document: &str) -> bool {
        self.account == filling.program.id
            && self.version == filling.program.version
            && *self.locales == *filling.languages.locales()
            && *self.document == *document
    }
}

impl Transcoded {
    /// Appends the XML of a document that shows the same as long as the program and the languages are the same; what is
    /// not at hand is made by `transcode`.
    pub(super) fn write(
        &self,
        out: &mut Vec<u8>,
        filling: &Filling,
        document: &str,
        transcode: impl FnOnce(&mut Vec<u8>),
    ) {
        let program = &filling.program;
        // A document begins with what tells it from others; whether it has changed since is told by all of it.
        let beginning = document.as_bytes().get(..BEGINNING).unwrap_or(document.as_bytes());
        let hash = self.seen.number((program.id.0, program.version, filling.languages.locales(), beginning));
        if let Some(shown) = self.kept.get(&hash).filter(|shown| shown.is_of(filling, document)) {
            out.extend_from_slice(&shown.xml);
            return;
        }
        let start = out.len();
        transcode(out);
        // What a broken program shows is never sent.
        if !self.seen.came_before(hash) || program.is_broken() {
            return;
        }
        let shown = Shown {
            account: program.id,
            version: program.version,
            locales: filling.languages.locales().into(),
            document: document.into(),
            xml: out[start..].into(),
        };
        self.kept.keep(hash, Arc::new(shown));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::download::DownloadSigner;
    use crate::http::language::Languages;
    use crate::program;

    fn filling() -> Filling {
        Filling {
            program: Arc::new(program::testing::program(&[])),
            languages: Languages::of_default(Locale::EnGb),
            signer: Arc::new(DownloadSigner::new(&[0; 32], 3600)),
            expires: 0,
        }
    }

    /// Shows a document, and tells whether its XML was made for it.
    fn is_made(transcoded: &Transcoded, filling: &Filling, document: &str) -> bool {
        let mut is_made = false;
        let mut out = b"<root>".to_vec();
        transcoded.write(&mut out, filling, document, |out| {
            is_made = true;
            out.extend_from_slice(document.as_bytes());
        });
        assert_eq!(out, format!("<root>{document}").as_bytes());
        is_made
    }

    #[test]
    fn xml_is_kept_from_the_second_showing_on() {
        let (transcoded, filling) = (Transcoded::default(), filling());
        let made: Vec<bool> = (0..4).map(|_| is_made(&transcoded, &filling, "{}")).collect();
        assert_eq!(made, [true, true, false, false]);
        assert!(is_made(&transcoded, &filling, "{\"a\":1}"));
    }

    #[test]
    fn xml_is_made_anew_for_another_account_version_or_language() {
        let (transcoded, known) = (Transcoded::default(), filling());
        let changed = |change: fn(&mut Filling)| {
            let mut filling = known.clone();
            change(&mut filling);
            filling
        };
        let others = [
            changed(|filling| Arc::make_mut(&mut filling.program).id = AccountId(77)),
            changed(|filling| Arc::make_mut(&mut filling.program).version += 1),
            changed(|filling| filling.languages = Languages::of_default(Locale::FrFr)),
        ];
        for _ in 0..3 {
            is_made(&transcoded, &known, "{}");
        }
        assert!(!is_made(&transcoded, &known, "{}"));
        for other in &others {
            assert!(is_made(&transcoded, other, "{}"));
        }
    }

    #[test]
    fn the_bytes_that_are_kept_are_bounded() {
        let (transcoded, filling) = (Transcoded::default(), filling());
        let large = "x".repeat(DOCUMENT_BYTES);
        assert!((0..3).all(|_| is_made(&transcoded, &filling, &large)), "a very large document is not kept");
    }
}
