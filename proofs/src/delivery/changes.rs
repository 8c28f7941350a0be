//! Writers who change entries and note what they were told, so that it is known what has to be delivered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::json;

use crate::service::{Answer, Client, Kind, Program};

/// How long a change may be refused by a service that is down or starts.
const PATIENCE: Duration = Duration::from_mins(2);
/// The pause before what was not acknowledged is asked for again.
const PAUSE: Duration = Duration::from_millis(20);
/// Every so many changes of an entry one moves it to another chapter.
const MOVES_EVERY: u32 = 4;

/// A change that was acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// Its number.
    pub(crate) sequence: i64,
    /// The entry.
    pub(crate) slug: String,
    /// The title that the entry had by then.
    pub(crate) title: String,
    /// The events that it caused.
    pub(crate) events: &'static [&'static str],
    /// When it was acknowledged.
    pub(crate) at: Instant,
}

/// What is written.
pub(crate) struct Writing<'p> {
    /// A client of each node; a writer who is not answered by one goes to the next.
    pub(crate) clients: Vec<Client>,
    /// The account.
    pub(crate) program: &'p Program,
    /// Writers, each with entries of its own.
    pub(crate) writers: u32,
    /// Changes in all.
    pub(crate) changes: u32,
    /// Changes a second in all; none for as many as it goes.
    pub(crate) rate: Option<u32>,
    /// Whether entries are also moved, which is two events.
    pub(crate) moves: bool,
    /// What stands before the number in every title, so that no title is there already.
    pub(crate) titles: &'static str,
}

impl Writing<'_> {
    /// Makes the changes, until it is told to stop.
    pub(crate) fn write(&self, stop: &AtomicBool) -> Result<Vec<Change>> {
        thread::scope(|scope| {
            let writers: Vec<_> = (0..self.writers).map(|writer| scope.spawn(move || self.by(writer, stop))).collect();
            let mut changes = Vec::new();
            for writer in writers {
                changes.extend(writer.join().map_err(|_| anyhow!("a writer panicked"))??);
            }
            changes.sort_unstable_by_key(|change| change.sequence);
            Ok(changes)
        })
    }

    /// The changes of one writer, who changes its entries in turn.
    fn by(&self, writer: u32, stop: &AtomicBool) -> Result<Vec<Change>> {
        let clients: Vec<Client> = self.clients.iter().map(Client::apart).collect();
        let mut node = usize::try_from(writer)? % clients.len();
        let share = self.changes / self.writers + u32::from(writer < self.changes % self.writers);
        let pause = self.rate.map_or(Duration::ZERO, |rate| Duration::from_secs(1) * self.writers / rate);
        let mut due = Instant::now() + pause * writer / self.writers;
        let positions: Vec<u32> = (writer..self.program.entries).step_by(usize::try_from(self.writers)?).collect();
        let mut titles = vec![String::new(); positions.len()];
        let mut changes: Vec<Change> = Vec::new();
        if positions.is_empty() {
            bail!("there are fewer entries than writers");
        }
        for round in 0.. {
            for (position, title) in positions.iter().zip(&mut titles) {
                if changes.len() >= usize::try_from(share)? || stop.load(Ordering::SeqCst) {
                    return Ok(changes);
                }
                thread::sleep(due.saturating_duration_since(Instant::now()));
                due += pause;
                let slug = self.program.slug(Kind::Entry, *position);
                let is_move = self.moves && round % MOVES_EVERY == MOVES_EVERY - 1;
                let (path, body, events): (_, _, &[&str]) = if is_move {
                    let chapter =
                        self.program.slug(Kind::Chapter, (round / MOVES_EVERY + position) % self.program.chapters);
                    ("update-chapter", json!({"chapter": chapter}), &["entry_updated", "entry_chapter_changed"])
                } else {
                    *title = format!("{}{round}", self.titles);
                    ("update-title", json!({"title": title}), &["entry_updated"])
                };
                let answer =
                    persist(&clients, &mut node, |client| client.put(&format!("/entry/{slug}/{path}"), &body))?;
                let (sequence, at) = (revision(&answer)?, Instant::now());
                // The import puts every entry into some chapter, so the first move may ask for the one that it is in.
                if changes.iter().rev().take(positions.len()).any(|before| before.sequence == sequence) {
                    continue;
                }
                changes.push(Change { sequence, slug, title: title.clone(), events, at });
            }
        }
        Ok(changes)
    }
}

/// Asks for something that is done once however often it is asked for, until one of the nodes answers 200.
fn persist(clients: &[Client], node: &mut usize, ask: impl Fn(&Client) -> Result<Answer>) -> Result<Answer> {
    let begun = Instant::now();
    loop {
        match ask(&clients[*node]) {
            // A node that ends takes no more.
            Ok(answer) if answer.status != 503 => return answer.expect_status(200),
            refused if begun.elapsed() > PATIENCE => return refused.context("nobody answers any more"),
            _ => {
                *node = (*node + 1) % clients.len();
                thread::sleep(PAUSE);
            }
        }
    }
}

/// The number of the change that an entry is as of.
fn revision(answer: &Answer) -> Result<i64> {
    let tag = answer.header("etag").context("the entry has no ETag")?;
    tag.trim_matches('"').split('.').next().unwrap_or_default().parse().context("the ETag names no change")
}
