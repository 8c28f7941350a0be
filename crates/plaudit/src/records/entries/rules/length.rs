//! How long an entry may be.

use crate::program::fields::Lengths;
use crate::records::entries::Entry;

/// Refuses an entry that is too long, with its two documents. `before` is what it was, with its second document: where people
/// wrote no more than that, it is not refused, so that one which is too long since the limit was lowered can be shortened and
/// goes on its way.
pub(crate) fn check_length(
    lengths: &Lengths,
    before: Option<(&Entry, &str)>,
    after: &Entry,
    [doc, detail]: [&str; 2],
) -> Result<(), String> {
    if before.is_some_and(|(before, had)| written(after, detail) <= written(before, had)) {
        return Ok(());
    }
    lengths.check_entry(doc.len() + detail.len()).map_err(|message| format!("makes the entry too long: it {message}"))
}

/// The bytes of what people write; what else an entry has is short, and changes with its status.
fn written(entry: &Entry, detail: &str) -> usize {
    let texts = [&entry.title, &entry.comments, &entry.user_comments, &entry.tags];
    texts.map(String::len).iter().sum::<usize>() + detail.len()
}
