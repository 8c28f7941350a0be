//! The OpenAPI document, made from the handlers' own descriptions, and a page that shows it.

mod complete;
mod components;
mod kinds;

use std::fmt::Write as _;
use std::sync::LazyLock;

use serde_json::Value;
use utoipa::OpenApi as _;

use crate::program::{accounts, categories, chapters, fields, forms, linked, rounds, score_sets, seasons, taxes};
use crate::{attachments, contributors, entries, files, orders, users};

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Plaudit",
        description = "Awards, competitions, scholarships and grants: version 2.3 of the interface."
    ),
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
    )
)]
struct Document;

static TEXT: LazyLock<String> = LazyLock::new(|| whole().to_string());

fn whole() -> Value {
    let mut document = serde_json::to_value(Document::openapi()).unwrap_or_default();
    complete::complete(&mut document);
    document
}

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
