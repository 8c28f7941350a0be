//! Pure rules of attachments.

use crate::program::Program;
use crate::program::fields::Resource;
use crate::program::tabs::TabKind;
use crate::records::answers;
use crate::records::answers::{Asked, given_to};
use crate::records::entries::Entry;
use crate::records::entries::attachments::{Attachment, LAST_PLACE};
use kernel::document::{self, Object};
use kernel::input::{self, Members, Violations};
use kernel::json::{Json, Object as JsonObject};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// Writes an attachment as its entry shows it (specification, section 2.4); `filename` is that of its file.
pub fn write_shown(attachment: &Attachment, filename: &str, object: &mut Object<'_>) {
    let token = attachment.token.as_str();
    object.text("token", token);
    object.link("link", Kind::Attachment, token);
    object.object("file", |object| {
        object.text("token", token);
        object.link("link", Kind::File, token);
        object.text("filename", filename);
        object.download("download", token);
    });
    object.answers("attachment_fields", &attachment.attachment_fields.to_json());
    object.reference("tab", Kind::Tab, attachment.tab);
}

/// An attachment as it is shown on its own (contract, section 6), with the title of its entry and the name of its file.
pub(crate) fn document(attachment: &Attachment, title: &str, filename: &str) -> String {
    let token = attachment.token.as_str();
    document::object(|object| {
        object.object("entry", |object| {
            object.named(Kind::Entry, attachment.entry, ("title", title));
        });
        object.answers("attachment_fields", &attachment.attachment_fields.to_json());
        object.time("created", attachment.created);
        object.object("file", |object| {
            object.text("token", token);
            object.link("link", Kind::File, token);
            object.download("download", token);
            object.text("filename", filename);
        });
        object.integer("order", attachment.order);
        object.reference("tab", Kind::Tab, attachment.tab);
        object.text("token", token);
        object.time("updated", attachment.updated);
    })
}

/// What a body says of an attachment; what is left out keeps its value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    pub(crate) attachment_fields: Option<JsonObject<'static>>,
    pub(crate) order: Option<i64>,
    pub(crate) tab: Option<Slug>,
}

fn place(json: &Json) -> Result<i64, String> {
    input::integer(0..=LAST_PLACE)(json)
}

/// Reads what an upload says beside its file.
pub(crate) fn read_upload(members: &mut Members<'_>, tab: Slug) -> Given {
    let order = members.required("order", place);
    Given { attachment_fields: members.optional("attachment_fields", answers::given), order, tab: Some(tab) }
}

/// Reads the body of an update.
pub(crate) fn read_update(body: &JsonObject) -> (Given, Violations) {
    let mut members = Members::closed(body);
    let given = Given {
        attachment_fields: members.optional("attachment_fields", answers::given),
        order: members.optional("order", place),
        tab: members.optional("tab", input::slug),
    };
    (given, members.finish())
}

/// Reads the body that gives the answer to one field; other members are passed over.
pub(crate) fn read_answer(body: &JsonObject, field: Slug) -> (Given, Violations) {
    let (attachment_fields, violations) = answers::given_to_field(body, field);
    (Given { attachment_fields, ..Given::default() }, violations)
}

/// The attachment of an entry after a body that was read with these violations; where nothing changes, as it was.
pub(crate) fn update(
    program: &Program,
    entry: &Entry,
    before: &Attachment,
    (given, mut violations): (Given, Violations),
    now: Timestamp,
) -> Result<Attachment, Violations> {
    let mut after = before.clone();
    // Of a tab that is wrong nothing follows for the fields.
    let mut known_tab = Some(before.tab);
    if let Some(tab) = given.tab {
        after.tab = tab;
        let found = program.tabs.live(tab);
        let is_right = found.is_some_and(|found| found.form == entry.form && found.kind == TabKind::Attachments);
        if !is_right {
            violations.add("tab", format!("{tab} is no tab for attachments of the entry's form"));
        }
        known_tab = is_right.then_some(tab);
    }
    after.order = given.order.unwrap_or(before.order);
    if let Some(given) = &given.attachment_fields {
        let asked = Asked {
            member: "attachment_fields",
            resource: Resource::Attachments,
            form: Some(entry.form),
            tab: known_tab,
            category: Some(entry.category),
        };
        after.attachment_fields = given_to(program, asked, &before.attachment_fields, given, &mut violations);
    }
    if after != *before {
        after.updated = now;
    }
    violations.or(Some(after))
}
