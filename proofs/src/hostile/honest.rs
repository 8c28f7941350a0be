//! The honest client: it changes entries and reads them back, over connections that it keeps and over new ones, and knows what
//! was acknowledged.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::service::{Answer, Client, Kind, Program};

/// How long the client thinks between two turns.
const PAUSE: Duration = Duration::from_millis(10);
/// Every so many turns it comes over a new connection.
const ANEW_EVERY: u64 = 4;

/// The honest client.
pub(super) struct Honest {
    client: Client,
    entries: Vec<String>,
    turns: u64,
    /// The title of each entry that was acknowledged last.
    titles: BTreeMap<String, String>,
}

/// What the client was served meanwhile.
#[derive(Default)]
pub(super) struct Served {
    latencies: Vec<Duration>,
    failures: Vec<String>,
}

impl Honest {
    pub(super) fn new(client: Client, program: &Program) -> Self {
        let entries = (0..program.entries).map(|position| program.slug(Kind::Entry, position)).collect();
        Self { client, entries, turns: 0, titles: BTreeMap::new() }
    }

    /// Works until a time.
    pub(super) fn serve(&mut self, until: Instant) -> Served {
        let mut served = Served::default();
        while Instant::now() < until {
            if let Err(error) = self.turn(&mut served) {
                served.failures.push(format!("{error:#}"));
            }
            thread::sleep(PAUSE);
        }
        served.latencies.sort_unstable();
        served
    }

    /// Is served over a new connection.
    pub(super) fn anew(&self) -> Result<()> {
        self.client.apart().get("/entry?per_page=1")?.expect_status(200).map(drop)
    }

    /// The entries of an export that have not the title that was acknowledged.
    pub(super) fn lost(&self, export: &[u8]) -> Result<Vec<String>> {
        let mut found = BTreeMap::new();
        for line in export.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let record: Value = serde_json::from_slice(line)?;
            if let (Some("entry"), Some(slug), Some(title)) =
                (record["kind"].as_str(), record["slug"].as_str(), record["title"].as_str())
            {
                found.insert(slug.to_owned(), title.to_owned());
            }
        }
        Ok(self
            .titles
            .iter()
            .filter(|(slug, title)| found.get(*slug) != Some(title))
            .map(|(slug, _)| slug.clone())
            .collect())
    }

    /// One change, its reading back, and a list.
    fn turn(&mut self, served: &mut Served) -> Result<()> {
        self.turns += 1;
        if self.turns.is_multiple_of(ANEW_EVERY) {
            self.client = self.client.apart();
        }
        let slug = &self.entries[usize::try_from(self.turns)? % self.entries.len()];
        let title = format!("Title {}", self.turns);
        let client = &self.client;
        // What is not answered may have been done or not.
        self.titles.remove(slug);
        let changed = served.time(|| client.put(&format!("/entry/{slug}/update-title"), &json!({"title": title})))?;
        changed.expect_status(200)?;
        self.titles.insert(slug.clone(), title.clone());
        let read = served.time(|| client.get(&format!("/entry/{slug}")))?.expect_status(200)?.json()?;
        if read["title"] != title.as_str() {
            bail!("the title {title} was acknowledged, {} is shown", read["title"]);
        }
        let page = served.time(|| client.get("/entry?per_page=10"))?.expect_status(200)?.json()?;
        let shown = page["data"].as_array().context("a page without data")?.len();
        if shown != 10 {
            bail!("a page of 10 has {shown} entries");
        }
        Ok(())
    }
}

impl Served {
    fn time(&mut self, ask: impl FnOnce() -> Result<Answer>) -> Result<Answer> {
        let begun = Instant::now();
        let answer = ask();
        self.latencies.push(begun.elapsed());
        answer
    }

    pub(super) fn answers(&self) -> usize {
        self.latencies.len()
    }

    pub(super) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// The time within which so many of a hundred answers came.
    pub(super) fn percentile(&self, percent: usize) -> Duration {
        let position = (self.latencies.len() * percent).div_ceil(100).saturating_sub(1);
        self.latencies.get(position).copied().unwrap_or_default()
    }
}
