use super::*;

/// A configuration from a file, variables and arguments.
fn load(file: &str, variables: &[(&str, &str)], args: &[&str]) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    if !file.is_empty() {
        std::fs::write(folder.path().join("plaudit.toml"), file).unwrap();
    }
    let variables = variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    Config::load(&arguments(args), variables, folder.path())
}

#[derive(clap::Parser)]
struct Command {
    #[command(flatten)]
    config: ConfigArgs,
}

fn arguments(args: &[&str]) -> ConfigArgs {
    let args = std::iter::once("plaudit").chain(args.iter().copied());
    <Command as clap::Parser>::try_parse_from(args).unwrap().config
}

fn faults(file: &str, variables: &[(&str, &str)], args: &[&str]) -> Vec<String> {
    load(file, variables, args).unwrap_err().faults
}

#[test]
fn nothing_given_gives_the_defaults() {
    let config = load("", &[], &[]).unwrap();
    assert_eq!(config.server.listen, "127.0.0.1:8080");
    assert_eq!(config.server.base_url, "http://127.0.0.1:8080");
    assert_eq!(config.server.region, Region::UnitedStates);
    assert_eq!(config.server.max_body_bytes, 1024 * 1024);
    assert_eq!(config.server.trusted_proxies, []);
    assert_eq!(config.database.url.as_str(), "sqlite:./plaudit.db");
    assert_eq!(config.storage.url, "file:./plaudit-files");
    assert_eq!((config.log.format, config.log.requests), (LogFormat::Text, true));
    assert_eq!(config.metrics.listen, None);
    assert_eq!(
        config.limits,
        Limits {
            requests_per_minute: 60,
            idempotency_hours: 24,
            idempotency_megabytes: 256,
            streams: 5_000,
            streams_per_key: 1_000,
            download_minutes: 15,
            field_answer_bytes: 1 << 20,
            entry_bytes: 8 << 20,
            page_bytes: 64 << 20,
        }
    );
    assert_eq!(
        config.budgets,
        Budgets {
            answer_megabytes: 4,
            memory_megabytes: 32,
            spool_directory: None,
            spool_megabytes: 4_096,
            account_spool_megabytes: 1_024,
        }
    );
    assert_eq!(config.source("server", "listen"), Some(&Source::Default));
    assert_eq!(config.source("server", "nothing"), None);
}

#[test]
fn later_layers_win() {
    let file = "[server]\nlisten = \"[::1]:1\"\nregion = \"eu\"\nmax_connections = 1_000\n\
                [limits]\nrequests_per_minute = 120\n[log]\nrequests = false";
    let variables = [("PLAUDIT_SERVER_LISTEN", "localhost:2"), ("PLAUDIT_SERVER_REGION", " au ")];
    let config = load(file, &variables, &["--region", "ca", "--storage", "file:/files"]).unwrap();
    assert_eq!(config.server.max_connections, 1000);
    assert_eq!((config.limits.requests_per_minute, config.log.requests), (120, false));
    assert_eq!(config.server.listen, "localhost:2");
    assert_eq!(config.server.base_url, "http://localhost:2");
    assert_eq!(config.server.region, Region::Canada);
    assert_eq!(config.storage.url, "file:/files");
    let source = |section, name| config.source(section, name).unwrap().to_string();
    assert_eq!(source("server", "max_connections"), "plaudit.toml, line 4");
    assert_eq!(source("server", "listen"), "PLAUDIT_SERVER_LISTEN");
    assert_eq!(source("server", "region"), "--region");
}

#[test]
fn every_setting_is_a_variable() {
    for setting in SETTINGS {
        let text = match setting.kind {
            // The least of one setting can be too little for another.
            Kind::Whole(..) => setting.default.to_owned(),
            Kind::Flag => "false".to_owned(),
            Kind::Address | Kind::OptionalAddress => "x:1".to_owned(),
            Kind::WebAddress => "https://x/y".to_owned(),
            Kind::Networks => "10.0.0.0/8, ::1".to_owned(),
            Kind::Origins => "https://x, http://localhost:3000".to_owned(),
            Kind::Choice(names) => names[names.len() - 1].to_owned(),
            Kind::Database => "postgres://x".to_owned(),
            Kind::Storage => "file:x".to_owned(),
            Kind::Text | Kind::Secret => "x".to_owned(),
            Kind::Levels => "warn,plaudit::db=trace".to_owned(),
            Kind::Mail => "smtp://x:25".to_owned(),
            Kind::Schedule => "0s,5s".to_owned(),
        };
        let config = load("", &[(&setting.variable(), &text)], &[]).unwrap();
        let source = config.source(setting.section, setting.name).unwrap();
        assert_eq!(source.to_string(), setting.variable());
    }
}

#[test]
fn another_file_may_be_named_and_must_exist() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("other.toml"), "[server]\nregion = \"hk\"").unwrap();
    let by_option = Config::load(&arguments(&["--config", "other.toml"]), std::iter::empty(), folder.path()).unwrap();
    assert_eq!(by_option.server.region, Region::HongKong);
    let variable = [("PLAUDIT_CONFIG".to_owned(), "other.toml".to_owned())];
    let by_variable = Config::load(&arguments(&[]), variable.into_iter(), folder.path()).unwrap();
    assert_eq!(by_variable.source("server", "region").unwrap().to_string(), "other.toml, line 2");
    let missing = Config::load(&arguments(&["--config", "none.toml"]), std::iter::empty(), folder.path());
    assert!(missing.unwrap_err().to_string().starts_with("none.toml: "));
}

#[test]
fn all_faults_are_named_with_place_and_what_is_allowed() {
    let file = "[server]\nlisten = 8080\nlisen = \"x\"\nidle_timeout_seconds = 0\n\n[sever]\n";
    let found = faults(file, &[("PLAUDIT_LOG_FORMAT", "xml"), ("PLAUDIT_LOG_COLOUR", "1")], &["--region", "mars"]);
    let expected = [
        "plaudit.toml, line 4: [server] idle_timeout_seconds = 0: allowed is a whole number from 1 to 86400",
        "plaudit.toml, line 3: [server] lisen: no such setting; there are listen, base_url, ",
        "plaudit.toml, line 2: [server] listen: allowed is HOST:PORT",
        "plaudit.toml, line 6: [sever]: no such section; there are server, database, ",
        "environment, PLAUDIT_LOG_COLOUR: [log] colour: no such setting; there are level, format, requests",
        "environment, PLAUDIT_LOG_FORMAT: [log] format = \"xml\": allowed is one of text, json",
        "command line, --region: [server] region = \"mars\": allowed is one of us, eu, au, ca, hk",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
    assert_eq!(
        faults("log = 1", &[], &[])[0],
        "plaudit.toml, line 1: [log]: allowed is a section, with level, format, requests"
    );
}

#[test]
fn a_replaced_value_is_checked_too() {
    assert_eq!(faults("[server]\nregion = \"mars\"", &[], &["--region", "us"]).len(), 1);
}

#[test]
fn settings_that_leave_no_room_for_what_others_allow_are_faults_that_name_both() {
    for (variable, text, other) in [
        ("LIMITS_ENTRY_BYTES", "1048575", "[limits] field_answer_bytes = 1048576 (default), which is 1048576"),
        ("LIMITS_PAGE_BYTES", "8388607", "[limits] entry_bytes = 8388608 (default), which is 8388608"),
        ("BUDGETS_MEMORY_MEGABYTES", "7", "2 times [budgets] answer_megabytes = 4 (default), which is 8388608"),
        (
            "BUDGETS_SPOOL_MEGABYTES",
            "2047",
            "2 times [budgets] account_spool_megabytes = 1024 (default), which is 2147483648",
        ),
        (
            "BUDGETS_ACCOUNT_SPOOL_MEGABYTES",
            "767",
            "3 times [server] max_upload_bytes = 268435456 (default), which is 805306368",
        ),
    ] {
        let variable = format!("PLAUDIT_{variable}");
        let (section, name) = variable["PLAUDIT_".len()..].split_once('_').unwrap();
        let (section, name) = (section.to_lowercase(), name.to_lowercase());
        let expected = format!("[{section}] {name} = {text} ({variable}): must be at least {other} bytes");
        assert_eq!(faults("", &[(&variable, text)], &[]), [expected]);
        let enough = (text.parse::<u64>().unwrap() + 1).to_string();
        load("", &[(&variable, &enough)], &[]).unwrap();
    }
    let file = "[budgets]\naccount_spool_megabytes = 900\n[limits]\npage_bytes = 943718401";
    let expected = "[budgets] account_spool_megabytes = 900 (plaudit.toml, line 2): must be at least [limits] page_bytes = \
                    943718401 (plaudit.toml, line 4), which is 943718401 bytes";
    assert_eq!(faults(file, &[], &[]), [expected]);
}

#[test]
fn values_are_checked() {
    let wrong = |variable: &str, text: &str| load("", &[(variable, text)], &[]).is_err();
    for text in ["", "8080", ":8080", "x:", "x:65536", "[x]:1", "a b:1", "::1:80"] {
        assert!(wrong("PLAUDIT_SERVER_LISTEN", text), "{text}");
    }
    for text in ["x", "ftp://x", "http://", "http:///x", "https://x?y", "https://u:p@x", "https://x y"] {
        assert!(wrong("PLAUDIT_SERVER_BASE_URL", text), "{text}");
    }
    for text in ["x", "10.0.0.0/33", "10.0.0.0/", "::/129", "10.0.0.1 10.0.0.2"] {
        assert!(wrong("PLAUDIT_SERVER_TRUSTED_PROXIES", text), "{text}");
    }
    for text in ["", "-1", "+1", "01", "1.5", "1s", "99999999999999999999"] {
        assert!(wrong("PLAUDIT_DATABASE_POOL_SIZE", text), "{text}");
    }
    for text in ["", "sqlite:", "postgres://", "mysql://x", "plaudit.db"] {
        assert!(wrong("PLAUDIT_DATABASE_URL", text), "{text}");
    }
    for text in ["", "loud", "info,", "=info", "plaudit=loud"] {
        assert!(wrong("PLAUDIT_LOG_LEVEL", text), "{text}");
    }
    for text in ["", "files", "file:", "s3://", "s3://bucket/../x", "s3://a b"] {
        assert!(wrong("PLAUDIT_STORAGE_URL", text), "{text}");
    }
    for text in ["with a blank", "with\ttab", "\u{e9}"] {
        assert!(wrong("PLAUDIT_STORAGE_SECRET_ACCESS_KEY", text), "{text}");
    }
    assert_eq!(load("", &[], &["--storage", "s3://bucket/a/b"]).unwrap().storage.url, "s3://bucket/a/b");
}

#[test]
fn the_base_address_has_no_slash_at_its_end_and_can_be_reached() {
    let base = |args: &[&str]| load("", &[], args).unwrap().server.base_url;
    assert_eq!(base(&["--base-url", "https://x.org/api/"]), "https://x.org/api");
    assert_eq!(base(&["--listen", "0.0.0.0:9000"]), "http://localhost:9000");
    assert_eq!(base(&["--listen", "[::]:9000"]), "http://localhost:9000");
    assert_eq!(base(&["--listen", "[::1]:9000"]), "http://[::1]:9000");
}

#[test]
fn foreign_variables_are_left_alone() {
    let foreign =
        ["PLAUDIT_API_KEY", "PLAUDIT_DATABASE_PORT", "PLAUDIT_SERVER_PORT_80_TCP", "PLAUDIT_SERVER_SERVICE_HOST"];
    load("", &foreign.map(|name| (name, "x")), &[]).unwrap();
}

#[test]
fn networks_contain_their_addresses() {
    let contains =
        |network: &str, address: &str| network.parse::<Network>().unwrap().contains(address.parse().unwrap());
    assert!(contains("10.0.0.0/8", "10.255.0.1") && !contains("10.0.0.0/8", "11.0.0.1"));
    assert!(contains("10.0.0.1", "10.0.0.1") && !contains("10.0.0.1", "10.0.0.2"));
    assert!(contains("0.0.0.0/0", "1.2.3.4") && !contains("0.0.0.0/0", "::1"));
    assert!(contains("::/0", "::1") && contains("fd00::/8", "fdff::1") && !contains("fd00::/8", "fe00::1"));
    assert!(contains("10.0.0.0/8", "::ffff:10.1.1.1"));
}

#[test]
fn passwords_are_never_shown() {
    for (url, shown) in [
        ("postgres://u:p@h/d", "postgres://u:****@h/d"),
        ("postgres://u:a@b/c:d@h:1,i:2/d", "postgres://u:****@h:1,i:2/d"),
        ("postgres://u@h:5432/d", "postgres://u@h:5432/d"),
        (
            "postgres://h/d?user=u&password=p&x=y&sslPassword=q",
            "postgres://h/d?user=u&password=****&x=y&sslPassword=****",
        ),
        ("postgres://h/d?pass%77ord=p&sslmode=require", "postgres://h/d?pass%77ord=****&sslmode=require"),
        ("sqlite:./a@b:c.db", "sqlite:./a@b:c.db"),
        ("host=h password=p", "****"),
    ] {
        assert_eq!(mask(url), shown);
    }
    let key = [("PLAUDIT_STORAGE_SECRET_ACCESS_KEY", "hidden/too")];
    let config = load("", &key, &["--database", "postgres://u:hidden@h/d"]).unwrap();
    assert_eq!(config.storage.secret_access_key.reveal(), "hidden/too");
    assert!(config.redacted().contains("secret_access_key = \"****\""));
    assert_eq!(config.database.url.as_str(), "postgres://u:hidden@h/d");
    assert!(!format!("{config:?}{}", config.redacted()).contains("hidden"));
    let broken = load("[database]\nurl = \"postgres://u:hidden@h/d", &[], &[]).unwrap_err().to_string();
    assert!(broken.starts_with("plaudit.toml, line 2: this is not TOML: ") && !broken.contains("hidden"), "{broken}");
    let wrong = load("", &[("PLAUDIT_STORAGE_SECRET_ACCESS_KEY", "hidden hidden")], &[]).unwrap_err().to_string();
    assert!(!wrong.contains("hidden"), "{wrong}");
    for name in ["PLAUDIT_SERVER_BASE_URL", "PLAUDIT_STORAGE_ENDPOINT", "PLAUDIT_STORAGE_URL"] {
        for (wrong, shown) in [("ftp://u:hidden@h/d?x=hidden", "ftp://****@h/d?****"), ("u:hidden@h", "****@h")] {
            let wrong = load("", &[(name, wrong)], &[]).unwrap_err().to_string();
            assert!(wrong.contains(shown) && !wrong.contains("hidden"), "{wrong}");
        }
    }
    let wrong = load("", &[("PLAUDIT_DATABASE_URL", "mysql://u:hidden@h/d")], &[]).unwrap_err().to_string();
    assert!(!wrong.contains("hidden"), "{wrong}");
}

#[test]
fn what_is_shown_can_be_read_again() {
    let variables = [("PLAUDIT_SERVER_TRUSTED_PROXIES", "10.0.0.0/8, ::1"), ("PLAUDIT_METRICS_LISTEN", "x:1")];
    for variables in [&variables[..], &[]] {
        let config = load("", variables, &["--base-url", "https://x.org"]).unwrap();
        let shown = config.redacted();
        assert!(shown.starts_with("[server]\nlisten = \"127.0.0.1:8080\" # default\n"), "{shown}");
        assert!(shown.contains("base_url = \"https://x.org\" # --base-url\n"), "{shown}");
        let again = load(&shown, &[], &[]).unwrap();
        assert_eq!((again.server, again.metrics), (config.server, config.metrics));
    }
}

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");

#[test]
fn the_document_is_the_table() {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    let lacking = |wanted: &&str| !document.lines().any(|line| line == *wanted);
    let table = Config::documentation();
    assert_eq!(table.lines().find(lacking), None, "docs/configuration.md lacks a line of the table of settings");
    assert!(document == table, "docs/configuration.md has more than the table of settings, or another order");
}
