//! What holds of answers, whatever was asked.

use db::{AccountId, Db};
use kernel::kind::Kind;
use plaudit::log::forms::{FORMS, Forms};
use plaudit::records::store::each_wrong;
use plaudit::records::users;
use roxmltree::Document;

use super::{Answer, JSON, XML, tree};

/// Both media types.
pub const FORMATS: [&str; 2] = [JSON, XML];

const RATE_LIMIT: [&str; 3] = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

/// What every answer of the interface carries.
#[track_caller]
pub fn every_answer(answer: &Answer, format: &str) {
    let header = |name: &str| answer.header(name);
    assert!(header("x-request-id").is_some_and(|id| !id.is_empty()), "no x-request-id: {answer:?}");
    let number = |name: &str| header(name).map(|value| value.parse::<i64>().unwrap());
    if [429, 503].contains(&answer.status) {
        assert!(RATE_LIMIT.iter().all(|name| header(name).is_none()), "{answer:?}");
        // Nobody knows when maintenance ends.
        let ends = answer.text().contains("status_code");
        assert_eq!(number("retry-after").is_some_and(|seconds| seconds >= 1), ends, "{answer:?}");
    } else {
        let [limit, remaining, reset] =
            RATE_LIMIT.map(|name| number(name).unwrap_or_else(|| panic!("{name}: {answer:?}")));
        assert!((0..limit).contains(&remaining) && reset > 0, "{answer:?}");
    }
    if answer.body.is_empty() {
        assert_eq!(header("content-type"), None, "{answer:?}");
    } else {
        assert_eq!(header("content-type"), Some(format), "{answer:?}");
    }
    if (200..300).contains(&answer.status) {
        assert_eq!(header("etag").is_some(), !answer.body.is_empty(), "{answer:?}");
    }
    if answer.status >= 400 && (answer.status != 503 || answer.header("retry-after").is_some()) {
        envelope(answer, format);
    }
}

/// The members of an answer's body and the texts of those that are no lists or objects.
fn members(answer: &Answer, format: &str) -> Vec<(String, String)> {
    if format == JSON {
        let json = answer.json();
        let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        return json.as_object().unwrap().iter().map(|(name, value)| (name.clone(), text(value))).collect();
    }
    let document = Document::parse(answer.text()).unwrap();
    let elements = document.root_element().children().filter(roxmltree::Node::is_element);
    elements.map(|node| (tree::decoded(node), node.text().unwrap_or_default().to_owned())).collect()
}

/// The envelope of an error: exactly `message` and `status_code`, and `errors` with 400 or 422 only.
#[track_caller]
fn envelope(answer: &Answer, format: &str) {
    let members = members(answer, format);
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    match names[..] {
        ["message", "status_code"] => {}
        ["message", "status_code", "errors"] => assert!([400, 422].contains(&answer.status), "{answer:?}"),
        _ => panic!("the envelope has {names:?}"),
    }
    assert!(!members[0].1.is_empty(), "{answer:?}");
    assert_eq!(members[1].1, answer.status.to_string());
    if format == JSON {
        assert!(answer.json()["message"].is_string() && answer.json()["status_code"].is_u64());
    }
}

/// The names in `errors`, each once; nothing where there is no such member.
pub fn error_names(answer: &Answer, format: &str) -> Option<Vec<String>> {
    if format == JSON {
        let json = answer.json();
        let errors = json.get("errors")?.as_object().unwrap();
        return Some(errors.keys().cloned().collect());
    }
    let document = Document::parse(answer.text()).unwrap();
    let errors = document.root_element().children().find(|node| node.has_tag_name("errors"))?;
    let mut names: Vec<String> = errors.children().filter(roxmltree::Node::is_element).map(tree::decoded).collect();
    names.dedup();
    Some(names)
}

/// The `message` of an error.
pub fn message(answer: &Answer, format: &str) -> String {
    members(answer, format).swap_remove(0).1
}

/// The headers of an answer without those that differ between any two requests.
pub fn comparable_headers(answer: &Answer) -> Vec<(String, String)> {
    let differs = |name: &str| ["x-request-id", "x-ratelimit-remaining"].contains(&name);
    let mut headers: Vec<_> = answer
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), value.to_str().unwrap().to_owned()))
        .filter(|(name, _)| !differs(name))
        .collect();
    headers.sort();
    headers
}

/// Whatever was done, what the rows of records have follows from their documents, and these are the ones in the log.
pub async fn every_record(db: &Db) {
    every_record_of(db, &FORMS).await;
}

/// The same where rows have other forms than those that are known.
pub async fn every_record_of(db: &Db, forms: &Forms) {
    let mut tx = db.snapshot().await.unwrap();
    let sql = "SELECT id, sequence FROM accounts";
    let accounts: Vec<_> = tx.all(sql, &[], |row| Ok((AccountId(row.integer(0)?), row.integer(1)?))).await.unwrap();
    let mut wrong = Vec::new();
    for (account, sequence) in accounts {
        for kind in Kind::ALL {
            each_wrong(&mut tx, account, (kind, sequence), forms, |fault| wrong.push(fault)).await.unwrap();
        }
        users::store::each_wrong(&mut tx, account, |fault| wrong.push(fault)).await.unwrap();
    }
    assert_eq!(wrong, Vec::<String>::new());
}
