//! `bundle`: a published result is the same bytes wherever it is made, and a forged one is named.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Map, Value, json};

use super::service::{Checks, Client, Finished, Kind, NO_LIMIT, Program, Random, Service};
use super::{Context, Engine, Proof, Verdict};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "bundle",
    claim: "A result bundle is the same bytes from both engines and from processes with different numbers of threads, and \
            verify-result names every forgery, those that are consistent and signed by another key too.",
    run,
};

const ENTRIES: u32 = 24;
/// The judges of every entry: the people from the second on.
pub(crate) const JUDGES: u32 = 6;
/// The score sets that are published, of every mode and with every way to count.
pub(crate) const SETS: [&str; 6] = ["ScorePoi", "ScoreTri", "ScoreQua", "ScoreStv", "ScoreKem", "ScoreVot"];

fn run(context: &Context) -> Result<Verdict> {
    let forgeries = if context.short { 100 } else { 1_000 };
    let (mut checks, mut random) = (Checks::default(), Random::new(17));
    let (service, key, public) = prepared(context, &mut random)?;
    let backup = service.directory().join("plaudit.backup");
    let backup = backup.to_string_lossy();
    service.run(&["backup", &backup])?.succeeded()?;

    let mut bundles = Vec::new();
    for set in SETS {
        let mut made: Option<(String, String)> = None;
        for engine in context.engines() {
            for core in [None, Some(0)] {
                let mut there = Service::new(context, engine)?;
                there.run(&["restore", &backup])?.succeeded()?;
                if let Some(core) = core {
                    there.keep_to_core(core);
                }
                there.start()?;
                let bundle = published(&there.client(&key), set)?;
                let threads = if core.is_some() { "one thread" } else { "a thread for each core" };
                let name = format!("{} with {threads}", engine.name());
                match &made {
                    Some((first, wanted)) => {
                        checks.check(bundle == *wanted, || format!("{set}: {name} makes another bundle than {first}"));
                    }
                    None => made = Some((name, bundle)),
                }
            }
        }
        let (_, bundle) = made.context("there is no engine")?;
        let verified = verify(&service, bundle.as_bytes(), Some(&public))?;
        checks.check(verified.code == Some(0), || format!("{set}: {}", verified.stderr.trim()));
        bundles.push(bundle);
    }

    let bytes: usize = bundles.iter().map(String::len).sum();
    println!("  {} bundles of {bytes} bytes in all are the same everywhere", bundles.len());
    let consistent =
        consistent(context, (&backup, &key, &public), &bundles, (forgeries / 5, &mut random), &mut checks)?;
    let mut named = 0;
    for _ in consistent..forgeries {
        let bundle = &bundles[random.below(6) as usize];
        named += usize::from(forged(&service, bundle, &public, &mut random, &mut checks)?);
    }
    let total = named + consistent;
    checks.check(total == forgeries, || format!("{total} of {forgeries} forgeries are named"));
    Ok(checks.verdict(&format!(
        "{} bundles are the same bytes on {} engines, {total} of {forgeries} forgeries are named, {consistent} of them consistent",
        bundles.len(),
        context.engines().len()
    )))
}

/// An installation with sheets in every mode, a key of its account, and the key that verifies its results.
fn prepared(context: &Context, random: &mut Random) -> Result<(Service, String, String)> {
    let program =
        Program { entries: ENTRIES, detail_every: 0, orders: 0, users: 40, rate_limit: NO_LIMIT, ..Program::small(5) };
    let service = Service::new(context, Engine::Sqlite)?;
    service.import(&program)?;
    let path = service.directory().join("judging.jsonl");
    fs::write(&path, judging(&program, random))?;
    service.run(&["import", &path.to_string_lossy(), "--account", &program.account])?.succeeded()?;
    let key = service.key(&program.account, "read_write")?;
    let public = String::from_utf8(service.run(&["key", "public"])?.succeeded()?.stdout)?.trim().to_owned();
    Ok((service, key, public))
}

/// Score sets, criteria and sheets, as lines of a file.
pub(crate) fn judging(program: &Program, random: &mut Random) -> String {
    let (season, form) = (program.slug(Kind::Season, 0), program.slug(Kind::Form, 0));
    let name = json!({"en_GB": "Name"});
    let set = |slug: &str, mode: &str, rules: Value, tie_break: Value| {
        json!({"kind": "score_set", "slug": slug, "season": season, "form": form, "name": name, "mode": mode, (mode): rules,
            "min_judges": 2, "tie_break": tie_break})
    };
    let steps = json!([{"by": "criterion", "criterion": "CritBoth"}, {"by": "median"}, {"by": "first_places"}, {"by": "head_to_head"}]);
    let mut records = vec![
        json!({"kind": "round", "slug": "RoundJud", "season": season, "form": form, "name": name, "type": "judge"}),
        set("ScorePoi", "vip_judging", json!({}), steps),
        set(
            "ScoreTri",
            "vip_judging",
            json!({"aggregation": "mean", "sheets": "renormalise", "trim": 12.5}),
            json!([]),
        ),
        set("ScoreQua", "qualifying", json!({"responses_needed": 2, "share": 60}), json!([])),
        set("ScoreStv", "top_pick", json!({"preferences": 4, "winners": 3}), json!([])),
        set("ScoreKem", "top_pick", json!({"preferences": 4, "method": "schulze"}), json!([])),
        set("ScoreVot", "voting", json!({}), json!([])),
        json!({"kind": "criterion", "slug": "CritOnly", "score_set": "ScorePoi", "name": name, "maximum": 5, "step": 0.5}),
        json!({"kind": "criterion", "slug": "CritBoth", "score_set": "ScorePoi", "name": name, "maximum": 3, "weight": 2}),
        json!({"kind": "criterion", "slug": "CritThis", "score_set": "ScoreTri", "name": name, "maximum": 7, "weight": 3}),
        json!({"kind": "criterion", "slug": "CritThat", "score_set": "ScoreTri", "name": name, "maximum": 4}),
    ];
    for judge in 1..=JUDGES {
        // The entries in an order of the judge's own.
        let mut order: Vec<u32> = (0..program.entries).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(u32::try_from(at).unwrap_or_default() + 1) as usize);
        }
        for (place, entry) in (1..).zip(&order) {
            for slug in SETS {
                let mut sheet = json!({"kind": "assignment", "entry": program.slug(Kind::Entry, *entry),
                    "judge": program.slug(Kind::User, judge), "score_set": slug, "rounds": ["RoundJud"]});
                let half = |random: &mut Random, most: u32| f64::from(random.below(2 * most + 1)) / 2.0;
                match slug {
                    "ScorePoi" => {
                        sheet["scores"] = json!([{"criterion": "CritOnly", "value": half(random, 5)},
                            {"criterion": "CritBoth", "value": random.below(4)}]);
                    }
                    "ScoreTri" if random.below(4) == 0 => {
                        sheet["scores"] = json!([{"criterion": "CritThis", "value": random.below(8)}]);
                    }
                    "ScoreTri" => {
                        sheet["scores"] = json!([{"criterion": "CritThis", "value": random.below(8)},
                            {"criterion": "CritThat", "value": random.below(5)}]);
                    }
                    "ScoreQua" => sheet["decision"] = json!(["pass", "fail", "unsure"][random.below(3) as usize]),
                    "ScoreVot" => sheet["votes"] = json!(random.below(4)),
                    _ if place <= 4 => sheet["preference"] = json!(place),
                    _ => continue,
                }
                records.push(sheet);
            }
        }
    }
    records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// Publishes a score set and gives the bundle.
fn published(client: &Client, set: &str) -> Result<String> {
    let made = client.post("/leaderboard/publish", &json!({"score_set": set}))?.expect_status(201)?;
    let slug = made.json()?["slug"].as_str().context("the publication has no slug")?.to_owned();
    let bundle = client.get(&format!("/leaderboard/publication/{slug}/bundle"))?.expect_status(200)?;
    Ok(String::from_utf8(bundle.body)?)
}

fn verify(service: &Service, bundle: &[u8], key: Option<&str>) -> Result<Finished> {
    let path = service.directory().join("bundle.json");
    fs::write(&path, bundle)?;
    verify_file(service, &path, key)
}

fn verify_file(service: &Service, path: &Path, key: Option<&str>) -> Result<Finished> {
    let path = path.to_string_lossy();
    let mut arguments = vec!["verify-result", &*path];
    arguments.extend(key.iter().flat_map(|key| ["--key", *key]));
    service.run(&arguments)
}

/// The text that is signed: a bundle is canonical, so that it is what stands between these.
fn content(bundle: &str) -> Result<&str> {
    let content = bundle.strip_prefix("{\"bundle\":").and_then(|rest| rest.rsplit_once(",\"signature\":{"));
    content.map(|(content, _)| content).context("the bundle is not as it must be")
}

/// Signs a text by a key of the forger.
fn signed(content: &str, random: &mut Random) -> Result<String> {
    let seed: Vec<u8> = (0..32).map(|_| u8::try_from(random.below(256)).unwrap_or_default()).collect();
    let Ok(key) = Ed25519KeyPair::from_seed_unchecked(&seed) else { bail!("a seed is refused") };
    let digit = |half: u8| char::from_digit(u32::from(half), 16);
    let hex =
        |bytes: &[u8]| -> String { bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(digit).collect() };
    let (public, value) = (hex(key.public_key().as_ref()), hex(key.sign(content.as_bytes()).as_ref()));
    Ok(format!(
        "{{\"bundle\":{content},\"signature\":{{\"algorithm\":\"Ed25519\",\"public_key\":\"{public}\",\"value\":\"{value}\"}}}}"
    ))
}

/// Forgeries that follow from their sheets: sheets are changed in a copy of the installation, whose result is given the place in the
/// change log of the true one, and signed again by another key. Only that key tells; gives how many are named.
fn consistent(
    context: &Context,
    (backup, key, public): (&str, &str, &str),
    bundles: &[String],
    (count, random): (usize, &mut Random),
    checks: &mut Checks,
) -> Result<usize> {
    let mut copy = Service::new(context, Engine::Sqlite)?;
    copy.run(&["restore", backup])?.succeeded()?;
    copy.start()?;
    let client = copy.client(key);
    let sheets = client.get("/assignment?score_set=ScorePoi&per_page=100")?.expect_status(200)?.json()?;
    let sheets = sheets["data"].as_array().context("there are no sheets")?;
    let bundle = content(&bundles[0])?;
    let head = |content: &str| -> Result<String> { Ok(serde_json::from_str::<Value>(content)?["head"].to_string()) };
    let mut named = 0;
    for _ in 0..count {
        let sheet = &sheets[random.below(u32::try_from(sheets.len()).unwrap_or_default()) as usize]["slug"];
        let path = format!("/assignment/{}/score", sheet.as_str().unwrap_or_default());
        let points = json!({"CritOnly": f64::from(random.below(11)) / 2.0, "CritBoth": random.below(4)});
        client.put(&path, &json!({ "criteria": points }))?.expect_status(200)?;
        let made = published(&client, "ScorePoi")?;
        let made = content(&made)?;
        let forged = signed(&made.replacen(&head(made)?, &head(bundle)?, 1), random)?;
        let alone = verify(&copy, forged.as_bytes(), None)?;
        checks.check(alone.code == Some(0), || format!("a consistent forgery: {}", alone.stderr.trim()));
        let with_key = verify(&copy, forged.as_bytes(), Some(public))?;
        let is_named = with_key.code == Some(1) && with_key.stderr.contains("signature.public_key is ");
        checks.check(is_named, || format!("signed by another key: {:?} {}", with_key.code, with_key.stderr.trim()));
        named += usize::from(is_named);
    }
    Ok(named)
}

/// Makes a forgery of a bundle by one change, and sees whether it is named. Half of those of a result are signed again by another key,
/// and are verified without knowing the right one.
fn forged(service: &Service, bundle: &str, public: &str, random: &mut Random, checks: &mut Checks) -> Result<bool> {
    let mut value: Value = serde_json::from_str(bundle)?;
    let is_signed_again = random.below(3) == 0;
    let mut place = String::new();
    if is_signed_again {
        change(&mut value["bundle"]["results"], random, &mut place);
    } else {
        change(&mut value, random, &mut place);
    }
    let text = value.to_string();
    if text == bundle {
        bail!("{place} was changed into itself");
    }
    let outcome = if is_signed_again {
        verify(service, signed(content(&text)?, random)?.as_bytes(), None)?
    } else {
        verify(service, text.as_bytes(), Some(public))?
    };
    let told = outcome.stderr.trim();
    let is_named = outcome.code == Some(1)
        && if is_signed_again {
            told.starts_with("plaudit: results")
        } else {
            ["results", "signature", "inputs", "file", "form", "head", "entry", "account", "is "]
                .iter()
                .any(|word| told.contains(word))
        };
    checks.check(is_named, || format!("a change at {place}: {:?} {told}", outcome.code));
    Ok(is_named)
}

/// Changes a value somewhere within.
fn change(value: &mut Value, random: &mut Random, place: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() && random.below(30) > 0 => {
            let at = random.below(u32::try_from(members.len()).unwrap_or_default()) as usize;
            if let Some((name, value)) = members.iter_mut().nth(at) {
                place.extend([".", name]);
                change(value, random, place);
            }
        }
        Value::Array(items) if !items.is_empty() && random.below(10) > 0 => {
            let at = random.below(u32::try_from(items.len()).unwrap_or_default()) as usize;
            place.extend([".", &at.to_string()]);
            change(&mut items[at], random, place);
        }
        Value::Array(items) => {
            place.push_str(": an item more or less");
            let at = random.below(u32::try_from(items.len()).unwrap_or_default()) as usize;
            match items.get(at).cloned() {
                Some(_) if random.below(2) == 0 => drop(items.remove(at)),
                Some(item) => items.push(item),
                None => items.push(Value::from(1)),
            }
        }
        Value::Object(members) => {
            place.push_str(": a member more or less");
            change_members(members, random);
        }
        Value::Number(number) => *value = json!(number.as_i64().unwrap_or_default() + 1 + i64::from(random.below(3))),
        Value::String(text) => *value = json!(changed(text, random)),
        Value::Bool(flag) => *value = json!(!*flag),
        Value::Null => *value = json!(1),
    }
}

fn change_members(members: &mut Map<String, Value>, random: &mut Random) {
    let at = random.below(u32::try_from(members.len()).unwrap_or_default()) as usize;
    match members.keys().nth(at).cloned() {
        Some(name) if random.below(2) == 0 => drop(members.remove(&name)),
        _ => drop(members.insert("more".to_owned(), json!(1))),
    }
}

/// A text with one character that is another letter or digit.
fn changed(text: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = random.below(u32::try_from(letters.len()).unwrap_or_default()) as usize;
    let by = 1 + random.below(9);
    match letters.get_mut(at) {
        Some(letter) => {
            *letter = match *letter {
                'a'..='z' => turned(*letter, 'a', 26, by),
                'A'..='Z' => turned(*letter, 'A', 26, by),
                '0'..='9' => turned(*letter, '0', 10, by),
                _ => '1',
            }
        }
        None => letters.push('x'),
    }
    letters.into_iter().collect()
}

/// The letter so many places behind in an alphabet, which begins anew at its end.
fn turned(letter: char, first: char, count: u32, by: u32) -> char {
    char::from_u32(u32::from(first) + (u32::from(letter) - u32::from(first) + by) % count).unwrap_or(first)
}
