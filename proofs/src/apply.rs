//! A program file says what an account is set up as: applied again it changes nothing, and elsewhere it makes the same.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::service::{Checks, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// Applying a file twice changes nothing the second time; its export makes the same set-up elsewhere.
pub(crate) const PROOF: Proof = Proof {
    name: "apply",
    claim: "Applied twice a file changes nothing the second time; its export makes the same set-up on an empty database; \
            a fault or a dry run changes nothing.",
    run,
};

/// The shipped examples, with their accounts.
const EXAMPLES: [(&str, &str); 2] = [("design-award.yaml", "MeridAwd"), ("scholarship.yaml", "FirstSte")];

fn run(context: &Context) -> Result<Verdict> {
    on_each_engine(context, show)
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let mut checks = Checks::default();
    let service = Service::new(context, engine)?;
    let mut steps = 0;
    for (file, account) in EXAMPLES {
        let text = fs::read_to_string(context.root.join("examples").join(file))?;
        let path = write(&service, file, &text)?;
        let planned = apply(&service, &path, &["--dry-run"])?;
        checks.check(planned.0 == Some(0), || format!("{file}: a dry run ended with {:?}", planned.0));
        // Before the first account there is no embedded database either.
        let listed = service.run(&["account", "list"])?.stdout;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        checks.check(!listed.contains(account), || format!("{file}: a dry run has made the account"));
        let applied = apply(&service, &path, &[])?;
        checks.check(applied.0 == Some(0), || format!("{file}: {}", applied.2));
        steps += applied.1.iter().filter(|line| line.starts_with('+')).count();
        let plan = |lines: &[String]| lines.iter().filter(|line| !line.contains(account)).cloned().collect::<Vec<_>>();
        checks.check(plan(&planned.1) == plan(&applied.1), || format!("{file}: the plan was another one"));

        let head = head(&service, context, account)?;
        let again = apply(&service, &path, &[])?;
        checks
            .check(again.1.len() == 1 && again.1[0].starts_with("nothing to do"), || format!("{file}: {:?}", again.1));
        checks.check(self::head(&service, context, account)? == head, || format!("{file}: the second time was logged"));

        let export = service.run(&["export", account, "--set-up"])?.succeeded()?.stdout;
        fault(&service, context, (file, account), &text, (&head, &export), &mut checks)?;
        elsewhere(context, engine, (file, account), &export, &mut checks)?;
    }
    Ok(checks.verdict(&format!("{steps} records applied, none of them twice")))
}

/// A file with a fault, and a dry run of one with a change, change nothing.
fn fault(
    service: &Service,
    context: &Context,
    (file, account): (&str, &str),
    text: &str,
    (before, export): (&str, &[u8]),
    checks: &mut Checks,
) -> Result<()> {
    let line = text.lines().position(|line| line.contains("status: active")).unwrap_or_default() + 1;
    let faulty = text.replace("status: active", "status: actve").replace("type: judge", "type: judgement");
    let refused = apply(service, &write(service, "faulty.yaml", &faulty)?, &[])?;
    checks.check(refused.0 == Some(1), || format!("{file}: a fault ended with {:?}", refused.0));
    let told = format!("faulty.yaml:{line}:5: season ");
    checks.check(refused.2.contains(&told) && refused.2.contains(": type: "), || format!("{file}: {}", refused.2));
    let changed =
        text.replace("en_GB: Certificate", "en_GB: Diploma").replace("en_GB: Letter of award", "en_GB: Letter");
    let planned = apply(service, &write(service, "changed.yaml", &changed)?, &["--dry-run"])?;
    checks.check(planned.1.iter().any(|line| line.starts_with("~ document_template")), || {
        format!("{file}: {:?}", planned.1)
    });
    checks.check(head(service, context, account)? == before, || format!("{file}: the log has moved"));
    let now = service.run(&["export", account, "--set-up"])?.succeeded()?.stdout;
    checks.check(now == export, || format!("{file}: what must change nothing has changed the set-up"));
    Ok(())
}

/// The export makes the same set-up on an empty database, to the byte.
fn elsewhere(
    context: &Context,
    engine: Engine,
    (file, account): (&str, &str),
    export: &[u8],
    checks: &mut Checks,
) -> Result<()> {
    let other = Service::new(context, engine)?;
    let path = other.directory().join("set-up.jsonl");
    fs::write(&path, export)?;
    let applied = apply(&other, &path, &[])?;
    checks.check(applied.0 == Some(0), || format!("{file}: its export: {}", applied.2));
    let again = other.run(&["export", account, "--set-up"])?.succeeded()?.stdout;
    checks.check(again == export, || format!("{file}: its export made another set-up"));
    Ok(())
}

fn write(service: &Service, name: &str, text: &str) -> Result<PathBuf> {
    let path = service.directory().join(name);
    fs::write(&path, text)?;
    Ok(path)
}

/// The exit code, the lines of standard output, and standard error.
fn apply(service: &Service, file: &Path, options: &[&str]) -> Result<(Option<i32>, Vec<String>, String)> {
    let file = file.to_string_lossy().into_owned();
    let arguments = [&["apply", &file], options].concat();
    let finished = service.run(&arguments)?;
    let lines = String::from_utf8_lossy(&finished.stdout).lines().map(str::to_owned).collect();
    Ok((finished.code, lines, finished.stderr))
}

/// How many changes the account's log has, and the program's version.
fn head(service: &Service, context: &Context, account: &str) -> Result<String> {
    let sql = format!("SELECT sequence || ' ' || version FROM accounts WHERE slug = '{account}'");
    service.ask(context, &sql)
}
