//! The bodies of requests, for their description.

use std::collections::BTreeMap;

/// The body of `PostEntryAttachmentV23`.
#[derive(utoipa::ToSchema)]
pub struct UploadAttachment {
    /// The name of the file, without a path.
    #[schema(max_length = 255)]
    pub filename: String,
    /// The bytes of the file in strict base64.
    #[schema(content_encoding = "base64")]
    pub data: String,
    /// Its place among the attachments of the entry.
    #[schema(minimum = 0)]
    pub order: i64,
    /// Answers by the slug of their field, which stands on the tab.
    #[schema(value_type = Option<Object>)]
    pub attachment_fields: Option<BTreeMap<String, String>>,
}

/// The body of `PutAttachmentV23`. What is left out keeps its value.
#[derive(utoipa::ToSchema)]
pub struct UpdateAttachment {
    /// Answers by the slug of their field, which stands on the tab. null takes one back.
    #[schema(value_type = Option<Object>)]
    pub attachment_fields: Option<BTreeMap<String, String>>,
    /// Its place among the attachments of the entry.
    #[schema(minimum = 0)]
    pub order: Option<i64>,
    /// Another tab for attachments of the entry's form.
    #[schema(pattern = "^[A-Za-z]{8}$")]
    pub tab: Option<String>,
}

/// The body of `PutAttachmentUpdateFieldV23`.
#[derive(utoipa::ToSchema)]
pub struct UpdateAttachmentAnswer {
    /// The answer; null or an empty text takes it back.
    #[schema(value_type = Object)]
    pub value: String,
}
