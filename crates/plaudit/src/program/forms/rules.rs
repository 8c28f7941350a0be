//! Pure rules of forms.

use super::Form;
use crate::program::Program;
use kernel::document;
use kernel::kind::Kind;

/// The form as it is shown (contract, section 6).
pub fn document(form: &Form, program: &Program) -> String {
    document::object(|object| {
        object.translated("callToAction", &form.call_to_action);
        object.text("chapter_option", form.chapter_option.name());
        // What is no more, or in the trash, is not referred to.
        let block = form.content_block.filter(|block| program.content_blocks.live(*block).is_some());
        object.optional_reference("content_block", Kind::ContentBlock, block);
        object.time("created", form.created);
        object.translated("name", &form.name);
        let season = form.season.filter(|season| program.seasons.any(*season).is_some());
        object.optional_reference("season", Kind::Season, season);
        object.slug("slug", form.slug);
        object.text("type", form.kind.name());
        object.time("updated", form.updated);
    })
}
