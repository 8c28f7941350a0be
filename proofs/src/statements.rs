//! The statements that lists are read with: few texts, whatever is asked.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;

use anyhow::{Result, bail};

use super::lists::ask::Ask;
use super::lists::made::{self, Size};
use super::lists::model::{LISTS, List};
use super::service::{Checks, Random, Service};
use super::{Context, Engine, Proof, Verdict};

/// Lists need few prepared statements.
pub(crate) const PROOF: Proof = Proof {
    name: "statements",
    claim: "10,000 different requests for lists leave at most 100 prepared statements on any connection to PostgreSQL.",
    run: show,
};

/// The bar.
const MOST: usize = 100;

/// PostgreSQL itself writes down what is prepared on which connection.
const TELL: &str = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET log_min_duration_statement = 0', \
                    current_database()); END $$";

fn show(context: &Context) -> Result<Verdict> {
    if !context.engines().contains(&Engine::Postgres) {
        return Ok(Verdict::new(true, "only PostgreSQL has connections with prepared statements"));
    }
    let requests = if context.short { 300 } else { 10_000 };
    let (mut checks, mut random) = (Checks::default(), Random::new(5));
    let size = Size { users: 20, entries: 90, orders: 60 };
    let (lines, world) = made::population(made::ACCOUNT, size, &mut random);
    let mut service = Service::new(context, Engine::Postgres)?;
    let file = service.directory().join("account.jsonl");
    fs::write(&file, made::written(&lines))?;
    service.import_file(&file)?.succeeded()?;
    let key = service.key(made::ACCOUNT, "read")?;
    service.tamper(context, TELL)?;
    let begun = context.postgres()?.written()?.len();
    service.start()?;
    let client = service.client(&key);
    client.get("/season")?.expect_status(200)?;
    let without = prepared(&context.postgres()?.written()?[begun..]);
    let mut asked = HashSet::new();
    while asked.len() < requests {
        let list: &List = made::pick::<&List>(&LISTS, &mut random);
        let mut ask = Ask::random(list, &world, &mut random);
        ask.per_page = 1 + random.below(100) as usize;
        let path = ask.path();
        if asked.insert(path.clone()) {
            client.get(&path)?.expect_status(200)?;
        }
    }
    service.stop()?;
    let prepared = prepared(&context.postgres()?.written()?[begun..]);
    let texts: BTreeSet<&String> = prepared.values().flat_map(BTreeMap::values).collect();
    let most = prepared.values().map(BTreeMap::len).max().unwrap_or_default();
    if most < 5 {
        bail!("PostgreSQL did not write down what was prepared");
    }
    let outside = without.values().map(BTreeMap::len).sum::<usize>();
    println!(
        "  {} connections, {} different texts, at most {most} on one; {outside} before the first list",
        prepared.len(),
        texts.len()
    );
    checks.check(most <= MOST, || format!("{most} prepared statements on one connection"));
    if most > MOST {
        for text in &texts {
            println!("    {}", text.chars().take(160).collect::<String>());
        }
    }
    Ok(checks.verdict(&format!("{requests} requests, at most {most} prepared statements on a connection")))
}

/// The statements that were prepared on each connection, by name; those without one last for no longer than a request.
fn prepared(log: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut prepared = BTreeMap::<String, BTreeMap<String, String>>::new();
    for line in log.lines() {
        let told = line.split_once("  parse ").and_then(|(before, rest)| {
            let process = before.split_once('[')?.1.split_once(']')?.0;
            let (name, text) = rest.split_once(": ")?;
            (name != "<unnamed>").then_some((process, name, text))
        });
        if let Some((process, name, text)) = told {
            prepared.entry(process.to_owned()).or_default().insert(name.to_owned(), text.to_owned());
        }
    }
    prepared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_prepared_is_read_from_the_log() {
        let log = "2026-01-01 00:00:00.000 UTC [7] LOG:  duration: 0.1 ms  parse s1: SELECT 1\n\
                   2026-01-01 00:00:00.000 UTC [7] LOG:  duration: 0.1 ms  bind s1: SELECT 1\n\
                   2026-01-01 00:00:00.000 UTC [7] LOG:  duration: 0.1 ms  parse <unnamed>: SELECT 2\n\
                   2026-01-01 00:00:00.000 UTC [8] LOG:  duration: 0.1 ms  parse s1: SELECT 3\n";
        let prepared = prepared(log);
        assert_eq!(prepared["7"], BTreeMap::from([("s1".to_owned(), "SELECT 1".to_owned())]));
        assert_eq!(prepared["8"].len(), 1);
    }
}
