//! The schema of the body that makes documents.

use serde_json::{Map, Value, json};

use super::assignments::body;
use super::components::{named, object, slug};
use crate::program::component;
use crate::program::document_templates::{FileType, Subject};
use crate::resources::documents::MANY;

/// The schemas.
pub(super) fn schemas() -> Map<String, Value> {
    named(json!({
        "CreateDocuments": body(
            "What documents are made, and of what.",
            json!({
                "translated": translated_document(),
                "template": slug(),
                "fileType": { "description": "The type of the files, one of the template's.", "enum": FileType::NAMES },
                "shared": { "description": "Whether those whom they are for read them.", "type": "boolean" },
                "resource": { "description": "What they are about, which is the template's.", "enum": Subject::NAMES },
                "selected": {
                    "description": "The records, by slug; a document is made of each.",
                    "type": "array",
                    "items": { "type": "string", "pattern": "^[A-Za-z]+$", "maxLength": 32, "examples": ["EntryAAA"] },
                    "minItems": 1,
                    "maxItems": MANY,
                    "uniqueItems": true,
                },
                "notification": {
                    "description": "Whether those with whom they are shared are written to; false where it is left out.",
                    "type": ["boolean", "null"],
                },
            }),
            &["translated", "template", "fileType", "shared", "resource", "selected"],
        )
    }))
}

/// The texts of documents.
fn translated_document() -> Value {
    let mut texts = object(
        "What they are called and what they are.",
        json!({ "name": component("Translated"), "description": component("Translated") }),
    );
    texts["required"] = json!(["name"]);
    texts["additionalProperties"] = json!(false);
    texts
}
