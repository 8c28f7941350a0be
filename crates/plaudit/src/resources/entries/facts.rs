//! What the rules have to know of other records, looked up in the transaction of a write.

use crate::http::Writing;
use crate::program::Program;
use crate::records::entries::rules::answers::EntryChildren;
use crate::records::entries::rules::writing::{Facts, Identity};
use crate::records::entries::{attachments, contributors, store};
use crate::records::users;
use db::{AccountId, DbError, Tx};
use kernel::ids::Ids;
use kernel::text::Slug;

/// What has to be known where an entry of this entrant comes into this category.
pub(super) async fn facts<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    entrant: Option<Slug>,
    category: Option<Slug>,
) -> Result<Facts, DbError> {
    let (account, program) = (writing.account(), &writing.program);
    let mut facts = Facts::default();
    // Of who is not seen nothing is counted.
    let entrant = match entrant {
        Some(entrant) if writing.access.sees_all() || writing.sees_user(tx, entrant).await? => Some(entrant),
        _ => None,
    };
    if let Some(entrant) = entrant {
        facts.has_entrant = users::store::live_of(tx, account, entrant.as_str()).await?.is_some();
    }
    let Some(category) = category.and_then(|category| program.categories.live(category)) else { return Ok(facts) };
    if let (Some(entrant), Some(_)) = (entrant, category.entrant_max_entries) {
        facts.in_category = store::count_of_entrant(tx, account, entrant, category.slug).await?;
    }
    if category.divisions > 1 {
        facts.divisions = store::divisions(tx, account, category.slug).await?;
    }
    Ok(facts)
}

/// What belongs to an entry and has answers of its own.
pub(super) async fn entry_children(tx: &mut Tx, program: &Program, entry: Slug) -> Result<EntryChildren, DbError> {
    let contributors = contributors::store::of_entry(tx, program.id, entry, &program.context).await?;
    let attachments = attachments::store::of_entry(tx, program.id, entry, &program.context).await?;
    Ok(EntryChildren { contributors, attachments: attachments.into_iter().map(|(attachment, _)| attachment).collect() })
}

/// What a new entry is given: a slug that no other has, the next number, and the time.
pub(super) async fn identity<S>(tx: &mut Tx, writing: &Writing<S>) -> Result<Identity, DbError> {
    let account = writing.account();
    let slug = free_slug(tx, account, writing.ids()).await?;
    let local_id = store::next_local_id(tx, account).await?;
    Ok(Identity { slug, local_id, now: writing.origin.at })
}

async fn free_slug(tx: &mut Tx, account: AccountId, ids: &Ids) -> Result<Slug, DbError> {
    loop {
        let slug = ids.slug();
        if store::local_id_of(tx, account, slug).await?.is_none() {
            return Ok(slug);
        }
    }
}
