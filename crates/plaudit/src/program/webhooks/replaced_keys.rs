//! The keys that were replaced and are still valid.

use super::SigningKey;
use crate::program::{Context, Member, MemberValue as _, Shape, Texts};
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::text::Timestamp;
use webhook_signing::{MAX_REPLACED, Replaced};

/// A replaced key in a program file.
pub(super) const REPLACED_KEY: Shape = Shape::Object(&[
    Member::required("key", SigningKey::SHAPE, "The key."),
    Member::required("until", Shape::Time, "When it ends."),
]);

/// A key that is no longer in use and still valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedKey {
    /// The key.
    pub key: SigningKey,
    /// When it ends.
    pub until: Timestamp,
}

impl ReplacedKey {
    pub(super) fn of(replaced: Replaced) -> Self {
        Self { key: SigningKey::of(replaced.key), until: Timestamp::from_seconds(replaced.until_unix) }
    }

    pub(super) fn as_replaced(&self) -> Replaced {
        Replaced { key: self.key.key().clone(), until_unix: self.until.as_seconds() }
    }
}

pub(super) fn read(members: &mut Members<'_>, _: &Context) -> Option<Vec<ReplacedKey>> {
    let read = members.objects("replaced_keys", MAX_REPLACED, |members| {
        let key = members.required("key", SigningKey::from_json);
        let until = members.required("until", input::time);
        Some(ReplacedKey { key: key?, until: until? })
    });
    Some(read?.into_iter().flatten().collect())
}

pub(super) fn write(replaced: &[ReplacedKey], object: &mut Object<'_>, _: Texts) {
    object.list("replaced_keys", |list| {
        for ReplacedKey { key, until } in replaced {
            list.object(|object| {
                object.text("key", key.as_str());
                object.time("until", *until);
            });
        }
    });
}
