//! What all operations have in common, added to what each says of itself: parameters of paths and headers, the media types
//! that are sent, headers of answers, errors, and the schemas that operations name.

use serde_json::{Map, Value, json};

use crate::http::ApiError;
use crate::program::{component, pascal};
use crate::render::accept::Format;
use crate::resources::openapi::components::{self, ERRORS};
use crate::resources::openapi::examples::{Examples, Place};
use crate::resources::openapi::webhooks;
use kernel::kind::Kind;
use kernel::text::EMAIL_LENGTH;

/// The groups of operations, in the order of the documentation.
const GROUPS: &[(&str, &str)] = &[
    ("Account", "The account of the key."),
    ("Seasons", "Seasons; one is active at a time."),
    ("Forms", "Forms, and the texts above them."),
    ("Fields", "The questions of forms."),
    ("Chapters", "Divisions in which categories can be made available."),
    ("Categories", "What entries compete in."),
    ("Rounds", "When entries are submitted and judged."),
    ("Score sets", "How entries are judged."),
    ("Assignments", "Who judges what."),
    ("Leaderboards", "What the sheets of entries come to, and their places."),
    ("Review tasks", "Who has to agree to an entry."),
    ("Entries", "What is entered."),
    ("Entries (realtime)", "Changes of one thing, and streams that tell of them at once."),
    ("Events", "Every change of the account, for whoever keeps up with it."),
    ("Attachments", "The files of entries."),
    ("Contributors", "Who took part in entries."),
    ("Documents", "Files that are made of templates."),
    ("Files", "Stored files."),
    ("Orders", "Orders, and prices."),
    ("Taxes", "Taxes."),
    ("Users", "People, and what they may do."),
    ("Webhooks", "Endpoints that are told what happens."),
    ("Jobs", "Work that goes on after the answer to the request that began it."),
];

/// The operations that a job does.
const JOBS: [&str; 4] = ["/assignment", "/assignment/reassign", "/document", "/webhook/{slug}/replay"];

/// The methods of operations.
const METHODS: [&str; 4] = ["get", "post", "put", "delete"];

/// Completes the document.
pub(super) fn complete(document: &mut Value) {
    document["info"]["version"] = json!("2.3");
    document["info"]["contact"] = json!({ "name": "The operator of the deployment" });
    document["info"]["license"] = json!({ "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" });
    document["servers"] = json!([{ "url": "/", "description": "The deployment that serves this document." }]);
    document["tags"] = GROUPS.iter().map(|(name, about)| json!({ "name": name, "description": about })).collect();
    document["security"] = json!([{ "key": [] }]);
    let schemas = components::schemas();
    let mut examples = Examples { schemas: &schemas, made: Map::new() };
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (path, item) in paths {
        for method in METHODS {
            if let Some(operation) = item.get_mut(method) {
                complete_operation(path, method, operation, &mut examples);
            }
        }
    }
    document["webhooks"] = webhooks::webhooks(&mut examples);
    document["components"] = json!({
        "securitySchemes": {
            "key": { "type": "apiKey", "in": "header", "name": "x-api-key", "description": "A key of the account." },
        },
        "parameters": components::parameters(),
        "headers": components::headers(),
        "responses": errors(&mut examples),
        "examples": examples.made,
        "schemas": schemas,
    });
}

/// The media types of what is answered in both formats.
fn both_formats(schema: &Value, examples: &Value) -> Value {
    let media = |format: Format| (format.media_type().to_owned(), json!({ "schema": schema, "examples": examples }));
    Value::Object([Format::Json, Format::Xml].into_iter().map(media).collect())
}

fn errors(examples: &mut Examples<'_>) -> Value {
    let error = |(name, about, schema, error): &(&str, &str, &str, fn() -> ApiError)| {
        let example = examples.named(name, false, |_| serde_json::from_str(&error().document()).unwrap_or_default());
        let content = both_formats(&component(schema), &example);
        let mut headers = vec!["x-request-id"];
        match error().status() {
            429 | 503 => headers.push("Retry-After"),
            _ => headers.extend(RATE),
        }
        ((*name).to_owned(), json!({ "description": about, "headers": named_headers(headers), "content": content }))
    };
    Value::Object(ERRORS.iter().map(error).collect())
}

/// The headers of the rate limit.
const RATE: [&str; 3] = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

fn named_headers<'n>(names: impl IntoIterator<Item = &'n str>) -> Value {
    let header = |name: &str| (name.to_owned(), json!({ "$ref": format!("#/components/headers/{name}") }));
    Value::Object(names.into_iter().map(header).collect())
}

/// The paths whose query names the record that they are about.
const OF_ONE: [&str; 5] =
    ["/assignment/progress", "/leaderboard", "/leaderboard/analysis", "/leaderboard/casting-vote", "/leaderboard/lot"];

/// What the method and the path say of a body and of a success, where the operation says nothing else of them.
fn add_what_follows(path: &str, method: &str, operation: &mut Value, schemas: &Map<String, Value>) {
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let kind = pascal(&segments[0].replace('-', "_"));
    let json_of = |schema: &str| json!({ "application/json": { "schema": component(schema) } });
    let body = match (method, segments.as_slice()) {
        ("post", [_]) => Some(format!("Create{kind}")),
        ("put", [_, _]) => Some(format!("Update{kind}")),
        ("post", [_, _, "upload", ..]) => Some("UploadFile".to_owned()),
        _ => None,
    };
    if let Some(schema) = body.filter(|_| operation.get("requestBody").is_none()) {
        operation["requestBody"] = json!({ "content": json_of(&schema) });
    }
    if operation["responses"].as_object().is_some_and(|responses| !responses.is_empty()) {
        return;
    }
    let page = format!("{kind}Page");
    let (status, about, schema) = match (method, segments.as_slice()) {
        ("put" | "delete", ["entry", _, "tag", _])
        | ("put", ["attachment" | "contributor", _, "update-field", _])
        | ("post", [_] | ["entry", _, "copy"]) => ("201", "The record; `Location` is its address", Some(&*kind)),
        ("delete", ["job", _]) => ("204", "It is cancelled", None),
        ("delete", _) => ("204", "It is in the trash", None),
        ("post", [_, _, "restore"]) => ("204", "It is back from the trash", None),
        ("post", [_, _, "erase"]) => ("204", "The person is erased", None),
        ("post", [_, _, "upload", ..]) => ("201", "The file", Some("UploadedFile")),
        ("get", ["order", _, "items"]) => ("200", "The page", Some("BilledItemPage")),
        ("get", ["webhook", _, "delivery"]) => ("200", "The page", Some("DeliveryPage")),
        ("get", ["entry", "summary"]) => ("200", "The counts", Some("EntrySummary")),
        ("get", ["leaderboard"]) => ("200", "The page", Some("LeaderboardPage")),
        ("get", ["leaderboard", "analysis"]) => ("200", "The analysis", Some("LeaderboardAnalysis")),
        ("post", ["leaderboard", "advance"]) => ("200", "Who goes on", Some("Advanced")),
        ("get" | "put", ["leaderboard", "casting-vote"]) => ("200", "The casting vote", Some("CastingVote")),
        ("get" | "put", ["leaderboard", "lot"]) => ("200", "The lot", Some("Lot")),
        ("get", ["leaderboard", "publication"]) => ("200", "The page", Some("PublicationPage")),
        ("get", ["assignment", "progress"]) => ("200", "The counts", Some("AssignmentProgress")),
        ("get", [_]) if schemas.contains_key(&page) => ("200", "The page", Some(&*page)),
        _ => ("200", "The record", Some(&*kind)),
    };
    let mut response = json!({ "description": about });
    if let Some(schema) = schema {
        response["content"] = json_of(schema);
    }
    operation["responses"] = json!({ (status): response });
}

fn complete_operation(path: &str, method: &str, operation: &mut Value, examples: &mut Examples<'_>) {
    let writes = method != "get";
    name_schemas(operation);
    add_what_follows(path, method, operation, examples.schemas);
    let has_body = operation.get("requestBody").is_some();
    if has_body {
        operation["requestBody"]["required"] = json!(true);
        let media = &mut operation["requestBody"]["content"]["application/json"];
        let schema = named_schema(&media["schema"]);
        media["examples"] = examples.named(&schema, true, |examples| examples.of(&schema, true));
    }
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let of_path: Vec<Value> = names.map(|name| path_parameter((method, path), name)).collect();
    let is_about_one = !of_path.is_empty() || OF_ONE.contains(&path);
    let mut headers = vec!["Language"];
    headers.extend(writes.then_some("IdempotencyKey"));
    // A stream has no tag.
    headers.extend((!writes && !path.ends_with("/stream")).then_some("IfNoneMatch"));
    headers.extend((writes && is_about_one).then_some("IfMatch"));
    let headers = headers.into_iter().map(|name| json!({ "$ref": format!("#/components/parameters/{name}") }));
    // The first paragraph is a summary; the description is the whole.
    let about = ["summary", "description"].map(|name| operation[name].as_str().unwrap_or_default().to_owned());
    operation["description"] = json!(about.join("\n\n").trim());
    let own = operation["parameters"].as_array().into_iter().flatten().cloned();
    let with_example = |parameter| with_example(path, parameter, examples);
    operation["parameters"] = of_path.into_iter().chain(own).map(with_example).chain(headers).collect();
    complete_responses(path, (writes, is_about_one, has_body), operation, examples);
}

fn complete_responses(
    path: &str,
    (writes, is_about_one, has_body): (bool, bool, bool),
    operation: &mut Value,
    examples: &mut Examples<'_>,
) {
    let Some(responses) = operation["responses"].as_object_mut() else { return };
    for (status, response) in responses.iter_mut() {
        let mut headers = vec!["x-request-id"];
        headers.extend(RATE);
        if let Some(content) = response.get_mut("content").and_then(Value::as_object_mut) {
            if let Some(media) = content.remove("application/json") {
                headers.push("ETag");
                let schema = named_schema(&media["schema"]);
                let example = examples.named(&schema, false, |examples| examples.of(&schema, false));
                response["content"] = both_formats(&media["schema"], &example);
            } else {
                content["text/event-stream"]["example"] = json!(examples.event());
            }
        }
        // What is done by a job has the address of that.
        if status == "201" || JOBS.contains(&path) && status == "202" {
            headers.push("Location");
        }
        response["headers"] = named_headers(headers);
    }
    for (name, _, _, error) in ERRORS {
        let status = error().status();
        let applies = match status {
            404 => is_about_one,
            422 => writes || OF_ONE.contains(&path),
            409 | 507 => writes,
            412 => writes && is_about_one,
            413 => has_body,
            _ => true,
        };
        if applies {
            responses.insert(status.to_string(), json!({ "$ref": format!("#/components/responses/{name}") }));
        }
    }
    if !writes && !path.ends_with("/stream") {
        let about = "What `If-None-Match` names still holds.";
        responses.insert(
            "304".to_owned(),
            json!({ "description": about, "headers": named_headers(["x-request-id", "ETag"]) }),
        );
    }
}

/// The name of the schema that is referred to.
fn named_schema(reference: &Value) -> String {
    let name = reference["$ref"].as_str().and_then(|address| address.rsplit('/').next());
    name.unwrap_or_default().to_owned()
}

/// A parameter of an operation with an example; a cursor is what an answer gave.
fn with_example(path: &str, mut parameter: Value, examples: &Examples<'_>) -> Value {
    let name = parameter["name"].as_str().unwrap_or_default().to_owned();
    if name != "cursor" {
        let owner = Kind::ALL.into_iter().find(|kind| path.split('/').nth(1) == Some(kind.path()));
        parameter["example"] = examples.value(&parameter["schema"], Place { name: &name, owner, is_sent: true });
    }
    parameter
}

/// Operations name schemas by their names alone.
fn name_schemas(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(name)) = members.get_mut("$ref") {
                *name = format!("#/components/schemas/{name}");
            }
            members.values_mut().for_each(name_schemas);
        }
        Value::Array(items) => items.iter_mut().for_each(name_schemas),
        _ => {}
    }
}

/// A part of a path.
fn path_parameter(operation: (&str, &str), name: &str) -> Value {
    let (about, schema) = match name {
        "token" => ("The token of the record.", component("Token")),
        "tags" => ("Tags, with commas between them.", json!({ "type": "string", "minLength": 1 })),
        "field" => ("The slug of the field.", component("Slug")),
        "tab" => ("The slug of the tab.", component("Slug")),
        _ if operation == ("get", "/user/{slug}") => (
            "The slug of the user, or the e-mail address.",
            json!({ "anyOf": [component("Slug"), { "type": "string", "format": "email", "maxLength": EMAIL_LENGTH }] }),
        ),
        "id" => (
            "The id of the delivery.",
            json!({ "type": "string", "pattern": "^msg_[1-9][0-9]{0,15}_(0|[1-9][0-9]{0,3})_[0-9a-f]{12}$", "examples": ["msg_12_0_9f86d081884c"] }),
        ),
        _ if operation.1.starts_with("/assignment/{slug}") => {
            ("The slug of the assignment.", component("AssignmentSlug"))
        }
        _ => ("The slug of the record.", component("Slug")),
    };
    json!({ "name": name, "in": "path", "required": true, "description": about, "schema": schema })
}
