//! The bodies of a create and of an update (contract, section 6).

use super::{CHAPTERS, COUNT};
use crate::program::Context;
use crate::program::chapters::{IMAGE_WIDTH, Status};
use crate::program::{DESCRIPTION_LENGTH, NAME_LENGTH};
use kernel::input::{self, Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::text::{Slug, Translated};

/// What a body says: what is `None` was left out, or is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
// What is stated to be null is not what is left out.
#[allow(clippy::option_option)]
pub struct Body {
    pub(super) season: Option<Slug>,
    pub(super) status: Option<Status>,
    pub(super) texts: Texts,
    pub(super) chapters: Option<Vec<Slug>>,
    pub(super) divisions: Option<i64>,
    pub(super) entrant_max_entries: Option<Option<i64>>,
    pub(super) fill_entry_name: Option<bool>,
    pub(super) max_image_width: Option<Option<i64>>,
    pub(super) form: Option<Slug>,
    pub(super) parent: Option<Option<Slug>>,
    pub(super) promoted: Option<bool>,
    pub(super) pdf_packing_slip: Option<bool>,
    pub(super) locked: Option<bool>,
}

/// The texts of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Texts {
    pub(super) name: Option<Translated>,
    pub(super) description: Option<Translated>,
    pub(super) entry_name_label: Option<Translated>,
    pub(super) image_heading: Option<Translated>,
    pub(super) packing_slip_instructions: Option<Translated>,
    pub(super) shortcode: Option<Translated>,
}

/// Reads the body of a create; what is wrong with it is told together with what [`super::create`] finds.
#[must_use]
pub fn read_create(body: &JsonObject, context: &Context) -> (Body, Violations) {
    let mut members = Members::closed(body);
    let season = members.required("season", input::slug);
    let status = members.required("status", input::one_of(Status::CHOICES));
    if !members.has("translated") {
        members.fault("translated", "is required");
    }
    let texts = members.object("translated", |members| {
        let name = members.required("name", context.name(true));
        Texts { name, ..read_texts(members, context) }
    });
    let form = members.optional("form", input::slug);
    let promoted = members.nullable("promoted", input::integer(0..=1)).flatten().map(|promoted| promoted == 1);
    let body = read_shared(&mut members, texts.unwrap_or_default());
    let instructions = body.texts.packing_slip_instructions.as_ref();
    let has_instructions = instructions.is_some_and(|map| map.iter().any(|(_, text)| !text.trim().is_empty()));
    if has_instructions && !members.has("pdf_packing_slip") {
        members.fault("pdf_packing_slip", "is required with packing_slip_instructions");
    }
    (Body { season, status, form, promoted, ..body }, members.finish())
}

/// Reads the body of an update; what is wrong with it is told together with what [`super::update`] finds.
#[must_use]
pub fn read_update(body: &JsonObject, context: &Context) -> (Body, Violations) {
    let mut members = Members::closed(body);
    let status = members.optional("status", input::one_of(Status::CHOICES));
    let texts = members.object("translated", |members| {
        let name = members.optional("name", context.name(false));
        Texts { name, ..read_texts(members, context) }
    });
    let locked = members.optional("locked", input::flag);
    let body = read_shared(&mut members, texts.unwrap_or_default());
    (Body { status, locked, ..body }, members.finish())
}

/// The texts that both bodies have beside the name.
fn read_texts(members: &mut Members<'_>, context: &Context) -> Texts {
    let short = || input::translated(&context.languages, NAME_LENGTH);
    let long = || input::translated(&context.languages, DESCRIPTION_LENGTH);
    Texts {
        name: None,
        description: members.optional("description", long()),
        entry_name_label: members.optional("entry_name_label", short()),
        image_heading: members.optional("image_heading", short()),
        packing_slip_instructions: members.optional("packing_slip_instructions", long()),
        shortcode: members.optional("shortcode", short()),
    }
}

/// The other members that both bodies have.
fn read_shared(members: &mut Members<'_>, texts: Texts) -> Body {
    let chapters = members.optional("chapters", input::slugs(CHAPTERS));
    Body {
        texts,
        chapters,
        divisions: members.optional("divisions", input::integer(1..=COUNT)),
        entrant_max_entries: members.nullable("entrant_max_entries", input::integer(0..=COUNT)),
        fill_entry_name: members.optional("fill_entry_name", input::flag),
        max_image_width: members.nullable("max_image_width", input::integer(1..=IMAGE_WIDTH)),
        parent: members.nullable("parent", input::slug),
        pdf_packing_slip: members.optional("pdf_packing_slip", input::flag),
        ..Body::default()
    }
}
