//! What the webhooks of a file leave out.

use super::import::Item;
use crate::program::webhooks::{MadeBy, SigningKey, Webhook};
use crate::program::{Context, store};
use kernel::ids::Ids;
use kernel::json::{Json, parse_own};
use kernel::text::Timestamp;

/// States what a webhook leaves out and does not follow from a default. Its key is the stored one, or a new one. Where the
/// file is applied, a stored key that is replaced stays valid for a while, and a new webhook is one that `apply` has made.
pub(super) fn complete(item: &mut Item, is_applied: bool, ids: &Ids, now: Timestamp) {
    let stored = item.found.as_ref().and_then(|found| {
        // One that cannot be read is replaced by what the file says.
        store::parse::<Webhook>(&found.doc, &Context::any_language(now)).ok()
    });
    let object = &mut item.object;
    match (object.get("signing_key"), &stored) {
        (None, _) => {
            let key = stored.as_ref().map_or_else(|| SigningKey::generated(ids), |stored| stored.signing_key.clone());
            object.set("signing_key", text(key.as_str()));
        }
        (Some(key), Some(stored)) if is_applied && object.get("replaced_keys").is_none() => {
            if let Some(key) = key.as_str().and_then(SigningKey::parse) {
                let mut rotated = stored.clone();
                rotated.rotate(key, now);
                let doc = store::stored(&rotated);
                let keys = parse_own(&doc).ok().and_then(|mut stored| stored.remove("replaced_keys"));
                object.set("replaced_keys", keys.map_or(Json::Null, Json::into_owned));
            }
        }
        _ => {}
    }
    if is_applied && object.get("status").is_some() && object.get("disabled_reason").is_none() {
        object.set("disabled_reason", Json::Null);
    }
    if is_applied && stored.is_none() && object.get("made_by").is_none() {
        object.set("made_by", text(MadeBy::Apply.name()));
    }
}

fn text(text: &str) -> Json<'static> {
    Json::String(text.to_owned().into())
}
