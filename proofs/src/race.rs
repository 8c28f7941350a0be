//! Concurrent changes of one record: none is lost, neither under `If-Match` nor where each changes a member of its own.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::service::{Checks, Client, Kind, Program, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// Concurrent changes of one record lose none.
pub(crate) const PROOF: Proof = Proof {
    name: "race",
    claim: "400 concurrent read-modify-writes of one record lose none, and 400 plain writes all stand in the log.",
    run: |context| on_each_engine(context, show),
};

/// How many changes there are of each sort, and how many of them are under way at the same time.
#[derive(Clone, Copy)]
struct Scale {
    changes: u32,
    threads: u32,
}

const WHOLE: Scale = Scale { changes: 400, threads: 32 };
const SHORT: Scale = Scale { changes: 100, threads: 8 };

/// Languages enough that concurrent plain writes meet in few members.
const LANGUAGES: &[&str] = &[
    "en_GB", "ar_AR", "bg_BG", "ca_ES", "cs_CZ", "cy_GB", "da_DK", "de_DE", "el_GR", "et_EE", "fi_FI", "fr_FR",
    "he_IL", "hr_HR", "hu_HU", "it_IT", "ja_JP", "ko_KR", "lt_LT", "nl_NL", "nb_NO", "pl_PL", "pt_BR", "ro_RO",
    "sv_SE",
];

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let scale = if context.short { SHORT } else { WHOLE };
    let changes = scale.changes;
    let languages = LANGUAGES.to_vec();
    let program = Program { languages, users: changes, entries: 1, orders: 0, ..Program::small(4) };
    let mut service = Service::with(context, engine, &[&program])?;
    let client = service.client(&service.key(&program.account, "read_write")?);
    let mut checks = Checks::default();

    let path = format!("/chapter/{}", program.slug(Kind::Chapter, 0));
    let begun = Instant::now();
    let refused = read_modify_write(&client, &path, &program, scale)?;
    let seconds = begun.elapsed().as_secs_f64();
    let managers = managers(&client.put(&path, &json!({}))?.expect_status(200)?.json()?)?;
    for change in 0..changes {
        let mark = program.slug(Kind::User, change);
        let found = managers.iter().filter(|manager| **manager == mark).count();
        checks.check(found == 1, || format!("the mark of change {change} is there {found} times"));
    }
    println!("  {}: {changes} read-modify-writes in {seconds:.1} s, {refused} refused with 412", engine.name());
    checks.check(refused > 0, || "no change met another one, so nothing was shown".to_owned());

    let path = format!("/chapter/{}", program.slug(Kind::Chapter, 1));
    plain_writes(&client, &path, scale)?;
    let shown = client.with("x-api-language", "all").put(&path, &json!({}))?.expect_status(200)?.json()?;
    for (position, language) in (0..).zip(LANGUAGES) {
        let value = shown["name"][*language].as_str().unwrap_or_default();
        let writers = (0..changes).filter(|change| member_of(*change) == position).map(plain_value);
        checks.check(writers.into_iter().any(|written| written == value), || {
            format!("name.{language} is {value:?}, which none of its writers wrote last")
        });
    }

    service.kill()?;
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || format!("doctor: {} {}", doctor.last_line(), doctor.stderr));
    println!("  {}: doctor: {}", engine.name(), doctor.last_line());
    Ok(checks.verdict(&format!("{changes} of {changes} kept over {refused} refusals")))
}

/// Every change reads the list of managers, appends a person of its own and writes the list back if nobody was faster;
/// returns how often one was.
fn read_modify_write(client: &Client, path: &str, program: &Program, scale: Scale) -> Result<usize> {
    let refused = AtomicUsize::new(0);
    on_threads(client, scale, |client, change| {
        loop {
            let shown = client.put(path, &json!({}))?.expect_status(200)?;
            let tag = shown.header("etag").context("the chapter has no ETag")?.to_owned();
            let mut managers = managers(&shown.json()?)?;
            managers.push(program.slug(Kind::User, change));
            let answer = client.put_if(path, &json!({"managers": managers}), Some(&tag))?;
            match answer.status {
                200 => return Ok(()),
                412 => refused.fetch_add(1, Ordering::Relaxed),
                other => bail!("If-Match was answered {other}: {}", answer.text()),
            };
        }
    })?;
    Ok(refused.into_inner())
}

/// The slugs of the managers that a chapter shows.
fn managers(chapter: &Value) -> Result<Vec<String>> {
    let managers = chapter["managers"].as_array().context("the chapter shows no managers")?;
    Ok(managers.iter().filter_map(|manager| manager["slug"].as_str()).map(str::to_owned).collect())
}

/// Every change sets one language of the name without looking.
fn plain_writes(client: &Client, path: &str, scale: Scale) -> Result<()> {
    on_threads(client, scale, |client, change| {
        let language = LANGUAGES.get(usize::try_from(member_of(change))?).context("there is no such language")?;
        let body = json!({"translated": {"name": {*language: plain_value(change)}}});
        client.put(path, &body)?.expect_status(200).map(drop)
    })
}

/// Carries out every change once, each thread over a connection of its own.
fn on_threads(client: &Client, scale: Scale, change: impl Fn(&Client, u32) -> Result<()> + Sync) -> Result<()> {
    let Scale { changes, threads } = scale;
    let next = AtomicU32::new(0);
    thread::scope(|scope| {
        let work = || {
            let client = client.apart();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= changes {
                    return Ok(());
                }
                change(&client, number)?;
            }
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?)
    })
}

fn member_of(change: u32) -> u32 {
    change % u32::try_from(LANGUAGES.len()).unwrap_or(1)
}

fn plain_value(change: u32) -> String {
    format!("change {change}")
}
