//! The same answers in JSON and in XML, read back by a parser that is not ours and compared member by member.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::{Map, Value, json};

use super::service::{Answer, Checks, Client, HOSTILE_NAMES, JSON, Kind, Program, Service, XML, field, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// XML is the same tree as JSON.
pub(crate) const PROOF: Proof = Proof {
    name: "xml",
    claim: "Every member of every answer in JSON is in the answer in XML, as a second parser reads it, whatever the data.",
    run: |context| on_each_engine(context, show),
};

/// Reads both answers back and compares them.
const COMPARISON: &str = "proofs/src/compare_xml.py";

/// Where answers are kept, under numbers, until they are compared.
struct Answers<'proof> {
    directory: &'proof Path,
    json: Client,
    xml: Client,
    kept: u32,
    checks: Checks,
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let python = context.python()?;
    let (entries, orders) = if context.short { (60, 60) } else { (2_000, 2_000) };
    let program = Program { hostile: true, entries, orders, detail_every: 2, ..Program::small(11) };
    let limited = Program { rate_limit: 1, ..Program::second(12) };
    let service = Service::with(context, engine, &[&program, &limited])?;
    let directory = context.scratch()?;
    let client = service.client(&service.key(&program.account, "read_write")?);
    let xml = client.with("accept", XML);
    let mut answers = Answers { directory: directory.path(), json: client, xml, kept: 0, checks: Checks::default() };

    records(&mut answers, &program)?;
    lists(&mut answers)?;
    errors(&mut answers, &program)?;
    answers.both("401", |client| client.without("x-api-key").get("/order"))?;
    let limited = service.key(&limited.account, "read")?;
    answers.json.with("x-api-key", &limited).get("/order")?.expect_status(200)?;
    answers.both("429", |client| client.with("x-api-key", &limited).get("/order"))?;
    maintenance(&mut answers, &service)?;

    let mut command = Command::new(python);
    let output = command.arg(context.root.join(COMPARISON)).arg(directory.path()).output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let figure = printed.lines().last().unwrap_or_default().to_owned();
    ensure!(!figure.is_empty(), "the comparison failed: {}", String::from_utf8_lossy(&output.stderr));
    answers.checks.check(output.status.success(), || printed);
    Ok(answers.checks.verdict(&figure))
}

/// Every entry and chapter, in one language and in all, before and after a field is trashed.
fn records(answers: &mut Answers, program: &Program) -> Result<()> {
    for round in 0..2 {
        for position in 0..program.entries {
            let path = format!("/entry/{}/update-chapter", program.slug(Kind::Entry, position));
            let body = json!({"chapter": program.slug(Kind::Chapter, position % program.chapters)});
            // The first answer in JSON is the one to the change; the one in XML finds it done.
            let language = if round == 0 { "all" } else { "de_DE" };
            answers.both("entry", |client| client.with("x-api-language", language).put(&path, &body))?;
        }
        for position in 0..=program.chapters {
            let path = format!("/chapter/{}", program.slug(Kind::Chapter, position));
            answers.both("chapter", |client| client.put(&path, &json!({})))?;
            answers.both("chapter-all", |client| client.with("x-api-language", "all").put(&path, &json!({})))?;
        }
        if round == 0 {
            let trashed = format!("/field/{}", program.slug(Kind::Field, field::TEXTAREA));
            answers.json.delete(&trashed)?.expect_status(204)?;
        }
    }
    // A name with a NUL is refused.
    let chapter = format!("/chapter/{}", program.slug(Kind::Chapter, 1));
    answers.both("422-nul", |client| client.put(&chapter, &json!({"translated": {"name": {"en_GB": "a\0b"}}})))?;
    let (first, second) = (field::SPARE, field::SPARE + 1);
    for (client, position) in [(&answers.json, first), (&answers.xml, second)] {
        let answer = client.delete(&format!("/field/{}", program.slug(Kind::Field, position)))?.expect_status(204)?;
        answers.checks.check(answer.body.is_empty(), || format!("204 with a body: {}", answer.text()));
    }
    Ok(())
}

fn lists(answers: &mut Answers) -> Result<()> {
    for path in [
        "/order",
        "/order?per_page=100",
        "/order?per_page=7&page=2&order=total&dir=asc",
        "/order?per_page=100&page=99",
        "/order?deleted=only",
        "/order?status=paid&season=all&test=hide",
        "/order?status=awaiting_payment&deleted=included&per_page=50",
    ] {
        answers.both("orders", |client| client.get(path))?;
        answers.both("orders-all", |client| client.with("x-api-language", "all").get(path))?;
    }
    Ok(())
}

/// Every sort of refusal, with names and values that a writer of XML may stumble over.
fn errors(answers: &mut Answers, program: &Program) -> Result<()> {
    let chapter = format!("/chapter/{}", program.slug(Kind::Chapter, 0));
    let entry = format!("/entry/{}/update-chapter", program.slug(Kind::Entry, 0));
    let archived = format!("/entry/{}/update-chapter", program.slug(Kind::Entry, program.entries));
    let target = json!({"chapter": program.slug(Kind::Chapter, 0)});
    let members: Map<String, Value> = HOSTILE_NAMES.iter().map(|name| ((*name).to_owned(), json!(1))).collect();
    let members = Value::Object(members);
    for (name, path, body) in [
        ("422-members", &chapter, members.clone()),
        ("422-locales", &chapter, json!({"translated": {"name": members}})),
        ("422-translated", &chapter, json!({"translated": members})),
        ("422-values", &chapter, json!({"status": "<a> & ]]>", "managers": ["x"], "max_image_width": "1"})),
        ("422-chapter", &entry, json!({"chapter": "]]><x/>"})),
        ("422-missing", &entry, json!({})),
        ("422-unknown", &entry, json!({"chapter": "ZzZzZzZz"})),
        ("422-state", &archived, target),
    ] {
        answers.both(name, |client| client.put(path, &body))?;
    }
    for (name, path) in [
        ("400-filter-names", "/order?a%20b=1&%3Cx%3E=2&1x=3"),
        ("400-filter-values", "/order?status=%3Cnope%3E&test=maybe&deleted=a%26b&season=short"),
        ("400-page", "/order?page=0"),
        ("400-per-page", "/order?per_page=101"),
        ("400-dir", "/order?dir=sideways"),
        ("404-path", "/nowhere/%3Cx%3E"),
    ] {
        answers.both(name, |client| client.get(path))?;
    }
    answers.both("400-slug", |client| client.delete("/field/%3Cx%3E"))?;
    answers.both("400-language", |client| client.with("x-api-language", "<x>").get("/order"))?;
    answers.both("404", |client| client.delete("/field/ZzZzZzZz"))?;
    answers.both("405", |client| client.delete("/order"))?;
    answers.both("412", |client| client.put_if(&chapter, &json!({}), Some("\"another\"")))?;
    for (name, body) in
        [("400-empty", ""), ("400-json", "{\"a\":"), ("400-double", "{\"a\":1,\"a\":2}"), ("400-list", "[]")]
    {
        let headers = [("content-type", "application/json")];
        answers.both(name, |client| client.send("PUT", &chapter, &headers, Some(body.as_bytes())))?;
    }
    Ok(())
}

fn maintenance(answers: &mut Answers, service: &Service) -> Result<()> {
    service.run(&["maintenance", "on", "Back soon: \"<a> & ]]>\" \u{1f600}"])?.succeeded()?;
    for _ in 0..200 {
        if answers.json.get("/order")?.status == 503 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    answers.both("503", |client| client.get("/order"))?;
    service.run(&["maintenance", "off"])?.succeeded().map(drop)
}

impl Answers<'_> {
    /// Asks in JSON, then in XML, and keeps both answers if they have bodies.
    fn both(&mut self, name: &str, ask: impl Fn(&Client) -> Result<Answer>) -> Result<()> {
        let (json, xml) = (ask(&self.json)?, ask(&self.xml)?);
        self.checks.check(json.status == xml.status && json.status < 500 || name == "503", || {
            format!("{name}: {} in JSON, {} in XML: {}", json.status, xml.status, xml.text())
        });
        let expected = name.split('-').next().and_then(|status| status.parse().ok()).unwrap_or(200);
        self.checks.check(json.status == expected, || format!("{name}: {}: {}", json.status, json.text()));
        for (answer, format) in [(&json, JSON), (&xml, XML)] {
            self.checks.check(answer.header("content-type") == Some(format), || {
                format!("{name}: Content-Type is {:?}", answer.header("content-type"))
            });
        }
        self.kept += 1;
        fs::write(self.directory.join(format!("{:05}-{name}.json", self.kept)), &json.body)?;
        fs::write(self.directory.join(format!("{:05}-{name}.xml", self.kept)), &xml.body)?;
        Ok(())
    }
}
