//! How categories are shown (contract, section 6).

use super::Category;
use crate::program::Program;
use kernel::document::{self, Object};
use kernel::kind::Kind;
use kernel::text::Token;

/// A category as a single read shows it; `images` are the names of the files of its images.
pub fn document(category: &Category, program: &Program, images: &[(Token, String)]) -> String {
    document::object(|object| {
        write_shared(object, category, program);
        object.list("chapters", |list| {
            for chapter in &category.chapters {
                list.reference(Kind::Chapter, *chapter);
            }
        });
        object.optional_integer("entrant_max_entries", category.entrant_max_entries);
        object.translated("entry_name_label", &category.entry_name_label);
        object.flag("fill_entry_name", category.fill_entry_name);
        object.translated("image_heading", &category.image_heading);
        object.list("images", |list| {
            for token in &category.images {
                let name = images.iter().find(|(image, _)| image == token).map(|(_, name)| name.as_str());
                list.object(|object| {
                    object.text("token", token.as_str());
                    object.link("link", Kind::File, token.as_str());
                    object.text("filename", name.unwrap_or_default());
                    object.download("download", token.as_str());
                });
            }
        });
        object.optional_integer("max_image_width", category.max_image_width);
        object.translated("packing_slip_instructions", &category.packing_slip_instructions);
        object.flag("pdf_packing_slip", category.pdf_packing_slip);
    })
}

/// A category as a list shows it.
pub fn item(category: &Category, program: &Program, entry_count: u64) -> String {
    document::object(|object| {
        write_shared(object, category, program);
        object.integer("chapter_count", chapter_count(category));
        object.integer("entry_count", i64::try_from(entry_count).unwrap_or(i64::MAX));
    })
}

fn write_shared(object: &mut Object<'_>, category: &Category, program: &Program) {
    // What is gone altogether leaves no dangling reference.
    let season = program.seasons.any(category.season).map(|season| season.slug);
    object.time("created", category.created);
    object.translated("description", &category.description);
    object.integer("divisions", category.divisions);
    object.optional_reference("form", Kind::Form, category.form);
    object.translated("name", &category.name);
    object.optional_reference("parent", Kind::Category, category.parent);
    object.optional_integer("promoted", category.promoted);
    object.optional_reference("season", Kind::Season, season);
    object.translated("shortcode", &category.shortcode);
    object.slug("slug", category.slug);
    object.text("status", category.status.name());
    object.time("updated", category.updated);
}

/// How many chapters a category names.
pub(crate) fn chapter_count(category: &Category) -> i64 {
    i64::try_from(category.chapters.len()).unwrap_or(i64::MAX)
}
