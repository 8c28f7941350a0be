//! Another account's records are answered exactly as records that nobody has.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::service::{Answer, Checks, Client, JSON, Kind, Program, Service, XML, field, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// No account learns of another one.
pub(crate) const PROOF: Proof = Proof {
    name: "isolation",
    claim: "Every operation answers for another account's slugs and for trashed ones, byte for byte, as for unknown ones.",
    run: |context| on_each_engine(context, show),
};

/// A slug that no record has.
const UNKNOWN: &str = "ZzZzZzZz";

/// Stands for the slug in a question.
const MARK: &str = "@slug@";

/// One request, with the place of the slug marked by [`MARK`].
struct Question {
    method: &'static str,
    path: String,
    body: Option<Value>,
    kind: Kind,
    headers: Vec<(&'static str, &'static str)>,
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let (own, other) = (Program::small(5), Program::second(6));
    let service = Service::with(context, engine, &[&own, &other])?;
    let client = service.client(&service.key(&own.account, "read_write")?);
    let others_client = service.client(&service.key(&other.account, "read_write")?);
    for (client, program) in [(&client, &own), (&others_client, &other)] {
        client.delete(&format!("/field/{}", program.slug(Kind::Field, field::SPARE)))?.expect_status(204)?;
        client.delete(&format!("/chapter/{}", program.slug(Kind::Chapter, 5)))?.expect_status(204)?;
    }
    let (before, own_before) = (service.export(&other.account)?, service.export(&own.account)?);
    let mut checks = Checks::default();
    let mut asked = 0;
    for question in questions(&own) {
        for format in [JSON, XML] {
            let client = client.with("accept", format);
            let expected = ask(&client, &question, UNKNOWN)?;
            asked += 1;
            for (whose, slug) in slugs(&question, &own, &other) {
                asked += 1;
                let answer = ask(&client, &question, &slug)?;
                checks.check(answer == expected, || {
                    format!(
                        "{} {} for {whose}:\n    {answer:?}\n  for an unknown slug:\n    {expected:?}",
                        question.method, question.path
                    )
                });
            }
        }
    }
    let alone = service.client(&service.key(&own.account, "read")?);
    asked += orders(&alone, &own, &mut checks)?;
    hosts(&client, &other, &mut checks)?;
    checks.check(service.export(&other.account)? == before, || "the other account has changed".to_owned());
    checks.check(service.export(&own.account)? == own_before, || "a question has changed the account".to_owned());
    Ok(checks.verdict(&format!("{asked} requests compared in both formats")))
}

/// Every operation that takes a slug, in the path, in the body and in a filter, plain and with what could tell more.
fn questions(own: &Program) -> Vec<Question> {
    let plain =
        |method, path: &str, kind, body| Question { method, path: path.to_owned(), body, kind, headers: vec![] };
    let entry = own.slug(Kind::Entry, 1);
    let chapter = own.slug(Kind::Chapter, 0);
    let mut questions = vec![
        plain("DELETE", "/field/@slug@", Kind::Field, None),
        plain("GET", "/field/@slug@", Kind::Field, None),
        plain("PUT", "/field/@slug@", Kind::Field, Some(json!({}))),
        plain("PUT", "/field/@slug@", Kind::Field, Some(json!({"order": 1}))),
        plain("PUT", "/field/@slug@", Kind::Field, Some(json!({"order": "first", "no such member": 1}))),
        plain("POST", "/field/@slug@/restore", Kind::Field, None),
        plain("GET", "/field?form=@slug@", Kind::Form, None),
        plain("GET", "/field?tab=@slug@&deleted=included", Kind::Tab, None),
        plain("GET", "/field?category=@slug@", Kind::Category, None),
        plain("GET", "/field?conditional=@slug@", Kind::Field, None),
        plain("GET", "/field?season=@slug@&deleted=only", Kind::Season, None),
        plain("DELETE", "/chapter/@slug@", Kind::Chapter, None),
        plain("PUT", "/chapter/@slug@", Kind::Chapter, Some(json!({}))),
        plain("PUT", "/chapter/@slug@", Kind::Chapter, Some(json!({"status": "inactive"}))),
        plain("PUT", "/chapter/@slug@", Kind::Chapter, Some(json!({"status": "sideways", "no such member": 1}))),
        plain("PUT", "/entry/@slug@/update-chapter", Kind::Entry, Some(json!({"chapter": chapter}))),
        plain("PUT", "/entry/@slug@/update-chapter", Kind::Entry, Some(json!({}))),
        plain("PUT", &format!("/entry/{entry}/update-chapter"), Kind::Chapter, Some(json!({"chapter": MARK}))),
        plain("PUT", &format!("/chapter/{chapter}"), Kind::User, Some(json!({"managers": [MARK]}))),
        plain("GET", "/season/@slug@", Kind::Season, None),
        plain("GET", "/form/@slug@", Kind::Form, None),
        plain("GET", "/round?form=@slug@&season=all&trashed=all", Kind::Form, None),
        plain("GET", "/score-set?season=@slug@&archived=all&trashed=all", Kind::Season, None),
        plain("GET", "/form?season=@slug@&archived=all&deleted=included", Kind::Season, None),
        plain("GET", "/order?season=@slug@", Kind::Season, None),
        plain("GET", "/order?season=@slug@&deleted=included&test=only", Kind::Season, None),
    ];
    let language = own.languages.first().copied().unwrap_or_default();
    let field = |tab: &str, member: &str, value: Value| {
        let body = json!({"type": "text", "tab": tab, "translated": {"title": {language: "Why"}}, member: value});
        Some(body)
    };
    let tab = own.slug(Kind::Tab, 1);
    let condition = json!({"field": MARK, "operator": "answered"});
    questions.extend([
        plain("POST", "/field", Kind::Tab, field(MARK, "order", json!(1))),
        plain("POST", "/field", Kind::Form, field(&tab, "form", json!(MARK))),
        plain("POST", "/field", Kind::Category, field(&tab, "categories", json!([MARK]))),
        plain("POST", "/field", Kind::Field, field(&tab, "conditional", condition)),
    ]);
    questions.extend(of_entries(own));
    // A slug of another kind is as unknown as any.
    questions.push(plain("DELETE", "/field/@slug@", Kind::Entry, None));
    questions.push(plain("DELETE", "/chapter/@slug@", Kind::Category, None));
    for tag in ["*", "\"a tag\""] {
        for (method, path, kind, body) in [
            ("DELETE", "/field/@slug@", Kind::Field, None),
            ("DELETE", "/chapter/@slug@", Kind::Chapter, None),
            ("PUT", "/chapter/@slug@", Kind::Chapter, Some(json!({}))),
            ("PUT", "/entry/@slug@/update-chapter", Kind::Entry, Some(json!({"chapter": chapter}))),
        ] {
            let headers = vec![("if-match", tag), ("x-api-language", "all")];
            questions.push(Question { headers, ..plain(method, path, kind, body) });
        }
    }
    questions
}

/// The operations of entries, and what a body names.
fn of_entries(own: &Program) -> Vec<Question> {
    let plain =
        |method, path: &str, kind, body| Question { method, path: path.to_owned(), body, kind, headers: vec![] };
    let entry = own.slug(Kind::Entry, 1);
    let mut questions = vec![
        plain("GET", "/entry/@slug@", Kind::Entry, None),
        plain("PUT", "/entry/@slug@", Kind::Entry, Some(json!({}))),
        plain("PUT", "/entry/@slug@", Kind::Entry, Some(json!({"title": "", "no such member": 1}))),
        plain("DELETE", "/entry/@slug@", Kind::Entry, None),
        plain("POST", "/entry/@slug@/restore", Kind::Entry, None),
        plain("POST", "/entry/@slug@/copy", Kind::Entry, None),
        plain("PUT", "/entry/@slug@/tag/a,b", Kind::Entry, None),
        plain("DELETE", "/entry/@slug@/tag/a", Kind::Entry, None),
        plain("PUT", "/entry/@slug@/update-title", Kind::Entry, Some(json!({"title": "x"}))),
        plain("PUT", "/entry/@slug@/update-category", Kind::Entry, Some(json!({"category": "x"}))),
        plain("PUT", &format!("/entry/{entry}/update-field/@slug@"), Kind::Field, Some(json!({"value": "x"}))),
        plain("PUT", &format!("/entry/{entry}/update-category"), Kind::Category, Some(json!({"category": MARK}))),
        plain("PUT", &format!("/entry/{entry}"), Kind::User, Some(json!({"entrant": MARK}))),
    ];
    for (member, kind) in [
        ("category", Kind::Category),
        ("entrant", Kind::User),
        ("season", Kind::Season),
        ("chapter", Kind::Chapter),
        ("form", Kind::Form),
    ] {
        let mut body = json!({
            "category": own.slug(Kind::Category, 0), "entrant": own.slug(Kind::User, 0),
            "season": own.slug(Kind::Season, 0), "title": "New",
        });
        body[member] = json!(MARK);
        questions.push(plain("POST", "/entry", kind, Some(body)));
    }
    questions
}

/// The slugs that must look unknown: all sorts of the other account's, and the account's own in the trash.
fn slugs(question: &Question, own: &Program, other: &Program) -> Vec<(&'static str, String)> {
    let mut slugs: Vec<_> =
        (0..2).map(|position| ("the other account's", other.slug(question.kind, position))).collect();
    let trashed = match question.kind {
        Kind::Field => Some(field::SPARE),
        Kind::Chapter => Some(5),
        _ => None,
    };
    if let Some(position) = trashed {
        slugs.push(("the other account's trash", other.slug(question.kind, position)));
        // As a target in a body, a trashed chapter of one's own may be named as what it is.
        if question.path.contains(MARK) && !question.path.ends_with("/restore") && !question.path.contains('?') {
            slugs.push(("the own trash", own.slug(question.kind, position)));
        }
    }
    let is_of_another_kind = matches!(
        (question.kind, question.path.as_str()),
        (Kind::Entry, "/field/@slug@") | (Kind::Category, "/chapter/@slug@")
    );
    if is_of_another_kind {
        slugs.push(("another kind of the own", own.slug(question.kind, 0)));
    }
    slugs
}

/// Status, headers and body of an answer without what may differ.
type Told = (u16, Vec<(String, String)>, String);

/// The answer with all that may differ taken out: the slug that was asked for, the time, and the count of requests.
fn ask(client: &Client, question: &Question, slug: &str) -> Result<Told> {
    let path = question.path.replace(MARK, slug);
    let body = question.body.as_ref().map(|body| body.to_string().replace(MARK, slug));
    let mut headers = question.headers.clone();
    if body.is_some() {
        headers.push(("content-type", "application/json"));
    }
    let Answer { status, headers, body } =
        client.send(question.method, &path, &headers, body.as_deref().map(str::as_bytes))?;
    ensure!(status < 500 && status != 429, "{} {path} was answered {status}", question.method);
    // Whether the connection is kept is about the connection (RFC 9110, section 7.6.1).
    let headers = headers.into_iter().filter(|(name, _)| name != "connection");
    let told = headers.map(|(name, value)| match name.as_str() {
        "x-request-id" | "date" | "x-ratelimit-remaining" | "x-ratelimit-reset" => (name, String::new()),
        // The tag of a page covers its addresses, which repeat the question.
        "etag" if question.path.contains('?') => (name, String::new()),
        _ => (name, value.replace(slug, MARK)),
    });
    Ok((status, told.collect(), String::from_utf8_lossy(&body).replace(slug, MARK)))
}

/// No list shows a record of another account; returns how many pages were read.
fn orders(client: &Client, own: &Program, checks: &mut Checks) -> Result<usize> {
    let expected: usize = usize::try_from(own.orders)?;
    let (mut found, mut page) = (0, 1);
    loop {
        let path = format!("/order?season=all&deleted=included&per_page=7&page={page}");
        let shown = client.get(&path)?.expect_status(200)?.json()?;
        let orders = shown["data"].as_array().cloned().unwrap_or_default();
        if orders.is_empty() {
            break;
        }
        for order in &orders {
            let slug = order["slug"].as_str().unwrap_or_default();
            checks.check(slug.chars().nth(1) == Some(own.letter), || format!("the list shows {slug}"));
        }
        found += orders.len();
        page += 1;
    }
    checks.check(found == expected, || format!("{found} orders are listed, {expected} were imported"));
    Ok(page)
}

/// The other account's host name refuses this account's key as it refuses a key that nobody has.
fn hosts(client: &Client, other: &Program, checks: &mut Checks) -> Result<()> {
    let Some(host) = other.hosts.first() else { return Ok(()) };
    let client = client.with("host", host);
    let question =
        Question { method: "GET", path: "/order".to_owned(), body: None, kind: Kind::Order, headers: vec![] };
    let known = ask(&client, &question, UNKNOWN)?;
    let unknown = ask(&client.with("x-api-key", "nobody-has-this-key"), &question, UNKNOWN)?;
    checks.check(known.0 == 403, || format!("a key was answered {} at another account's host name", known.0));
    checks.check(known.2 == unknown.2, || format!("403 tells causes apart: {} and {}", known.2, unknown.2));
    Ok(())
}
