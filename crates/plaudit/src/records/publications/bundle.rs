//! The result bundle: what a result is made of, what it comes to, and where the change log stood, signed.
//!
//! - It is canonical JSON (RFC 8785: sorted members, no blanks, integers alone), so that the same state gives the same bytes. What is
//!   signed is the text of the member `bundle`.
//! - It has nothing of the moment or the database that it was made in: neither the time nor the slug of the publication.

use std::collections::BTreeSet;

use scoring::chain::canonical;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::inputs::Inputs;
use super::{BUNDLE_LENGTH, Head, results};
use crate::program::Program;
use crate::program::score_sets::ScoreSet;
use crate::records::assignments::Assignment;
use crate::records::standings::board::Decided;
use crate::signing::results::{ALGORITHM, ResultSigner};
use kernel::text::Slug;

/// The form of bundles that are made now. A later form has a later number.
pub(super) const FORM: i64 = 1;

/// A bundle as it is given out.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Signed {
    pub(super) bundle: Value,
    pub(super) signature: Signature,
}

/// A signature with what it is verified by.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Signature {
    pub(super) algorithm: String,
    pub(super) public_key: String,
    pub(super) value: String,
}

/// What is in a bundle.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    pub(super) account: Slug,
    pub(super) form: i64,
    pub(super) head: Head,
    pub(super) inputs: Inputs,
    pub(super) results: Value,
}

/// The canonical text of a value. The mark of slots in documents is escaped, which JSON leaves open.
pub(super) fn text(value: &Value) -> Result<String, String> {
    Ok(canonical(value).map_err(|error| error.to_string())?.replace('\u{7f}', "\\u007f"))
}

/// The signed bundle of a board: of these entries, by the sheets of the score set.
pub fn make(
    program: &Program,
    (score_set, decided): (&ScoreSet, &Decided),
    (entries, sheets): (&BTreeSet<Slug>, &[Assignment]),
    head: Head,
    signer: &ResultSigner,
) -> Result<String, String> {
    let inputs = Inputs::of(program, (score_set, decided), entries, sheets)?;
    // The result is made from what the bundle says, as whoever verifies it does.
    let results = results::of(&inputs.records()?)?;
    let content = Content { account: program.account.slug, form: FORM, head, inputs, results };
    let bundle = serde_json::to_value(content).map_err(|error| error.to_string())?;
    let value = signer.sign(&text(&bundle)?);
    let signature = Signature { algorithm: ALGORITHM.to_owned(), public_key: signer.public_key(), value };
    let made = text(&json!(Signed { bundle, signature }))?;
    if made.len() > BUNDLE_LENGTH { Err(format!("it would have {} bytes", made.len())) } else { Ok(made) }
}

/// A place of a published result.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Place {
    /// The entry.
    pub entry: Slug,
    /// Its place; nothing for none.
    pub rank: Option<i64>,
}

/// What a stored bundle tells of itself; the sheets are passed over.
#[derive(Debug)]
pub struct Told {
    /// Where the change log stood.
    pub head: Head,
    /// The score set.
    pub score_set: Slug,
    /// The entries in the order of their places.
    pub places: Vec<Place>,
    /// The entries and judges whose sheets count.
    pub counted: BTreeSet<(Slug, Slug)>,
}

/// Reads what a bundle tells of itself.
pub fn told(bundle: &str) -> Result<Told, String> {
    #[derive(Deserialize)]
    struct Known {
        bundle: Within,
        #[serde(rename = "signature")]
        _signature: IgnoredAny,
    }
    #[derive(Deserialize)]
    struct Within {
        head: Head,
        inputs: Inputs,
        results: Vec<Place>,
    }
    #[derive(Deserialize)]
    struct Inputs {
        entries: Vec<Entry>,
        score_set: Named,
    }
    #[derive(Deserialize)]
    struct Entry {
        slug: Slug,
        sheets: Vec<Sheet>,
    }
    #[derive(Deserialize)]
    struct Sheet {
        judge: Slug,
    }
    #[derive(Deserialize)]
    struct Named {
        slug: Slug,
    }
    let Known { bundle, .. } = serde_json::from_str(bundle).map_err(|error| error.to_string())?;
    let of_entry = |entry: &Entry| entry.sheets.iter().map(|sheet| (entry.slug, sheet.judge)).collect::<Vec<_>>();
    Ok(Told {
        head: bundle.head,
        score_set: bundle.inputs.score_set.slug,
        places: bundle.results,
        counted: bundle.inputs.entries.iter().flat_map(of_entry).collect(),
    })
}
