//! PostgreSQL by TLS: a server that demands it is reached, and one that is not who it should be is refused.

use std::fs;

use anyhow::{Context as _, Result};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};

use super::service::{Checks, Finished, Program, Service};
use super::{Context, Engine, Proof, Verdict};
use crate::postgres::Postgres;

/// Servers are verified.
pub(crate) const PROOF: Proof = Proof {
    name: "tls",
    claim: "A PostgreSQL that demands TLS is reached, also with a certificate of the client and as one of several hosts; a wrong \
            authority, an expired certificate and a wrong name are refused with a clear message.",
    run: show,
};

/// An authority with the key that it signs with.
struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?.pem();
        Ok(Self { certificate, issuer: Issuer::new(params, key) })
    }

    /// A certificate and its key, in PEM: for these names, of this common name, and good until the end of a year.
    fn signed(&self, names: &[&str], common: &str, until: i32) -> Result<(String, String)> {
        let mut params = CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())?;
        params.distinguished_name.push(DnType::CommonName, common);
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(until, 12, 31));
        let key = KeyPair::generate()?;
        Ok((params.signed_by(&key, &self.issuer)?.pem(), key.serialize_pem()))
    }
}

/// Names of the server that it is reached by.
const NAMES: [&str; 2] = ["127.0.0.1", "db.plaudit.test"];
const GOOD: i32 = 2090;
const EXPIRED: i32 = 2021;

fn show(context: &Context) -> Result<Verdict> {
    if context.engine == Some(Engine::Sqlite) {
        return Ok(Verdict::new(true, "SQLite is a file"));
    }
    let (own, other) = (Authority::new("Own")?, Authority::new("Other")?);
    let folder = context.scratch()?;
    let write = |name: &str, text: &str| -> Result<String> {
        let file = folder.path().join(name);
        fs::write(&file, text)?;
        Ok(file.display().to_string())
    };
    let (own_file, other_file) = (write("own.pem", &own.certificate)?, write("other.pem", &other.certificate)?);
    let (certificate, key) = own.signed(&[], "secured", GOOD)?;
    let client = format!("sslcert={}&sslkey={}", write("client.pem", &certificate)?, write("client.key", &key)?);

    let postgres = Postgres::start(false)?;
    for database in ["plain", "several", "secured"] {
        postgres.create(database)?;
    }
    postgres.psql("postgres", "CREATE ROLE secured LOGIN SUPERUSER")?;
    let (certificate, key) = own.signed(&NAMES, "server", GOOD)?;
    postgres.demand_tls(&certificate, &key, &own.certificate)?;
    let port = postgres.port();
    let verified = format!("sslmode=verify-full&sslrootcert={own_file}");
    let mut checks = Checks::default();

    for (url, what) in [
        (format!("postgres://postgres@127.0.0.1:{port}/plain?{verified}"), "by its address"),
        (format!("postgres://postgres@db.plaudit.test:{port}/plain?hostaddr=127.0.0.1&{verified}"), "by its name"),
        (
            format!(
                "postgres://postgres@127.0.0.1:1,127.0.0.1:{port}/several?target_session_attrs=read-write&{verified}"
            ),
            "as one of several",
        ),
        (
            format!("postgres://secured@127.0.0.1:{port}/secured?{verified}&{client}"),
            "with a certificate of the client",
        ),
    ] {
        serves(context, &postgres, &url).with_context(|| format!("the server is to be reached {what}"))?;
        println!("  reached {what}");
    }
    let named =
        |user: &str, host: &str, rest: &str| format!("postgres://{user}@{host}:{port}/plain?hostaddr=127.0.0.1&{rest}");
    let wrong_authority = format!("sslmode=verify-full&sslrootcert={other_file}");
    for (url, words) in [
        (named("postgres", NAMES[1], &wrong_authority), &["certificate", "UnknownIssuer"][..]),
        (named("postgres", NAMES[1], "sslmode=require"), &["certificate", "UnknownIssuer"]),
        (
            named("postgres", "other.plaudit.test", &verified),
            &["certificate", "not valid for name", "other.plaudit.test"],
        ),
        (named("postgres", NAMES[1], "sslmode=disable"), &["no pg_hba.conf entry", "no encryption"]),
        (named("secured", NAMES[1], &verified), &["certificate"]),
    ] {
        refuses(context, &url, words, &mut checks)?;
    }
    let (certificate, key) = own.signed(&NAMES, "server", EXPIRED)?;
    postgres.demand_tls(&certificate, &key, &own.certificate)?;
    refuses(context, &named("postgres", NAMES[1], &verified), &["certificate", "expired"], &mut checks)?;
    Ok(checks.verdict("reached in 4 ways, refused in 6"))
}

/// A service on this database answers, and every connection that it has is encrypted.
fn serves(context: &Context, postgres: &Postgres, url: &str) -> Result<()> {
    let program = Program::small(2);
    let mut service = Service::at(context, context.scratch()?, url.to_owned())?;
    service.import(&program)?;
    service.start()?;
    service.client(&service.key(&program.account, "read")?).get("/order")?.expect_status(200)?;
    let open = "SELECT count(*), count(*) FILTER (WHERE ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                WHERE application_name = 'plaudit'";
    let counted = postgres.psql("postgres", open)?;
    let (all, encrypted) = counted.trim().split_once('|').context("the server does not count its connections")?;
    anyhow::ensure!(all != "0" && all == encrypted, "{encrypted} of {all} connections are encrypted");
    service.stop()
}

fn refuses(context: &Context, url: &str, words: &[&str], checks: &mut Checks) -> Result<()> {
    let service = Service::at(context, context.scratch()?, url.to_owned())?;
    let Finished { code, stderr, .. } = service.run(&["migrate"])?;
    let is_told =
        code == Some(1) && stderr.contains("[database] url") && words.iter().all(|word| stderr.contains(word));
    checks.check(is_told, || format!("{url} ends with {code:?}, without one of {words:?}: {stderr}"));
    println!("  refused: {}", stderr.trim().rsplit(": ").next().unwrap_or_default());
    Ok(())
}
