//! `restore-safe`: a backup that is damaged changes nothing, and one that is not is restored whole.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::service::{Checks, Program, Random, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "restore-safe",
    claim: "A backup with a byte flipped, cut or swapped is refused with nothing changed, or restored whole, with --force \
            and without.",
    run: |context| on_each_engine(context, show),
};

/// Everything that a restore can change: the exports of all accounts, and the stored files.
#[derive(PartialEq, Eq)]
struct State {
    exports: Vec<Vec<u8>>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

/// That of an installation with nothing in it.
const EMPTY: State = State { exports: Vec::new(), files: BTreeMap::new() };

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let rounds = if context.short { 12 } else { 1_000 };
    let mut checks = Checks::default();
    let mut random = Random::new(11);
    let first = Program { entries: 8, detail_every: 1, orders: 6, ..Program::small(1) };
    let second = Program { entries: 4, detail_every: 2, orders: 2, ..Program::second(2) };
    let service = Service::new(context, engine)?;
    let accounts = [&*first.account, &*second.account];
    let path = |name: &str| service.directory().join(name);
    let (wanted, held, damaged) = (path("wanted.backup"), path("held.backup"), path("damaged.backup"));

    service.import(&first)?;
    backup(&service, &wanted)?;
    let whole = state(&service, &accounts[..1])?;
    service.import(&Program { entries: 9, seed: 3, ..first.clone() })?;
    service.import(&second)?;
    backup(&service, &held)?;
    let before = state(&service, &accounts)?;
    checks.check(!before.files.is_empty() && !whole.files.is_empty(), || "there are no files to damage".to_owned());

    let bytes = fs::read(&wanted)?;
    let (mut refused, mut restored) = (0, 0);
    let mut fresh = Service::new(context, engine)?;
    for round in 0..rounds {
        let what = damage(&bytes, &damaged, &mut random)?;
        let name = damaged.to_string_lossy().into_owned();
        // Over what is there with --force, and into an empty installation without.
        let is_forced = round % 2 == 0;
        let target = if is_forced { &service } else { &fresh };
        let arguments = if is_forced { vec!["restore", "--force", &name] } else { vec!["restore", &name] };
        let outcome = target.run(&arguments)?;
        if outcome.code == Some(0) {
            restored += 1;
            let after = state(target, &accounts[..1])?;
            checks.check(after.exports == whole.exports, || format!("{what}: restored, and not whole"));
            let bytes: Vec<_> = after.files.values().collect();
            let are_there = whole.files.values().all(|file| bytes.contains(&file));
            checks.check(are_there, || format!("{what}: restored without its files"));
            if is_forced {
                restore(&service, &held)?;
            } else {
                fresh = Service::new(context, engine)?;
            }
            continue;
        }
        refused += 1;
        let is_told = outcome.code == Some(1) && outcome.stderr.starts_with("plaudit: ");
        checks.check(is_told, || format!("{what}: ended with {:?}: {}", outcome.code, outcome.stderr));
        let expected = if is_forced { &before } else { &EMPTY };
        let now = state(target, if is_forced { &accounts } else { &[] })?;
        checks.check(now == *expected, || format!("{what}: refused, and something has changed"));
    }
    checks.check(refused > 0, || "no damage was noticed".to_owned());
    restore(&service, &wanted)?;
    checks.check(state(&service, &accounts[..1])?.exports == whole.exports, || {
        "a good backup is not restored".to_owned()
    });
    let doctor = service.run(&["doctor", "--files"])?;
    checks.check(doctor.code == Some(0), || format!("doctor: {}", doctor.last_line()));
    flipped_file(&service, &mut checks)?;
    Ok(checks.verdict(&format!("{rounds} damaged backups: {refused} refused, {restored} restored whole")))
}

fn backup(service: &Service, file: &Path) -> Result<()> {
    service.run(&["backup", &file.to_string_lossy()])?.succeeded().map(drop)
}

fn restore(service: &Service, file: &Path) -> Result<()> {
    service.run(&["restore", "--force", &file.to_string_lossy()])?.succeeded().map(drop)
}

fn state(service: &Service, accounts: &[&str]) -> Result<State> {
    let listed = service.run(&["account", "list", "--output", "json"])?;
    // Without a database nothing is printed.
    if accounts.is_empty() && ![&b""[..], b"[]\n"].contains(&&*listed.stdout) {
        bail!("there are accounts: {}", String::from_utf8_lossy(&listed.stdout));
    }
    let exports = accounts.iter().map(|account| service.export(account)).collect::<Result<_>>()?;
    let mut files = BTreeMap::new();
    gather(&service.directory().join("plaudit-files"), &mut files)?;
    Ok(State { exports, files })
}

fn gather(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(&path, files)?;
        } else {
            files.insert(path.clone(), fs::read(&path)?);
        }
    }
    Ok(())
}

/// Writes a backup with one kind of damage, and says which.
fn damage(bytes: &[u8], to: &Path, random: &mut Random) -> Result<String> {
    let mut bytes = bytes.to_vec();
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let at = random.below(length) as usize;
    let what = match random.below(3) {
        0 => {
            bytes[at] ^= 1 << random.below(8);
            format!("a bit of byte {at} flipped")
        }
        1 => {
            bytes.truncate(at);
            format!("cut after byte {at}")
        }
        _ => {
            let other = random.below(length) as usize;
            bytes.swap(at, other);
            format!("bytes {at} and {other} swapped")
        }
    };
    fs::write(to, bytes)?;
    Ok(what)
}

/// The doctor whose word was taken does find a byte of a stored file that is another one.
fn flipped_file(service: &Service, checks: &mut Checks) -> Result<()> {
    let mut files = BTreeMap::new();
    gather(&service.directory().join("plaudit-files"), &mut files)?;
    let Some((file, mut bytes)) = files.pop_first() else { return Ok(()) };
    bytes[0] ^= 1;
    fs::write(&file, bytes)?;
    let doctor = service.run(&["doctor", "--files"])?;
    checks.check(doctor.code == Some(1), || "the doctor overlooks a byte of a stored file".to_owned());
    Ok(())
}
