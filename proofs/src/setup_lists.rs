//! The lists of the set-up, cell by cell of the contract's table, against a model that reads the program file.

use std::fs;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::service::{Checks, Client, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

mod model;

use model::{LISTS, List, Setup};

/// Every filter, pair of filters and sort of a list of the set-up shows what it is defined to.
pub(crate) const PROOF: Proof = Proof {
    name: "setup-lists",
    claim: "Every filter, every pair of filters and every sort of the lists of the set-up shows what it is defined to.",
    run: |context| on_each_engine(context, show),
};

/// Whole, every pair of filters is asked for; the short form asks for one of so many.
const ONE_PAIR_OF: usize = 11;

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let (size, one_pair_of) = if context.short { (1, ONE_PAIR_OF) } else { (4, 1) };
    let mut checks = Checks::default();
    let mut asked = 0;
    let seeds: &[u64] = if context.short { &[1] } else { &[1, 2, 3] };
    for seed in seeds {
        let setup = Setup::new(*seed, size);
        let mut service = Service::new(context, engine)?;
        let file = service.directory().join("setup.jsonl");
        fs::write(&file, setup.lines())?;
        service.import_file(&file)?.succeeded()?;
        service.start()?;
        let client = service.client(&service.key(setup.account, "read")?);
        for list in LISTS {
            let of_list = ask(&client, &setup, list, one_pair_of, &mut checks)?;
            println!("  {}, seed {seed}, {}: {of_list} requests", engine.name(), list.path);
            asked += of_list;
        }
        account(&client, &setup, &mut checks)?;
    }
    Ok(checks.verdict(&format!("{} lists, {asked} requests", LISTS.len())))
}

/// Asks every question about a list; returns how many requests that took.
fn ask(client: &Client, setup: &Setup, list: &List, one_pair_of: usize, checks: &mut Checks) -> Result<usize> {
    let mut asked = 0;
    for question in setup.questions(list, one_pair_of) {
        let mut walk = question.walk();
        while let Some(path) = walk.next() {
            let answer = client.get(path)?;
            if answer.status >= 500 {
                bail!("{path} was answered {}", answer.status);
            }
            walk.take(answer.status, &answer.json()?);
            asked += 1;
        }
        let judged = walk.judge();
        checks.check(judged.is_ok(), || judged.err().unwrap_or_default());
    }
    for refusal in model::refusals(list) {
        let answer = client.get(&refusal.path)?;
        let judged = refusal.judge(answer.status, &answer.json()?);
        checks.check(judged.is_ok(), || judged.err().unwrap_or_default());
        asked += 1;
    }
    Ok(asked)
}

/// The account, which is no list, shows what its record says.
fn account(client: &Client, setup: &Setup, checks: &mut Checks) -> Result<()> {
    let record = setup.record_of_account();
    let codes = record["languages"].as_array().cloned().unwrap_or_default();
    let languages: Vec<Value> = codes.iter().map(|code| json!({"code": code})).collect();
    let expected = json!({
        "created": record["created"], "domains": record["domains"], "global_id": record["global_id"],
        "languages": languages, "name": record["name"], "owner": null, "product": record["product"], "region": "eu",
        "slug": record["slug"], "timezone": record["timezone"], "updated": record["updated"],
    });
    let mut shown = client.get("/account")?.expect_status(200)?.json()?;
    // The region is the deployment's.
    checks.check(shown["region"].as_str().is_some_and(|region| region.len() == 2), || format!("no region: {shown}"));
    shown["region"] = expected["region"].clone();
    checks.check(shown == expected, || format!("the account shows {shown} and not {expected}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_records_share_a_slug_and_a_seed_makes_the_same_account() {
        let setup = Setup::new(1, 4);
        let lines = setup.lines();
        assert_eq!(lines, Setup::new(1, 4).lines());
        assert_ne!(lines, Setup::new(2, 4).lines());
        let slugs: Vec<String> = lines
            .lines()
            .filter_map(|line| {
                let record: Value = serde_json::from_str(line).unwrap();
                record["slug"].as_str().map(str::to_owned)
            })
            .collect();
        assert!(slugs.iter().all(|slug| slug.len() == 8 && slug.bytes().all(|letter| letter.is_ascii_alphabetic())));
        assert_eq!(slugs.iter().collect::<HashSet<_>>().len(), slugs.len());
    }

    #[test]
    fn a_wrong_answer_is_noticed() {
        let setup = Setup::new(1, 1);
        let question = &setup.questions(&LISTS[0], 1)[0];
        let mut walk = question.walk();
        assert!(walk.next().is_some());
        walk.take(200, &json!({"data": [], "total": 0, "current_page": 1, "from": null, "to": null}));
        assert!(walk.judge().is_err());
        let refusal = &model::refusals(&LISTS[0])[0];
        assert!(refusal.judge(200, &json!({})).is_err());
        let right = json!({"message": "x", "status_code": 400, "errors": {"invalid_filter_names": "colour"}});
        assert!(refusal.judge(400, &right).is_ok());
        assert!(refusal.judge(400, &json!({"message": "x", "status_code": 400})).is_err());
    }
}
