//! The OpenAPI document, made from the handlers' own descriptions, and a page that shows it.

use std::fmt::Write as _;
use std::sync::LazyLock;

use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};

use crate::program::{accounts, categories, chapters, fields, forms, linked, rounds, score_sets, seasons, taxes};
use crate::{attachments, contributors, entries, files, orders, users};

/// The shape of every error (specification, section 7).
#[derive(utoipa::ToSchema)]
pub struct Error {
    /// What is wrong.
    pub message: String,
    /// The status of the answer.
    pub status_code: i32,
}

/// The body of an upload.
#[derive(utoipa::ToSchema)]
pub struct UploadFile {
    /// The name of the file, without a path.
    #[schema(max_length = 255)]
    pub filename: String,
    /// The bytes of the file in strict base64.
    #[schema(content_encoding = "base64")]
    pub data: String,
}

/// A file that was uploaded.
#[derive(utoipa::ToSchema)]
pub struct File {
    /// Its name.
    pub filename: String,
    /// Its token.
    pub token: String,
    /// Its address.
    pub link: String,
}

#[derive(OpenApi)]
#[openapi(
    info(title = "Plaudit", description = "Awards, competitions, scholarships and grants: version 2.3 of the interface."),
    paths(
        accounts::api::show,
        seasons::api::list,
        seasons::api::show,
        forms::api::list,
        forms::api::show,
        taxes::api::list,
        rounds::api::list,
        rounds::api::show,
        score_sets::api::list,
        score_sets::api::show,
        linked::role,
        linked::tax,
        linked::price,
        linked::panel,
        linked::review_stage,
        linked::content_block,
        categories::api::read::list,
        categories::api::read::show,
        categories::api::write::create,
        categories::api::write::update,
        categories::api::write::delete,
        categories::api::upload::upload,
        chapters::api::read::list,
        chapters::api::read::show,
        chapters::api::write::create,
        chapters::api::write::update,
        chapters::api::write::delete,
        chapters::api::upload::upload,
        fields::api::list,
        fields::api::show,
        fields::api::create,
        fields::api::update,
        fields::api::delete,
        fields::api::restore,
        entries::api::list::list,
        entries::api::summary::summary,
        entries::api::create::create,
        entries::api::create::copy,
        entries::api::show::show,
        entries::api::update::update,
        entries::api::trash::delete,
        entries::api::trash::restore,
        entries::api::tags::add,
        entries::api::tags::remove,
        entries::api::realtime::update_title,
        entries::api::realtime::update_field,
        entries::api::realtime::update_category,
        entries::api::realtime::update_chapter,
        entries::stream::of_account,
        entries::stream::of_entry,
        entries::api::upload::upload,
        attachments::api::list,
        attachments::api::show,
        attachments::api::update,
        attachments::api::delete,
        attachments::api::upload::upload,
        attachments::api::update_field,
        contributors::api::list,
        contributors::api::write::create,
        contributors::api::show,
        contributors::api::write::update,
        contributors::api::write::delete,
        contributors::api::write::update_field,
        files::api::show,
        orders::api::list,
        users::list::list,
        users::api::create,
        users::api::show,
        users::api::update,
        users::api::delete,
        users::api::restore,
        users::api::auth_token,
        users::upload::upload,
    ),
    components(schemas(Error)),
    modifiers(&Key),
)]
struct Document;

struct Key;

impl utoipa::Modify for Key {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let key = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("x-api-key")));
        document.components.get_or_insert_default().add_security_scheme("key", key);
    }
}

static TEXT: LazyLock<String> = LazyLock::new(|| Document::openapi().to_json().unwrap_or_default());

/// The document as JSON.
#[must_use]
pub fn json() -> &'static str {
    &TEXT
}

/// A page for people: every operation with its description.
#[must_use]
pub fn page() -> String {
    let document = Document::openapi();
    let mut page = String::from(
        "<!doctype html><meta charset=utf-8><title>Plaudit</title>\
         <style>body{font:16px/1.5 sans-serif;max-width:50em;margin:2em auto;padding:0 1em}code{background:#eee}</style>\
         <h1>Plaudit, version 2.3</h1><p>The whole description: <a href=/openapi.json>openapi.json</a>.</p>",
    );
    for (path, item) in &document.paths.paths {
        let operations = [("GET", &item.get), ("POST", &item.post), ("PUT", &item.put), ("DELETE", &item.delete)];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                let about = operation.description.as_deref().or(operation.summary.as_deref()).unwrap_or_default();
                let id = operation.operation_id.as_deref().unwrap_or_default();
                let _ = write!(page, "<h2><code>{method} {path}</code></h2><p><b>{id}</b></p><p>{about}</p>");
            }
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// Every operation that reads, by its path.
    fn reads() -> Vec<(String, Value)> {
        let document: Value = serde_json::from_str(json()).unwrap();
        let paths = document["paths"].as_object().unwrap().iter();
        paths.filter_map(|(path, item)| Some((path.clone(), item.get("get")?.clone()))).collect()
    }

    fn of_query(operation: &Value) -> impl Iterator<Item = &Value> {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        parameters.filter(|parameter| parameter["in"] == "query")
    }

    #[test]
    fn every_list_describes_its_query() {
        let is_list = |operation: &Value| operation["operationId"].as_str().unwrap().ends_with("CollectionV23");
        let lists: Vec<_> = reads().into_iter().filter(|(_, operation)| is_list(operation)).collect();
        assert_eq!(lists.len(), 13);
        for (path, operation) in lists {
            let names: BTreeSet<&str> =
                of_query(&operation).filter_map(|parameter| parameter["name"].as_str()).collect();
            for name in ["page", "per_page", "order", "dir", "cursor", "count"] {
                assert!(names.contains(name), "{path} does not describe its {name}");
            }
        }
    }

    #[test]
    fn a_query_parameter_is_described_once_and_has_a_schema() {
        for (path, operation) in reads() {
            let mut names = BTreeSet::new();
            for parameter in of_query(&operation) {
                assert!(names.insert(parameter["name"].as_str()), "{path} {parameter}");
                assert!(parameter["schema"].is_object() && parameter["description"].is_string(), "{path} {parameter}");
            }
        }
    }
}
