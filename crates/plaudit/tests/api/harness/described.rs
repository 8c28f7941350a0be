//! Holds every answer, and every body that was taken, against what the OpenAPI document says of them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use axum::body::{Body, HttpBody as _};
use axum::http::Request;
use http_body_util::BodyExt as _;
use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::{Answer, JSON};

pub static DOCUMENT: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(plaudit::router::document()).unwrap());

/// The schemas of answers, in which an object has the members that are described and no others.
static CLOSED: LazyLock<Value> = LazyLock::new(|| {
    let mut schemas = DOCUMENT["components"]["schemas"].clone();
    close(&mut schemas);
    schemas
});

fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("type") == Some(&json!("object"))
                && members.contains_key("properties")
                && !members.contains_key("additionalProperties")
            {
                members.insert("additionalProperties".to_owned(), json!(false));
            }
            members.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// By whether objects are closed, and the name of the schema.
type Validators = HashMap<(bool, String), Arc<Validator>>;

/// What was asked.
pub struct Asked {
    method: String,
    path: String,
    body: Option<Value>,
}

/// Bodies beyond this are not looked at.
const MOST: u64 = 100_000;

impl Asked {
    /// What a request asks, and the request.
    pub async fn of(request: Request<Body>) -> (Self, Request<Body>) {
        let (parts, body) = request.into_parts();
        let method = parts.method.as_str().to_ascii_lowercase();
        let path = parts.uri.path().to_owned();
        if body.size_hint().exact().is_none_or(|size| size == 0 || size > MOST) {
            return (Self { method, path, body: None }, Request::from_parts(parts, body));
        }
        let bytes = body.collect().await.unwrap().to_bytes();
        let asked = Self { method, path, body: serde_json::from_slice(&bytes).ok() };
        (asked, Request::from_parts(parts, Body::from(bytes)))
    }

    /// The operation that is described for it.
    fn operation(&self) -> Option<&'static Map<String, Value>> {
        DOCUMENT["paths"][described_path(&self.path)?].get(&self.method)?.as_object()
    }

    /// Panics where an answer is not as it is described.
    pub fn check(&self, answer: &Answer, format: &str) {
        let what =
            || format!("{} {} {}\n{}", self.method, self.path, answer.status, String::from_utf8_lossy(&answer.body));
        let Some(operation) = self.operation() else {
            assert!(answer.status >= 400, "no operation is described: {}", what());
            return;
        };
        let response = &operation["responses"][answer.status.to_string()];
        let response = match response["$ref"].as_str().and_then(|name| name.strip_prefix('#')) {
            Some(pointer) => DOCUMENT.pointer(pointer).unwrap(),
            None => response,
        };
        assert!(response.is_object(), "the status is not described: {}", what());
        if format == JSON && ![202, 204, 304].contains(&answer.status) {
            let schema = &response["content"][JSON]["schema"];
            assert_answer(schema, &answer.json(), &what);
        }
        let schema = &operation.get("requestBody").unwrap_or(&Value::Null)["content"]["application/json"]["schema"];
        if let Some(body) = self.body.as_ref().filter(|_| answer.status < 300 && schema.is_object()) {
            assert_body(schema, body, &|| format!("body of {}: {body}", what()));
        }
    }
}

/// Panics where an answer does not fit a schema, or has a member more than that.
#[track_caller]
pub fn assert_answer(schema: &Value, value: &Value, what: &dyn Fn() -> String) {
    assert_fits(schema, &CLOSED, value, what);
}

/// Panics where a body does not fit a schema.
#[track_caller]
pub fn assert_body(schema: &Value, value: &Value, what: &dyn Fn() -> String) {
    assert_fits(schema, &DOCUMENT["components"]["schemas"], value, what);
}

/// The path of the document that an address fits.
pub fn described_path(address: &str) -> Option<&'static str> {
    let given: Vec<&str> = address.split('/').collect();
    let fits = |path: &&String| {
        let parts: Vec<&str> = path.split('/').collect();
        let is_same = |(part, given): (&&str, &&str)| part == given || part.starts_with('{') && !given.is_empty();
        parts.len() == given.len() && parts.iter().zip(&given).all(is_same)
    };
    let fitting = DOCUMENT["paths"].as_object().unwrap().keys().filter(fits);
    // A path without a variable part comes before one that has it.
    fitting.min_by_key(|path| path.matches('{').count()).map(String::as_str)
}

#[track_caller]
fn assert_fits(schema: &Value, schemas: &Value, value: &Value, what: &dyn Fn() -> String) {
    static VALIDATORS: LazyLock<Mutex<Validators>> = LazyLock::new(Mutex::default);
    let name = schema["$ref"].as_str().unwrap_or_else(|| panic!("no schema is named: {schema} {}", what()));
    let key = (std::ptr::eq(schemas, &raw const *CLOSED), name.to_owned());
    let made = VALIDATORS.lock().unwrap().get(&key).map(Arc::clone);
    let validator = made.unwrap_or_else(|| {
        let whole = json!({ "$ref": name, "components": { "schemas": schemas } });
        let validator = Arc::new(jsonschema::options().should_validate_formats(true).build(&whole).unwrap());
        VALIDATORS.lock().unwrap().insert(key, Arc::clone(&validator));
        validator
    });
    let faults: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(faults.is_empty(), "{name}: {faults:#?}\n{}", what());
}
