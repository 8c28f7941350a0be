//! The bodies of the set-up's writing operations: whatever is wrong with one is told, all of it at once.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::service::{Answer, Checks, Client, JSON, Kind, Program, Random, Service, XML, field, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

mod table;

use table::{Case, Operation};

/// No fault of a body hides another one.
pub(crate) const PROOF: Proof = Proof {
    name: "setup-bodies",
    claim: "For every body of the set-up, unknown members, wrong types and missing required members are all told at once \
            under errors, each by its path and no other, in both formats.",
    run: |context| on_each_engine(context, show),
};

/// How many bodies with several faults are sent for each operation, and in the short form.
const SEVERAL: usize = 1_000;
const SEVERAL_SHORT: usize = 50;

/// The tags of the operations whose bodies the table must have.
const TAGS: &[&str] = &["Categories", "Chapters", "Fields"];

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let program = Program { detail_every: 0, orders: 0, ..Program::small(8) };
    let service = Service::with(context, engine, &[&program])?;
    let client = service.client(&service.key(&program.account, "read_write")?);
    let operations = table::operations(&|name| fill(&program, name))?;
    let mut checks = Checks::default();
    described(&client, &operations, &mut checks)?;
    let before = service.export(&program.account)?;
    let mut sent = 0;
    let mut random = Random::new(8);
    let mut below = |bound: usize| {
        let drawn = random.below(u32::try_from(bound).unwrap_or(u32::MAX));
        usize::try_from(drawn).unwrap_or_default()
    };
    for operation in &operations {
        let mut cases = operation.each();
        let single = cases.len();
        cases.push(operation.all());
        let several = if context.short { SEVERAL_SHORT } else { SEVERAL };
        cases.extend((0..several).map(|_| operation.several(&mut below)));
        for format in [JSON, XML] {
            let client = client.with("accept", format);
            for case in &cases {
                judge(&client, operation, case, format, &mut checks)?;
            }
        }
        sent += 2 * cases.len();
        println!("  {}, {}: {single} faults, {} bodies in both formats", engine.name(), operation.id, cases.len());
    }
    checks
        .check(service.export(&program.account)? == before, || "a body with a fault has changed something".to_owned());
    for operation in &operations {
        let answer = send(&client, operation, &operation.right)?;
        checks.check([200, 201].contains(&answer.status), || {
            format!("{} answers a body that is right with {}: {}", operation.id, answer.status, answer.text())
        });
    }
    Ok(checks.verdict(&format!("{sent} wrong bodies of {} operations", operations.len())))
}

/// What the table's names stand for.
fn fill(program: &Program, name: &str) -> String {
    let slug = |kind, position| program.slug(kind, position);
    match name {
        "season" => slug(Kind::Season, 0),
        "form" => slug(Kind::Form, 0),
        "tab" => slug(Kind::Tab, 1),
        "chapter" => slug(Kind::Chapter, 0),
        "category" => slug(Kind::Category, 0),
        "field" => slug(Kind::Field, field::SPARE),
        "other_field" => slug(Kind::Field, field::SPARE + 1),
        "user" => slug(Kind::User, 0),
        "language" => program.languages.first().copied().unwrap_or_default().to_owned(),
        "other_language" => program.languages.get(1).copied().unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

fn send(client: &Client, operation: &Operation, body: &Value) -> Result<Answer> {
    let body = body.to_string();
    let headers = [("content-type", "application/json")];
    client.send(&operation.method, &operation.path, &headers, Some(body.as_bytes()))
}

/// The answer names the members that something is wrong with, and no other.
fn judge(client: &Client, operation: &Operation, case: &Case, format: &str, checks: &mut Checks) -> Result<()> {
    let answer = send(client, operation, &case.body)?;
    ensure!(answer.status < 500 && answer.status != 429, "{} was answered {}", operation.id, answer.status);
    let told = if format == JSON { told_in_json(&answer.json()?) } else { told_in_xml(&answer.text()) };
    checks.check(answer.status == 422 && told.as_ref() == Some(&case.errors), || {
        format!(
            "{} {} is answered {} with {told:?} and not with {:?}",
            operation.id, case.body, answer.status, case.errors
        )
    });
    Ok(())
}

/// The names in `errors`, each with at least one message.
fn told_in_json(body: &Value) -> Option<BTreeSet<String>> {
    let errors = body["errors"].as_object()?;
    let is_told = |messages: &Value| {
        messages.as_array().is_some_and(|messages| !messages.is_empty() && messages.iter().all(Value::is_string))
    };
    errors.values().all(is_told).then(|| errors.keys().cloned().collect())
}

/// The names of the elements within `errors`, whose contents are texts alone.
fn told_in_xml(body: &str) -> Option<BTreeSet<String>> {
    let (_, rest) = body.split_once("<errors>")?;
    let (errors, _) = rest.split_once("</errors>")?;
    let mut told = BTreeSet::new();
    for element in errors.split('<').skip(1).filter(|element| !element.starts_with('/')) {
        let (name, message) = element.split_once('>')?;
        if message.is_empty() {
            return None;
        }
        told.insert(name.to_owned());
    }
    Some(told)
}

/// The table has every body of the OpenAPI document, and of each every member.
fn described(client: &Client, operations: &[Operation], checks: &mut Checks) -> Result<()> {
    let document = client.get("/openapi.json")?.expect_status(200)?.json()?;
    let paths = document["paths"].as_object().context("the document has no paths")?;
    let mut bodies = 0;
    for operation in paths.values().filter_map(Value::as_object).flat_map(|methods| methods.values()) {
        let is_of = |tag: &Value| tag.as_str().is_some_and(|tag| TAGS.contains(&tag));
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        if schema.is_null() || !operation["tags"].as_array().is_some_and(|tags| tags.iter().any(is_of)) {
            continue;
        }
        bodies += 1;
        let id = operation["operationId"].as_str().unwrap_or_default();
        let Some(known) = operations.iter().find(|operation| operation.id == id) else {
            checks.check(false, || format!("the table has no body of {id}"));
            continue;
        };
        let mut members = BTreeSet::new();
        collect(&document, schema, "", &mut members);
        checks.check(members == known.members, || {
            let missing: Vec<_> = members.symmetric_difference(&known.members).collect();
            format!("the table and the document differ in {missing:?} of {id}")
        });
    }
    checks.check(bodies == operations.len(), || {
        format!("the document has {bodies} bodies, the table {}", operations.len())
    });
    Ok(())
}

/// The members of a schema by their paths; those of the items of a list of objects stand for the first item's.
fn collect(document: &Value, schema: &Value, path: &str, members: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/components/schemas/")) {
        return collect(document, &document["components"]["schemas"][name], path, members);
    }
    for choice in schema["oneOf"].as_array().into_iter().flatten() {
        collect(document, choice, path, members);
    }
    let is_object = |schema: &Value| {
        let name = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/components/schemas/"));
        let named = name.map(|name| &document["components"]["schemas"][name]);
        named.unwrap_or(schema)["properties"].is_object()
    };
    if !path.is_empty() && is_object(&schema["items"]) {
        let item = format!("{path}.1");
        members.insert(item.clone());
        collect(document, &schema["items"], &item, members);
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        members.insert(path.clone());
        collect(document, member, &path, members);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn operations() -> Vec<Operation> {
        table::operations(&|name| format!("<{name}>")).unwrap()
    }

    #[test]
    fn every_case_has_a_fault_and_is_made_in_a_body_that_is_right() {
        for operation in operations() {
            let mut drawn = 0;
            let mut below = |bound: usize| {
                drawn += 1;
                drawn * 7_919 % bound
            };
            let several: Vec<Case> = (0..100).map(|_| operation.several(&mut below)).collect();
            let many = operation.members.len().min(4);
            assert!(several.iter().any(|case| case.errors.len() >= many), "{}", operation.id);
            for case in operation.each().iter().chain(&several).chain([&operation.all()]) {
                assert!(!case.errors.is_empty() && case.body != operation.right, "{} {}", operation.id, case.body);
            }
        }
    }

    #[test]
    fn both_formats_tell_the_same_names() {
        let json =
            json!({"message": "x", "status_code": 422, "errors": {"type": ["a", "b"], "translated.title": ["c"]}});
        let xml = "<root><errors><type>a</type><type>b</type><translated.title>c</translated.title></errors></root>";
        assert_eq!(told_in_json(&json), told_in_xml(xml));
        assert_eq!(told_in_json(&json!({"errors": {"type": []}})), None);
        assert_eq!(told_in_xml("<root><errors><type></type></errors></root>"), None);
        assert_eq!((told_in_json(&json!({})), told_in_xml("<root/>")), (None, None));
    }

    #[test]
    fn the_members_of_a_schema_are_found_within_others() {
        let document = json!({"components": {"schemas": {
            "Body": {"properties": {"a": {"type": "string"}, "b": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Part"}]},
                "c": {"type": ["array", "null"], "items": {"$ref": "#/components/schemas/Part"}}}},
            "Part": {"properties": {"d": {"type": "integer"}}},
        }}});
        let mut members = BTreeSet::new();
        collect(&document, &json!({"$ref": "#/components/schemas/Body"}), "", &mut members);
        assert_eq!(members.into_iter().collect::<Vec<_>>(), ["a", "b", "b.d", "c", "c.1", "c.1.d"]);
    }
}
