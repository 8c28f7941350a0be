//! A durable write: `PUT /entry/{slug}/update-chapter` against bare group commits, and on PostgreSQL against the bare
//! driver.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::client::{self, Client};
use crate::context::Context;
use crate::engine::{self, Engine, Filled};
use crate::listing::in_no_order;
use crate::load::{self, CONNECTIONS, Requests, float};
use crate::plaudit::{self, Server};
use crate::report::Report;
use crate::{bare, replay, wire};

/// An entry, and the chapters that it moves between.
#[derive(Debug, Hash, PartialEq, Eq)]
pub(crate) struct Move {
    slug: String,
    from: String,
    to: String,
}

/// Finds entries that may move to another chapter, spread over all of them and in no order, as people come: neighbours share pages.
pub(crate) fn moves(context: &Context, filled: &Filled, wanted: usize) -> Result<Vec<Move>> {
    let path = plaudit::export(context, &filled.url, &filled.account)?;
    let moves = read_moves(&path)?;
    fs::remove_file(&path)?;
    if moves.is_empty() {
        bail!("no entry of the filled account may move to another chapter");
    }
    let step = (moves.len() / wanted).max(1);
    let mut moves: Vec<_> = moves.into_iter().step_by(step).take(wanted).collect();
    in_no_order(&mut moves);
    Ok(moves)
}

struct Entry {
    slug: String,
    chapter: String,
    category: String,
    season: String,
}

fn read_moves(export: &Path) -> Result<Vec<Move>> {
    let mut entries = Vec::new();
    let mut closed_seasons = HashSet::new();
    let mut chapters: HashMap<String, String> = HashMap::new();
    let mut categories: HashMap<String, Vec<String>> = HashMap::new();
    for line in BufReader::new(File::open(export)?).lines() {
        let record: Value = serde_json::from_str(&line?)?;
        let text = |member: &str| record.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
        let gone = ["deleted", "trashed", "archived"]
            .iter()
            .any(|member| !matches!(record.get(*member), None | Some(Value::Null | Value::Bool(false))));
        match text("kind").as_str() {
            _ if gone => {}
            "season" if !["active", "draft"].contains(&text("status").to_ascii_lowercase().as_str()) => {
                closed_seasons.insert(text("slug"));
            }
            "chapter" if text("status").eq_ignore_ascii_case("active") => {
                chapters.insert(text("slug"), text("season"));
            }
            "category" => {
                let offered = record.get("chapters").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let offered = offered.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                categories.insert(text("slug"), offered);
            }
            "entry" => {
                let (slug, chapter) = (text("slug"), text("chapter"));
                entries.push(Entry { slug, chapter, category: text("category"), season: text("season") });
            }
            _ => {}
        }
    }
    entries.retain(|entry| !closed_seasons.contains(&entry.season));
    let possible = |entry: Entry| {
        let serves = |chapter: &str| chapters.get(chapter) == Some(&entry.season);
        // The way back has to be open as well.
        if !serves(&entry.chapter) {
            return None;
        }
        let offered = categories.get(&entry.category)?;
        let to = offered.iter().find(|chapter| **chapter != entry.chapter && serves(chapter))?;
        Some(Move { slug: entry.slug, from: entry.chapter, to: to.clone() })
    };
    Ok(entries.into_iter().filter_map(possible).collect())
}

/// Requests that move entries to another chapter and back, each of which changes something when all are sent in order and
/// again. Found by trial, because the export that tells has every order of the account as well.
pub(crate) fn by_trial(client: &mut Client, key: &str, wanted: usize) -> Result<Vec<Vec<u8>>> {
    let mut data = |path: &str| -> Result<Vec<Value>> {
        let mut envelope: Value = serde_json::from_slice(&client.ask_ok(&client::get(path, client::JSON, key))?.body)?;
        Ok(envelope.get_mut("data").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default())
    };
    let slug = |record: &Value| record.get("slug").and_then(Value::as_str).map(str::to_owned);
    let chapters: Vec<String> = data("/chapter?per_page=100")?.iter().filter_map(slug).collect();
    let entries = data("/entry?per_page=100")?;
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for entry in &entries {
        let (Some(entry), Some(from)) = (slug(entry), entry.get("chapter").and_then(slug)) else { continue };
        let request = |chapter: &str| update_chapter(&entry, chapter, key);
        for to in chapters.iter().filter(|chapter| **chapter != from) {
            if client.ask(&request(to))?.status == 200 {
                back.push(request(&from));
                there.push(request(to));
                break;
            }
        }
        if there.len() == wanted {
            break;
        }
    }
    if there.is_empty() {
        bail!("no entry of the first page may move to another chapter");
    }
    back.extend(there);
    Ok(back)
}

fn update_chapter(entry: &str, chapter: &str, key: &str) -> Vec<u8> {
    client::put(&format!("/entry/{entry}/update-chapter"), key, &format!("{{\"chapter\":\"{chapter}\"}}"))
}

/// The requests of every connection: each moves entries of its own, all of them there and then all of them back, so
/// that every request changes something however often they are repeated.
pub(crate) fn requests(moves: &[Move], key: &str, back: bool) -> Vec<Requests> {
    let request = |entry: &Move, chapter: &str| update_chapter(&entry.slug, chapter, key);
    (0..CONNECTIONS.min(moves.len()))
        .map(|connection| {
            let own = || moves.iter().skip(connection).step_by(CONNECTIONS);
            let mut requests: Vec<Vec<u8>> = own().map(|entry| request(entry, &entry.to)).collect();
            if back {
                requests.extend(own().map(|entry| request(entry, &entry.from)));
            }
            requests.into()
        })
        .collect()
}

/// The rate on SQLite against group commits of the same rows.
pub(crate) fn against_group_commits(context: &Context, report: &mut Report, filled: &Filled) -> Result<()> {
    let engine = Engine::Sqlite;
    let moves = moves(context, filled, context.written)?;
    let copy = engine.copy(context, filled, "plaudit_bench_put")?;
    let server = Server::start(context, &copy.url)?;
    let requests = requests(&moves, &copy.key, true);
    let ours = load::measure(server.address, &requests, context.duty, &server.processes(None))?;
    server.stop()?;
    report.figure("SQLite: entries that are written", float(moves.len().try_into()?), "");
    report.load("SQLite: PUT update-chapter", ours);

    // The same file, so that the rows are the ones that the server wrote.
    let bare = bare::measure(&engine::file(context, &copy.name), context.duty, context.written)?;
    engine.remove(context, &copy.name)?;
    report.figure("SQLite: bare group commits of the same rows", bare.rate, "a second");
    report.figure("SQLite: bare group commits: processor time", bare.microseconds, "us a change");
    report.figure("SQLite: processor time against bare", ours.microseconds / bare.microseconds, "");
    report.at_least("SQLite: PUT update-chapter of bare group commits", 0.65, ours.rate / bare.rate);
    Ok(())
}

/// The processor time on PostgreSQL, the database's included, against that of the bare driver.
pub(crate) fn against_the_driver(
    context: &Context,
    report: &mut Report,
    engine: &Engine,
    filled: &Filled,
) -> Result<()> {
    let postmaster = engine.postmaster()?;
    let moves = moves(context, filled, context.written)?;

    let copy = engine.copy(context, filled, "plaudit_bench_put")?;
    let server = Server::start(context, &copy.url)?;
    let measured =
        load::measure(server.address, &requests(&moves, &copy.key, true), context.duty, &server.processes(postmaster));
    server.stop()?;
    let ours = measured?;
    report.load("PostgreSQL: PUT update-chapter, with the database", ours);

    // Recorded on a fresh copy and played again on another one, where every sequence number is right again.
    let copy = engine.copy(context, filled, "plaudit_bench_put")?;
    let (url, recording) = wire::proxy(&copy.url)?;
    let server = Server::start(context, &url)?;
    wire::start(&recording);
    let sent = load::send_once(server.address, &requests(&moves, &copy.key, false));
    let units = wire::stop(&recording);
    server.stop()?;
    sent?;
    let steps = units.iter().map(Vec::len).sum::<usize>();
    report.figure("PostgreSQL: statements a change", float(steps.try_into()?) / float(moves.len().try_into()?), "");

    let copy = engine.copy(context, filled, "plaudit_bench_put")?;
    let bare = replay::write(&copy.url, &units, moves.len(), postmaster)?;
    engine.remove(context, &copy.name)?;
    report.figure("PostgreSQL: the bare driver: processor time", bare.microseconds, "us a change");
    report.figure("PostgreSQL: the bare driver: rate", bare.rate, "a second");
    let ratio = ours.microseconds / bare.microseconds;
    report.at_most("PostgreSQL: processor time, PUT update-chapter against the driver", 1.3, ratio, "");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_moves_to_a_chapter_of_its_season_that_offers_its_category() {
        let path = std::env::temp_dir().join(format!("plaudit-bench-moves-{}.jsonl", std::process::id()));
        let lines = [
            r#"{"kind":"entry","slug":"EntryAAA","chapter":"ChapterA","category":"Category","season":"SeasonAA"}"#,
            r#"{"kind":"entry","slug":"EntryBBB","chapter":"ChapterD","category":"Category","season":"SeasonBB"}"#,
            r#"{"kind":"entry","slug":"EntryCCC","chapter":"ChapterA","category":"Category","season":"SeasonAA","deleted":true}"#,
            r#"{"kind":"season","slug":"SeasonAA","status":"active"}"#,
            r#"{"kind":"season","slug":"SeasonBB","status":"archived"}"#,
            r#"{"kind":"chapter","slug":"ChapterA","season":"SeasonAA","status":"active"}"#,
            r#"{"kind":"chapter","slug":"ChapterB","season":"SeasonAA","status":"inactive"}"#,
            r#"{"kind":"chapter","slug":"ChapterC","season":"SeasonAA","status":"active"}"#,
            r#"{"kind":"chapter","slug":"ChapterD","season":"SeasonBB","status":"active"}"#,
            r#"{"kind":"category","slug":"Category","chapters":["ChapterA","ChapterB","ChapterD","ChapterC"]}"#,
        ];
        fs::write(&path, lines.join("\n")).unwrap();
        let moves = read_moves(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let expected = Move { slug: "EntryAAA".to_owned(), from: "ChapterA".to_owned(), to: "ChapterC".to_owned() };
        assert_eq!(moves, [expected]);
        let requests = requests(&moves, "key", true);
        let own: Vec<_> = requests[0].iter().collect();
        assert_eq!((requests.len(), own.len()), (1, 2));
        assert!(own[1].ends_with(b"{\"chapter\":\"ChapterA\"}"));
    }
}
