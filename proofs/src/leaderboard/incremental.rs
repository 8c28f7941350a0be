//! Random operations on sheets, assignments and entries in every mode; then the boards are held against those of a new database, which
//! has nothing but the same sheets.

use std::fs;
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};

use crate::bundle::{JUDGES, SETS, judging};
use crate::service::{Checks, Client, Kind, Program, Random, Service};
use crate::{Context, Engine};

const ENTRIES: u32 = 60;
const WRITERS: u32 = 8;
/// Judges by role, so that what was unlinked can be linked again.
const ROLE: &str = "RoleJury";

pub(super) fn show(context: &Context, engine: Engine, checks: &mut Checks) -> Result<String> {
    let (operations, rounds) = if context.short { (400, 1) } else { (100_000, 5) };
    let program = Program { entries: ENTRIES, detail_every: 0, orders: 0, users: 40, ..Program::small(74) };
    let mut service = Service::new(context, engine)?;
    service.import(&program)?;
    let role = json!({"kind": "role", "slug": ROLE, "name": {"en_GB": "Jury"}, "type": "judge"});
    let path = service.directory().join("judging.jsonl");
    fs::write(&path, format!("{role}\n{}", judging(&program, &mut Random::new(75))))?;
    service.run(&["import", &path.to_string_lossy(), "--account", &program.account])?.succeeded()?;
    let key = service.key(&program.account, "read_write")?;
    service.start()?;
    for judge in 1..=JUDGES {
        let roles = json!({"roles": [program.slug(Kind::Role, 0), program.slug(Kind::Role, 1), ROLE]});
        service.client(&key).put(&format!("/user/{}", program.slug(Kind::User, judge)), &roles)?.expect_status(200)?;
    }

    let (mut refused, mut items) = (0, 0);
    for round in 0..rounds {
        refused += operate(&service.client(&key), &program, operations / rounds / WRITERS, round)?;
        let is = boards(&service, &key)?;
        let mut anew = Service::new(context, engine)?;
        let path = anew.directory().join("sheets.jsonl");
        fs::write(&path, service.export(&program.account)?)?;
        anew.import_file(&path)?.succeeded()?;
        anew.start()?;
        let wants = boards(&anew, &anew.key(&program.account, "read")?)?;
        items += is.len();
        checks.check(is.len() == wants.len(), || {
            format!("{} items on the boards, {} from all sheets", is.len(), wants.len())
        });
        for (is, wants) in is.iter().zip(&wants) {
            checks.check(is == wants, || format!("{is} on a board is {wants} from all sheets"));
        }
    }
    service.stop()?;
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || doctor.last_line());
    let done = operations - refused;
    checks.check(done > operations / 5, || format!("only {done} of {operations} operations were done"));
    let figure = format!("{items} items as from all sheets after {operations} operations, {done} of them done");
    println!("  {}: {figure}", engine.name());
    Ok(figure)
}

/// So many operations of each writer; gives how many were refused.
fn operate(client: &Client, program: &Program, each: u32, round: u32) -> Result<u32> {
    thread::scope(|scope| {
        let by = |writer: u32| {
            let client = client.apart();
            scope.spawn(move || -> Result<u32> {
                let mut random = Random::new(u64::from(round * WRITERS + writer + 1_000));
                let mut refused = 0;
                for _ in 0..each {
                    refused += u32::from(!operation(&client, program, &mut random)?);
                }
                Ok(refused)
            })
        };
        let writers: Vec<_> = (0..WRITERS).map(by).collect();
        writers.into_iter().map(|writer| writer.join().map_err(|_| anyhow!("a writer panicked"))?).sum()
    })
}

/// An operation by chance; whether it was done.
fn operation(client: &Client, program: &Program, random: &mut Random) -> Result<bool> {
    let entry = program.slug(Kind::Entry, random.below(ENTRIES));
    let judge = program.slug(Kind::User, 1 + random.below(JUDGES));
    let set = SETS[random.below(6) as usize];
    let sheet = format!("/assignment/{entry}{judge}{set}J");
    let of_set = json!({"judge": judge, "score_set": set});
    let reason = json!({"reason": "By chance"});
    let answer = match random.below(40) {
        0 | 1 => client.put(&format!("{sheet}/abstain"), &reason),
        2..=5 => client.post(&format!("{sheet}/reopen"), &reason),
        6 => client.post(&format!("{sheet}/conflict"), &json!({"comment": "By chance"})),
        7 => client.put(&format!("/entry/{entry}/recuse"), &of_set),
        8..=10 => client.put(&format!("/entry/{entry}/unrecuse"), &of_set),
        11 => client.delete(&sheet),
        12..=15 => client.post("/assignment", &json!({"entry": entry, "judge": judge, "score_set": set})),
        16 => client.delete(&format!("/entry/{entry}")),
        17..=19 => client.send("POST", &format!("/entry/{entry}/restore"), &[], None),
        _ => client.put(&format!("{sheet}/score"), &scores(set, random)),
    };
    let answer = answer?;
    if answer.status >= 500 {
        bail!("an operation was answered {} {}", answer.status, answer.text());
    }
    Ok(answer.status < 300)
}

/// What a judge gives in a score set.
fn scores(set: &str, random: &mut Random) -> Value {
    let mut points = |most: u32| if random.below(8) == 0 { Value::Null } else { json!(random.below(most + 1)) };
    match set {
        "ScorePoi" => json!({"criteria": {"CritOnly": points(5), "CritBoth": points(3)}}),
        "ScoreTri" => json!({"criteria": {"CritThis": points(7), "CritThat": points(4)}}),
        "ScoreQua" => json!({"decision": (["pass", "fail", "unsure"][random.below(3) as usize])}),
        "ScoreVot" => json!({"votes": random.below(4)}),
        _ => json!({"preference": (if random.below(3) == 0 { Value::Null } else { json!(1 + random.below(4)) })}),
    }
}

/// Everything on every board, in its order, with links that do not tell where the service is.
fn boards(service: &Service, key: &str) -> Result<Vec<Value>> {
    let (client, mut items) = (service.client(key), Vec::new());
    for set in SETS {
        let answer = client.get(&format!("/leaderboard?score_set={set}&per_page=100"))?.expect_status(200)?;
        let answer: Value = serde_json::from_str(&answer.text().replace(&service.base(), ""))?;
        items.extend(answer["data"].as_array().context("the board has no items")?.iter().cloned());
    }
    Ok(items)
}
