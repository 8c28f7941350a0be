//! Pure rules of contributors.

use super::Contributor;
use crate::document::Object;
use crate::kind::Kind;

/// Writes a contributor as its entry shows it (specification, section 2.5).
pub fn write_shown(contributor: &Contributor, object: &mut Object<'_>) {
    object.slug("slug", contributor.slug);
    object.reference("tab", Kind::Tab, contributor.tab);
    object.answers("contributor_fields", &contributor.fields.to_json());
}
