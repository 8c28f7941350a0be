//! Pure rules of forms.

use super::Form;
use crate::document;
use crate::kind::Kind;
use crate::program::Program;

/// The form as it is shown (contract, section 6).
#[must_use]
pub fn document(form: &Form, program: &Program) -> String {
    document::object(|object| {
        object.translated("callToAction", &form.call_to_action);
        object.text("chapter_option", form.chapter_option.name());
        match &form.content_block {
            Some(block) => object.object("content_block", |object| {
                object.slug("slug", block.slug);
                object.address("link", &format!("/content-block/{}", block.slug));
                object.translated("name", &block.name);
            }),
            None => object.null("content_block"),
        }
        object.time("created", form.created);
        object.translated("name", &form.name);
        // A season that was destroyed since leaves no dangling reference.
        let season = form.season.filter(|season| program.seasons.any(*season).is_some());
        object.optional_reference("season", Kind::Season, season);
        object.slug("slug", form.slug);
        object.text("type", form.kind.name());
        object.time("updated", form.updated);
    })
}
