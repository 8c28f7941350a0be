use std::fs;
use std::path::PathBuf;

use clap::Parser as _;
use tempfile::TempDir;

use super::*;
use crate::program::Context;
use kernel::text::Locale;

/// How a fault names the database of a place.
const DATABASE: &str = "[database] url = \"sqlite:plaudit.db\" (--database)";

/// A folder in which commands are run.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// With the demonstration program in the database.
    async fn with_demo() -> Self {
        let place = Self::new();
        fs::write(place.path("demo.jsonl"), include_str!("demo.jsonl")).unwrap();
        place.done(&["import", "demo.jsonl"]).await;
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs a command, in which names that have a dot are files of the folder.
    async fn run(&self, arguments: &[&str]) -> Result<(), Failure> {
        let database = format!("sqlite:{}", self.path("plaudit.db").display());
        let storage = format!("file:{}", self.path("files").display());
        let named = arguments.iter().map(|argument| {
            if argument.contains('.') { self.path(argument).display().to_string() } else { (*argument).to_owned() }
        });
        let own = ["plaudit".to_owned(), "--database".to_owned(), database, "--storage".to_owned(), storage];
        let arguments = Arguments::try_parse_from(own.into_iter().chain(named)).unwrap();
        let config = Config::load(&arguments.config, std::iter::empty(), self.0.path()).unwrap();
        execute(&config, arguments).await
    }

    async fn done(&self, arguments: &[&str]) {
        self.run(arguments).await.unwrap();
    }

    async fn db(&self) -> Db {
        let settings = db::Settings::at(&format!("sqlite:{}", self.path("plaudit.db").display()));
        Db::open(&settings).await.unwrap()
    }

    /// Runs a statement behind the service's back.
    async fn execute(&self, sql: &str) {
        let db = self.db().await;
        let mut tx = db.begin().await.unwrap();
        tx.execute(sql, &[]).await.unwrap();
        tx.commit().await.unwrap();
        db.close().await;
    }

    /// The exit code and the text of a command that fails, without the folder.
    async fn refused(&self, arguments: &[&str]) -> (u8, String) {
        let failure = self.run(arguments).await.unwrap_err();
        let folder = format!("{}/", self.0.path().display());
        (failure.exit_code(), failure.to_string().replace(&folder, ""))
    }
}

#[tokio::test]
async fn a_backup_comes_back_whole() {
    let place = Place::with_demo().await;
    place.done(&["backup", "a.backup"]).await;
    place.done(&["export", "DemoAwds", "--output", "a.jsonl"]).await;
    fs::remove_file(place.path("plaudit.db")).unwrap();
    fs::remove_dir_all(place.path("files")).unwrap();
    place.done(&["restore", "a.backup"]).await;
    place.done(&["doctor"]).await;
    place.done(&["export", "DemoAwds", "--output", "b.jsonl"]).await;
    assert_eq!(fs::read(place.path("a.jsonl")).unwrap(), fs::read(place.path("b.jsonl")).unwrap());
}

#[tokio::test]
async fn no_node_has_work_of_a_database_that_was_restored() {
    let place = Place::with_demo().await;
    place
        .execute(
            "INSERT INTO leases (account, name, due, position, state, signal, owner, until, served, heir) \
             VALUES (0, 'upkeep', 7, 0, '{}', 0, 'node', 9223372036854775807, 0, '')",
        )
        .await;
    place.done(&["backup", "a.backup"]).await;
    place.done(&["restore", "--force", "a.backup"]).await;
    let db = place.db().await;
    let sql = "SELECT due FROM leases WHERE name = 'upkeep' AND owner = '' AND until = 0";
    assert_eq!(db.fetch_pipelined(sql, &[], |row| row.integer(0)).await.unwrap(), Some(7));
    db.close().await;
}

#[tokio::test]
async fn a_backup_that_lacks_files_does_not_take_the_place_of_an_earlier_one() {
    let place = Place::with_demo().await;
    place.done(&["backup", "a.backup"]).await;
    let before = fs::read(place.path("a.backup")).unwrap();
    fs::remove_dir_all(place.path("files")).unwrap();
    let message = "6 files are missing in the storage and in a.backup.incomplete, which is whole otherwise; \
                   a.backup was left alone";
    assert_eq!(place.refused(&["backup", "a.backup"]).await, (1, message.to_owned()));
    assert!(fs::read(place.path("a.backup")).unwrap() == before);
    let message = "6 files are missing in the backup, whose storage did not have them; everything else was restored";
    assert_eq!(place.refused(&["restore", "--force", "a.backup.incomplete"]).await, (1, message.to_owned()));
    place.done(&["restore", "--force", "a.backup"]).await;
    place.done(&["doctor"]).await;
}

#[tokio::test]
async fn no_command_writes_over_a_file_of_the_database() {
    let place = Place::with_demo().await;
    let before = fs::read(place.path("plaudit.db")).unwrap();
    for own in ["plaudit.db", "plaudit.db-wal", "plaudit.db-shm", "plaudit.db-journal"] {
        let refused = (2, format!("{own} is a file of the database itself"));
        assert_eq!(place.refused(&["backup", own]).await, refused);
        assert_eq!(place.refused(&["export", "DemoAwds", "--output", own]).await, refused);
    }
    assert!(fs::read(place.path("plaudit.db")).unwrap() == before);
    fs::create_dir(place.path("a.folder")).unwrap();
    let refused = (2, "a.folder is a folder; name the file to write".to_owned());
    assert_eq!(place.refused(&["backup", "a.folder"]).await, refused);
    assert!(!place.path("a.folder.partial").exists());
}

#[tokio::test]
async fn a_folder_is_no_file_to_read() {
    let place = Place::with_demo().await;
    fs::create_dir(place.path("a.folder")).unwrap();
    for command in ["import", "apply", "restore"] {
        assert_eq!(place.refused(&[command, "a.folder"]).await, (1, "a.folder: is a directory".to_owned()));
    }
}

#[test]
fn doctor_finds_room_for_few_connections_unless_that_is_what_was_asked_for() {
    let config = |connections: &str| {
        let variable = ("PLAUDIT_SERVER_MAX_CONNECTIONS".to_owned(), connections.to_owned());
        Config::load(&ConfigArgs::default(), std::iter::once(variable), Path::new("/nonexistent")).unwrap()
    };
    let room = |connections: &str, descriptors| doctor::room(&config(connections), descriptors, None);
    let line =
        "connections: with 1024 descriptors there is room for 416, 52 of one address; 208 streams, 52 of one key";
    assert_eq!(room("0", Some(1_024)), Ok(line.to_owned()));
    assert!(room("0", Some(200)).unwrap_err().contains("room for 28, 4 of one address"));
    assert!(room("50", Some(200)).is_err());
    assert!(room("25", Some(200)).is_ok());
    assert!(room("0", None).unwrap().starts_with("connections: with any number of descriptors"));
}

#[tokio::test]
async fn doctor_makes_no_database_and_knows_a_newer_schema() {
    let place = Place(TempDir::new().unwrap());
    assert_eq!(place.refused(&["doctor"]).await, (1, "1 fault found".to_owned()));
    assert!(!place.path("plaudit.db").exists());
    let place = Place::with_demo().await;
    place.done(&["doctor"]).await;
    let row = "(900, 'future', '2026-11-23T02:54:03.352361245Z', '1')";
    place.execute(&format!("INSERT INTO refinery_schema_history VALUES {row}")).await;
    let db = place.db().await;
    assert_eq!(db::migrate::unknown(&db).await.unwrap(), ["V900__future"]);
    db.close().await;
    assert_eq!(place.refused(&["doctor"]).await, (1, "1 fault found".to_owned()));
    let message =
        "the database failed: its schema has V900__future, which this plaudit does not know: a newer one made it";
    assert_eq!(place.refused(&["migrate"]).await, (1, format!("{DATABASE}: {message}")));
}

#[tokio::test]
async fn a_command_that_reads_makes_no_database_and_says_how_to_name_the_right_one() {
    let place = Place(TempDir::new().unwrap());
    let slug = "DemoAwds";
    let list: [&[&str]; 10] = [
        &["account", "list"],
        &["account", "show", slug],
        &["account", "suspend", slug],
        &["key", "list", "--account", slug],
        &["key", "create", "--account", slug, "--name", "n", "--scope", "read"],
        &["user", "confirm-link", "--account", slug, "UserAAAA"],
        &["maintenance", "on", "away"],
        &["maintenance", "off"],
        &["export", slug],
        &["backup", "a.backup"],
    ];
    for command in list {
        let (code, message) = place.refused(command).await;
        assert_eq!(code, 1, "{command:?}");
        assert!(
            message.starts_with("there is no database at plaudit.db; name the right one with --database "),
            "{message}"
        );
        assert!(message.contains("--database sqlite:./plaudit-demo/plaudit.db"), "{message}");
        assert!(!place.path("plaudit.db").exists() && !place.path("files").exists(), "{command:?}");
    }
    place.done(&["account", "create", "--name", "A"]).await;
    place.done(&["account", "list"]).await;
}

#[tokio::test]
async fn what_only_reads_makes_no_folder_of_files() {
    let place = Place::new();
    place.done(&["account", "create", "--name", "Example", "--slug", "ExampleA"]).await;
    place.done(&["export", "ExampleA", "--output", "export.jsonl"]).await;
    place.done(&["backup", "whole.backup"]).await;
    place.done(&["doctor"]).await;
    assert!(!place.path("files").exists());
}

#[tokio::test]
async fn a_backup_leaves_alone_what_another_one_is_writing() {
    let place = Place::with_demo().await;
    place.done(&["backup", "a.backup"]).await;
    let before = std::fs::read(place.path("a.backup")).unwrap();
    let partial = rusqlite::Connection::open(place.path("a.backup.partial")).unwrap();
    partial.execute_batch("BEGIN EXCLUSIVE; CREATE TABLE other (text TEXT)").unwrap();
    let (code, message) = place.refused(&["backup", "a.backup"]).await;
    assert!(code == 1 && message.starts_with("another backup is writing "), "{message}");
    assert_eq!(std::fs::read(place.path("a.backup")).unwrap(), before);
    drop(partial);
    place.done(&["backup", "a.backup"]).await;
    assert!(!place.path("a.backup.partial").exists());
}

#[tokio::test]
async fn an_account_is_changed_where_it_may_be_so() {
    let place = Place::with_demo().await;
    place
        .done(&["account", "set", "DemoAwds", "--name", "New", "--rate-limit", "7", "--language", "de_DE,en_GB,ar_AR"])
        .await;
    let db = place.db().await;
    let mut tx = db.snapshot().await.unwrap();
    let id = account_of(&mut tx, Slug::parse("DemoAwds").unwrap()).await.unwrap();
    let account =
        accounts::store::read(&mut tx, id, &Context::any_language(Clock::system().now())).await.unwrap().unwrap();
    assert_eq!((account.name.as_str(), account.rate_limit, account.default_language), ("New", 7, Locale::DeDe));
    drop(tx);
    db.close().await;
    let refused = place.refused(&["account", "set", "DemoAwds", "--timezone", "Mars/Olympus"]).await;
    assert_eq!(refused.0, 2);
    assert!(refused.1.starts_with("timezone "), "{}", refused.1);
    assert_eq!(place.refused(&["account", "set", "DemoAwds"]).await.0, 2);
    let refused = place.refused(&["account", "set", "DemoAwds", "--language", "en_GB"]).await;
    assert!(refused.1.contains("de_DE is a language of the account"), "{}", refused.1);
}

#[tokio::test]
async fn what_could_not_be_read_again_is_not_stored() {
    let place = Place::with_demo().await;
    let key = ["key", "create", "--account", "DemoAwds", "--name", "k", "--scope", "read", "--notify"];
    let refused = place.refused(&[&key[..], &[&vec!["a@example.org"; 101].join(",")]].concat()).await;
    assert!(refused.0 == 2 && refused.1.starts_with("--notify: "), "{refused:?}");
    let hosts: Vec<String> = (0..1_000).map(|number| format!("host{number}")).collect();
    let create = ["account", "create", "--slug", "OtherAwd", "--name", "Other", "--host", &hosts.join(",")];
    place.done(&create).await;
    let refused = place.refused(&["account", "host", "add", "OtherAwd", "another"]).await;
    assert!(refused.0 == 2 && refused.1.starts_with("hosts "), "{refused:?}");
}

#[tokio::test]
async fn a_key_is_known_by_its_name_while_no_other_has_it() {
    let place = Place::with_demo().await;
    let create =
        async |name| place.done(&["key", "create", "--account", "DemoAwds", "--scope", "read", "--name", name]).await;
    let revoke = async |name| place.run(&["key", "revoke", "--account", "DemoAwds", name]).await;
    create("web site").await;
    place.done(&["key", "rotate", "--account", "DemoAwds", "web site"]).await;
    revoke("web site").await.unwrap();
    assert!(revoke("web site").await.unwrap_err().to_string().contains("no key web site"));
    create("twice").await;
    create("twice").await;
    assert!(revoke("twice").await.unwrap_err().to_string().starts_with("several keys are called twice"));
    place.done(&["key", "create", "--account", "DemoAwds", "--name", "Mei", "--user", "UserMeii"]).await;
    assert!(
        place
            .refused(&["key", "create", "--account", "DemoAwds", "--name", "No", "--user", "nobody"])
            .await
            .1
            .contains("no user nobody")
    );
    place.done(&["user", "list", "--account", "DemoAwds", "--output", "json"]).await;
}

#[tokio::test]
async fn an_empty_file_is_no_database() {
    let place = Place(TempDir::new().unwrap());
    fs::write(place.path("plaudit.db"), "").unwrap();
    for command in [&["account", "list"][..], &["migrate"], &["fill"]] {
        let message =
            "plaudit.db: the file is empty, and no database; remove it to begin a new one, or to restore a backup";
        assert_eq!(place.refused(command).await, (1, format!("{DATABASE}: {message}")));
    }
    assert_eq!(fs::metadata(place.path("plaudit.db")).unwrap().len(), 0);
    fs::remove_file(place.path("plaudit.db")).unwrap();
    place.done(&["migrate"]).await;
}

#[tokio::test]
async fn an_import_takes_files_from_its_folder_of_files_and_none_of_the_services_own() {
    let place = Place::with_demo().await;
    fs::create_dir(place.path("uploads")).unwrap();
    fs::write(place.path("uploads/b.txt"), "beside").unwrap();
    fs::create_dir(place.path("other")).unwrap();
    fs::create_dir(place.path("other/files")).unwrap();
    fs::write(place.path("other/files/b.txt"), "beside").unwrap();
    let file =
        |path: &str| format!(r#"{{"kind":"file","token":"TokenTokenToken","filename":"b.txt","path":"{path}"}}"#);
    fs::write(place.path("other/a.jsonl"), file("b.txt")).unwrap();
    place.done(&["import", "--account", "DemoAwds", "other/a.jsonl"]).await;
    fs::write(place.path("a.jsonl"), file("b.txt")).unwrap();
    let folder = place.path("uploads").display().to_string();
    place.done(&["import", "--account", "DemoAwds", "a.jsonl", "--files", &folder]).await;
    let own = place.path("").display().to_string();
    let stored = fs::read_dir(place.path("files/DemoAwds")).unwrap().next().unwrap().unwrap().file_name();
    for path in ["plaudit.db", "plaudit.db-wal", &format!("files/DemoAwds/{}", stored.display())] {
        fs::write(place.path("a.jsonl"), file(path)).unwrap();
        let refused = place.refused(&["import", "--account", "DemoAwds", "a.jsonl", "--files", &own]).await;
        assert_eq!(refused, (1, "1 fault; nothing was applied".to_owned()), "{path}");
    }
}

#[test]
fn nothing_of_a_file_or_a_database_reaches_the_terminal_as_it_is() {
    for (line, shown) in [
        ("Film “Ü” — 日本", "Film “Ü” — 日本"),
        ("\u{1b}[2J\u{9b}2J\r\n\t\0\u{7f}", r"\u{1b}[2J\u{9b}2J\r\n\t\u{0}\u{7f}"),
    ] {
        assert_eq!(printable(line), shown);
    }
}

#[tokio::test]
async fn a_change_of_a_key_is_in_the_log_without_its_secret() {
    let place = Place::with_demo().await;
    let key = ["key", "create", "--account", "DemoAwds", "--name", "n", "--scope", "read"];
    place.done(&key).await;
    let db = place.db().await;
    let read = async |sql: &str| {
        let mut texts = Vec::new();
        db.each(sql, &[], |row| {
            texts.push(row.text(0)?.to_owned());
            Ok(())
        })
        .await
        .unwrap();
        texts
    };
    let slug = read("SELECT slug FROM api_keys").await.remove(0);
    for command in ["rotate", "revoke", "revoke"] {
        place.done(&["key", command, "--account", "DemoAwds", &slug]).await;
    }
    let actions = read("SELECT action FROM changes WHERE kind = 'api_key' ORDER BY sequence").await;
    assert_eq!(actions, ["created", "updated", "updated"], "what is revoked already is no change");
    let documents = read("SELECT doc FROM changes WHERE kind = 'api_key' ORDER BY sequence").await;
    assert_eq!(documents[2..], read("SELECT doc FROM api_keys").await);
    let set = |document: &String| ["revoked", "rotated"].map(|name| !document.contains(&format!("\"{name}\":null")));
    assert_eq!(documents.iter().map(set).collect::<Vec<_>>(), [[false, false], [false, true], [true, true]]);
    assert!(documents.iter().all(|document| !document.contains("hash")), "{documents:?}");
    place.done(&["doctor"]).await;
    db.close().await;
}

#[tokio::test]
async fn webhooks_are_enabled_and_disabled_one_by_one_and_all_at_once() {
    let place = Place::with_demo().await;
    let line = |slug: &str| {
        let members = r#""method":"post","url":"https://example.org/?secret","events":["entry_created"]"#;
        format!(
            r#"{{"kind":"webhook","slug":"{slug}","name":"{slug}",{members},"disabled_reason":"Gone","status":"disabled"}}"#
        )
    };
    fs::write(place.path("a.jsonl"), [line("HookAAAA"), line("HookBBBB")].join("\n")).unwrap();
    place.done(&["import", "--account", "DemoAwds", "a.jsonl"]).await;
    let db = place.db().await;
    let count = async |sql: &str| db.fetch_pipelined(sql, &[], |row| row.integer(0)).await.unwrap().unwrap();
    let enabled =
        "SELECT count(*) FROM setup_records WHERE doc LIKE '%\"status\":\"enabled\",\"disabled_reason\":null%'";
    let changes = "SELECT count(*) FROM changes WHERE kind = 'webhook' AND action = 'updated'";
    place.done(&["webhook", "enable", "DemoAwds", "HookAAAA"]).await;
    place.done(&["webhook", "enable", "DemoAwds", "HookAAAA"]).await;
    assert_eq!((count(enabled).await, count(changes).await), (1, 1), "what is so already is no change");
    place.done(&["webhook", "enable", "DemoAwds", "HookBBBB"]).await;
    place.done(&["webhook", "disable", "DemoAwds", "HookAAAA"]).await;
    assert_eq!((count(enabled).await, count(changes).await), (1, 3));
    place.done(&["webhook", "list", "DemoAwds"]).await;
    place.done(&["webhook", "disable", "--all"]).await;
    assert_eq!((count(enabled).await, count(changes).await), (0, 4));
    let missing = "the account has no webhook NoSuchHo; `plaudit webhook list DemoAwds` shows those it has";
    for command in ["enable", "show"] {
        assert_eq!(place.refused(&["webhook", command, "DemoAwds", "NoSuchHo"]).await, (1, missing.to_owned()));
    }
    place.done(&["webhook", "show", "DemoAwds", "HookAAAA"]).await;
    place.done(&["doctor"]).await;
    db.close().await;
}

#[tokio::test]
async fn doctor_finds_deliveries_of_nothing_and_work_that_nobody_does() {
    let place = Place::with_demo().await;
    let hook = r#"{"kind":"webhook","slug":"HookAAAA","name":"A","method":"post","url":"https://example.org/","events":["entry_created"]}"#;
    let judging = r#"{"kind":"round","slug":"RoundAAA","season":"SeasonNw","form":"FormMain","name":{"en_GB":"A"},"type":"judge","reminder_days":1}
{"kind":"score_set","slug":"ScoreAAA","season":"SeasonNw","form":"FormMain","name":{"en_GB":"A"},"mode":"qualifying"}
{"kind":"panel","slug":"PanelAAA","season":"SeasonNw","score_set":"ScoreAAA","name":{"en_GB":"A"},"rounds":["RoundAAA"],"judges":["UserFarh"],"tags":["judged"]}"#;
    fs::write(place.path("a.jsonl"), format!("{hook}\n{judging}")).unwrap();
    place.done(&["import", "--account", "DemoAwds", "a.jsonl"]).await;
    place.done(&["account", "create", "--name", "Other", "--slug", "OtherAwd"]).await;
    place.done(&["doctor"]).await;
    place.done(&["backup", "a.backup"]).await;
    let delivery = |webhook: &str, sequence: u32, mark: &str, state: &str| {
        let columns =
            "account, webhook, sequence, place, mark, event, kind, slug, at, state, due, started, tried, attempts";
        format!(
            "INSERT INTO deliveries ({columns}) SELECT a.id, '{webhook}', {sequence}, 0, {mark}, 'entry_created', 'entry', \
             'EntryAAA', 0, '{state}', 0, 0, 0, '[]' FROM accounts a WHERE a.slug = 'DemoAwds'"
        )
    };
    let job = |account: &str| {
        let columns = "account, slug, kind, state, created, due, started, finished, tried, actor, input, checkpoint, progress, \
                       results, errors";
        format!(
            "INSERT INTO jobs ({columns}) VALUES ({account}, 'JobAAAAA', 'mail', 'queued', 0, 0, 0, 0, 0, 'system', '{{}}', '', \
             '{{}}', '[]', '[]')"
        )
    };
    let account = |slug: &str| format!("(SELECT id FROM accounts WHERE slug = '{slug}')");
    let mark = "(SELECT lower(hex(substr(c.hash, 1, 6))) FROM changes c WHERE c.account = a.id AND c.sequence = 1)";
    for (statement, faults) in [
        // No such change; the second one of no such webhook, and the third pending without a lease.
        (delivery("HookAAAA", 99_999, "'000000000000'", "pending"), "1 fault found"),
        (delivery("NoSuchHo", 99_999, "'000000000000'", "failed"), "2 faults found"),
        (delivery("NoSuchHo", 99_999, "'000000000000'", "pending"), "3 faults found"),
        // A change of another history, and one that caused nothing.
        (delivery("HookAAAA", 1, "'000000000000'", "failed"), "1 fault found"),
        (delivery("HookAAAA", 1, mark, "failed"), "1 fault found"),
        (
            "INSERT INTO delivery_bodies SELECT id, 'HookAAAA', 1, 0, x'7b7d' FROM accounts WHERE slug = 'DemoAwds'"
                .to_owned(),
            "1 fault found",
        ),
        ("UPDATE leases SET position = 99999 WHERE name = 'webhook:HookAAAA'".to_owned(), "1 fault found"),
        ("DELETE FROM leases WHERE name = 'webhook:HookAAAA'".to_owned(), "1 fault found"),
        ("UPDATE leases SET name = 'webhook:NoSuchHo' WHERE name = 'webhook:HookAAAA'".to_owned(), "2 faults found"),
        ("UPDATE leases SET account = 4711 WHERE name = 'webhook:HookAAAA'".to_owned(), "2 faults found"),
        ("UPDATE leases SET position = 99999 WHERE name = 'panels'".to_owned(), "1 fault found"),
        ("DELETE FROM leases WHERE name = 'panels'".to_owned(), "1 fault found"),
        (format!("UPDATE leases SET account = {} WHERE name = 'panels'", account("OtherAwd")), "2 faults found"),
        ("DELETE FROM leases WHERE name = 'reminders'".to_owned(), "1 fault found"),
        (job(&account("DemoAwds")), "1 fault found"),
        (job("4711"), "1 fault found"),
    ] {
        place.execute(&statement).await;
        assert_eq!(place.refused(&["doctor"]).await, (1, faults.to_owned()), "{statement}");
        place.done(&["restore", "--force", "a.backup"]).await;
        place.done(&["doctor"]).await;
    }
}

#[tokio::test]
async fn doctor_knows_a_version_that_is_not_the_name_of_the_last_change_of_the_set_up() {
    let place = Place::with_demo().await;
    place.done(&["account", "suspend", "DemoAwds"]).await;
    place.done(&["doctor"]).await;
    place.execute("UPDATE accounts SET version = version + 1").await;
    assert_eq!(place.refused(&["doctor"]).await, (1, "1 fault found".to_owned()));
    place.done(&["account", "resume", "DemoAwds"]).await;
    place.done(&["doctor"]).await;
}

#[tokio::test]
async fn a_document_can_be_erased_from_the_log_and_not_be_changed() {
    let place = Place::with_demo().await;
    place.execute("UPDATE changes SET doc = NULL WHERE kind = 'user' OR sequence = 2").await;
    place.done(&["doctor"]).await;
    place.done(&["backup", "a.backup"]).await;
    place.done(&["restore", "--force", "a.backup"]).await;
    place.done(&["doctor"]).await;
    for (changed, faults) in [
        ("doc = '{}' WHERE sequence = 3", "1 fault found"),
        ("doc = '{}' WHERE sequence = 2", "1 fault found"),
        // The row of the record says so as well.
        ("doc_form = 2 WHERE sequence = 2", "2 faults found"),
        // The record is not what was logged, either.
        ("doc_hash = hash WHERE sequence = 2", "2 faults found"),
    ] {
        place.execute(&format!("UPDATE changes SET {changed}")).await;
        assert_eq!(place.refused(&["doctor"]).await, (1, faults.to_owned()), "{changed}");
        place.done(&["restore", "--force", "a.backup"]).await;
        place.done(&["doctor"]).await;
    }
}

#[tokio::test]
async fn what_a_command_was_told_wrongly_is_called_so() {
    let place = Place::with_demo().await;
    let key = ["key", "create", "--account", "DemoAwds", "--name", "far", "--scope", "read", "--expires"];
    for far in ["99999999w", "420000w", "3000000d"] {
        let refused = (2, "--expires: is after the year 9999; leave it out".to_owned());
        assert_eq!(place.refused(&[&key[..], &[far]].concat()).await, refused);
    }
    place.done(&["key", "list", "--account", "DemoAwds"]).await;
    let (code, message) = place.refused(&["account", "create", "--name", "A", "--timezone", "Mars/Phobos"]).await;
    assert_eq!((code, message.starts_with("timezone ")), (2, true), "{message}");
    let refused = (1, "account DemoAwds has no host name localhost".to_owned());
    assert_eq!(place.refused(&["account", "host", "remove", "DemoAwds", "localhost"]).await, refused);
}

#[tokio::test]
async fn an_account_belongs_to_the_region_that_the_operator_says_is_served() {
    let place = Place::with_demo().await;
    let create = ["account", "create", "--name", "A", "--slug"];
    place.done(&[&create[..], &["AnywherE"]].concat()).await;
    place.done(&[&create[..], &["EuropeAn", "--region", "eu"]].concat()).await;
    let db = place.db().await;
    for (slug, region) in [("AnywherE", "\"region\":null"), ("EuropeAn", "\"region\":\"eu\"")] {
        let sql = "SELECT doc FROM accounts WHERE slug = $1";
        let doc = db.fetch_pipelined(sql, &[slug.into()], |row| Ok(row.text(0)?.to_owned())).await.unwrap().unwrap();
        assert!(doc.contains(region), "{doc}");
    }
    db.close().await;
}

#[tokio::test]
async fn a_synthetic_account_is_as_everything_must_be() {
    let place = Place(TempDir::new().unwrap());
    place.done(&["fill", "--entries", "20", "--orders", "20"]).await;
    place.done(&["doctor"]).await;
}

#[tokio::test]
async fn every_sheet_is_a_row_with_a_column_for_each_criterion() {
    let place = Place::with_demo().await;
    let records = [
        r#"{"kind":"score_set","slug":"ScorePoi","season":"SeasonNw","form":"FormMain","name":{"en_GB":"Final"},"mode":"vip_judging"}"#,
        r#"{"kind":"criterion","slug":"CritCraf","score_set":"ScorePoi","name":{"en_GB":"Craft"},"maximum":10}"#,
        r#"{"kind":"user","slug":"UserJudA","first_name":"Grace","last_name":"Hopper","email":"grace@example.org","roles":["RoleJudg"]}"#,
        r#"{"kind":"assignment","entry":"EnHarbor","judge":"UserJudA","score_set":"ScorePoi","created":"2025-06-01T10:00:00Z","updated":"2025-06-03T10:00:00Z","scores":[{"criterion":"CritCraf","value":7}],"comment":{"slug":"CommentA","comment":"=1+1, \"fine\"","user":"UserJudA","created_at":"2025-06-03T10:00:00Z","updated_at":"2025-06-03T10:00:00Z"}}"#,
    ];
    fs::write(place.path("scores.jsonl"), records.join("\n")).unwrap();
    place.done(&["import", "scores.jsonl", "--account", "DemoAwds"]).await;
    place.done(&["scores", "export", "DemoAwds", "--score-set", "ScorePoi", "--output", "scores.csv"]).await;
    let expected = "assignment,score_set,mode,entry,judge,role,method,status,counts,points,decision,preference,votes,comment,CritCraf\n\
                    EnHarborUserJudAScorePoiJ,ScorePoi,vip_judging,EnHarbor,UserJudA,,manual,complete,yes,7,,,,\
                    \"'=1+1, \"\"fine\"\"\",7\n";
    assert_eq!(fs::read_to_string(place.path("scores.csv")).unwrap(), expected);
    let (code, told) = place.refused(&["scores", "export", "DemoAwds", "--score-set", "NoSuchSc"]).await;
    assert_eq!((code, told.as_str()), (1, "the account has no score set NoSuchSc"));
}

#[tokio::test]
async fn a_person_is_erased_for_good_and_the_doctor_is_content() {
    let place = Place::with_demo().await;
    let erase = ["user", "erase", "--account", "DemoAwds", "UserNora", "--for-good"];
    place.done(&erase).await;
    place.done(&["doctor", "--files"]).await;
    place.done(&["export", "DemoAwds", "--output", "a.jsonl"]).await;
    let export = fs::read_to_string(place.path("a.jsonl")).unwrap();
    assert!(!export.contains("Lindqvist") && export.contains("\"first_name\":\"Erased\""));
    place.done(&erase).await;
    let nobody = ["user", "erase", "--account", "DemoAwds", "NoSuchUs", "--for-good"];
    assert_eq!(place.refused(&nobody).await, (1, "the account has no user NoSuchUs".to_owned()));
}

#[tokio::test]
async fn a_service_that_does_not_run_is_not_healthy() {
    let place = Place::new();
    let (code, message) = place.refused(&["health"]).await;
    assert!(code == 1 && message.starts_with("127.0.0.1:8080: "), "{message}");
    place.done(&["version", "--json"]).await;
}
