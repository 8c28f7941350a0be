//! A service with the demonstration program that makes documents.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::service::{Client, Service};
use crate::{Context, Engine};

/// The account of the demonstration program.
pub(super) const ACCOUNT: &str = "DemoAwds";
/// How long a job may take.
const PATIENCE: Duration = Duration::from_mins(10);
/// How often is asked how far it is.
const PAUSE: Duration = Duration::from_millis(50);

/// A running service, and a client of a manager.
pub(super) struct Maker {
    pub(super) service: Service,
    pub(super) client: Client,
}

impl Maker {
    /// A service on an engine, with the demonstration program and a typesetter.
    pub(super) fn begin(context: &Context, engine: Engine) -> Result<Self> {
        let typesetter = context.typesetter()?;
        let mut service = Service::new(context, engine)?;
        service.set("PLAUDIT_DOCUMENTS_TYPESETTER", &typesetter.to_string_lossy());
        let file = service.directory().join("demo.jsonl");
        let program = fs::read_to_string(context.root.join("crates/plaudit/src/cli/demo.jsonl"))?;
        fs::write(&file, program.replacen("\"rate_limit\":60", "\"rate_limit\":1000000000", 1))?;
        service.import_file(&file)?.succeeded()?;
        let key = service.key(ACCOUNT, "read_write")?;
        service.start()?;
        let client = service.client(&key);
        Ok(Self { service, client })
    }

    /// Adds document templates, each of an entry, by their slugs and texts.
    pub(super) fn add(&self, templates: &[(&str, &str)]) -> Result<()> {
        let line = |(slug, body): &(&str, &str)| {
            json!({
                "kind": "document_template", "slug": slug, "name": { "en_GB": slug }, "resource": "entry",
                "file_types": ["PDF", "Word", "accessible-pdf"], "body": { "en_GB": body },
            })
            .to_string()
        };
        let file = self.service.directory().join("templates.jsonl");
        fs::write(&file, templates.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        self.service.run(&["import", &file.to_string_lossy(), "--account", ACCOUNT])?.succeeded().map(drop)
    }

    /// Begins a job, and gives where it is told of.
    pub(super) fn begin_job(&self, body: &Value) -> Result<String> {
        let begun = self.client.post("/document", body)?.expect_status(202)?;
        let location = begun.header("location").context("a job without a Location")?;
        Ok(location.strip_prefix(&self.service.base()).unwrap_or(location).to_owned())
    }

    /// Makes documents, and gives the job when it has ended.
    pub(super) fn make(&self, body: &Value) -> Result<Value> {
        self.ended(&self.begin_job(body)?)
    }

    /// Makes a document of an entry by a template.
    pub(super) fn of_entry(&self, template: &str, file_type: &str) -> Result<Value> {
        self.make(&request(template, file_type, &["EnHarbor"]))
    }

    /// A job when it has ended.
    pub(super) fn ended(&self, job: &str) -> Result<Value> {
        let begun = Instant::now();
        loop {
            let shown = self.client.get(job)?.expect_status(200)?.json()?;
            if !["queued", "running"].contains(&shown["state"].as_str().unwrap_or_default()) {
                return Ok(shown);
            }
            if begun.elapsed() > PATIENCE {
                bail!("a job does not end: {shown}");
            }
            thread::sleep(PAUSE);
        }
    }

    /// The name and the bytes of the file of a document.
    pub(super) fn download(&self, document: &str) -> Result<(String, Vec<u8>)> {
        let shown = self.client.get(&format!("/document/{document}"))?.expect_status(200)?.json()?;
        let address = shown["file"]["download"].as_str().context("a document without a download")?;
        let path = address.strip_prefix(&self.service.base()).unwrap_or(address);
        let bytes = self.service.bare().get(path)?.expect_status(200)?.body;
        Ok((shown["file"]["name"].as_str().unwrap_or_default().to_owned(), bytes))
    }

    /// An assignment of a judge that has a score.
    pub(super) fn assignment_of(&self, judge: &str) -> Result<String> {
        let page = self.client.get(&format!("/assignment?judge={judge}&per_page=100"))?.expect_status(200)?.json()?;
        let of = page["data"].as_array().into_iter().flatten().find(|found| found["status"] == "complete");
        Ok(of.and_then(|found| found["slug"].as_str()).context("the judge has given no score")?.to_owned())
    }
}

/// A body that makes documents of entries.
pub(super) fn request(template: &str, file_type: &str, selected: &[&str]) -> Value {
    json!({
        "translated": { "name": { "en_GB": "Document" } }, "template": template, "fileType": file_type, "shared": false,
        "resource": "entry", "selected": selected,
    })
}
