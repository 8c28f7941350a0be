//! Pure rules of attachments.

use super::Attachment;
use crate::document::Object;
use crate::kind::Kind;

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
