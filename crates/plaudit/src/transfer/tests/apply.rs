use super::*;

/// A set-up in YAML.
const PROGRAM: &str = "\
account:
  slug: AccountA
  name: Awards
  languages: [en_GB, de_DE]
seasons:
  - slug: SeasonAA
    name: {en_GB: '2026'}
    status: active
chapters:
  - {slug: ChapterA, season: SeasonAA, name: {en_GB: North}}
  - {slug: ChapterB, season: SeasonAA, name: {en_GB: South}}
categories:
  - {slug: CategAAA, season: SeasonAA, name: {en_GB: Film}, chapters: [ChapterA]}
forms:
  - slug: FormAAAA
    season: SeasonAA
    name: {en_GB: Entry}
    tabs:
      - slug: TabGener
        type: General
        fields:
          - {slug: FieldAAA, type: text, title: {en_GB: Why}}
          - slug: FieldBBB
            type: text
            title: {en_GB: Who}
            conditional: {field: FieldAAA}
roles:
  - {slug: RoleAAAA, name: {en_GB: Judge}, type: chapter_manager}
";

/// What came of an apply: the steps, and the faults.
type Told = (Vec<String>, Vec<String>);

impl Place {
    async fn apply_with(&self, name: &str, text: &str, account: Option<&str>, mode: ApplyMode) -> Told {
        let mut reported = Vec::new();
        let mut report = |fault: Fault| reported.push(fault.to_string());
        let deployment = Deployment {
            db: &self.db,
            storage: &self.storage,
            clock: &self.clock,
            ids: &self.ids,
            lengths: Lengths::default(),
            longest_write: Duration::ZERO,
            follow: |_, _| Box::pin(async { Ok(()) }),
        };
        let files = FileSource { folder: self.folder.path(), own: &[] };
        let source = Source { reader: Cursor::new(text), name, files };
        let applied = apply(deployment, source, account.and_then(Slug::parse), mode, &mut report).await.unwrap();
        assert_eq!(applied.faults, reported.len() as u64);
        (applied.steps.iter().map(ToString::to_string).collect(), reported)
    }

    /// Applies a file in YAML, which must be right; gives the steps.
    async fn apply(&self, text: &str) -> Vec<String> {
        self.apply_in(text, ApplyMode::default()).await
    }

    async fn apply_in(&self, text: &str, mode: ApplyMode) -> Vec<String> {
        let (steps, faults) = self.apply_with("a.yaml", text, None, mode).await;
        assert_eq!(faults, Vec::<String>::new());
        steps
    }

    async fn apply_faults(&self, text: &str) -> Vec<String> {
        self.apply_with("a.yaml", text, None, ApplyMode::default()).await.1
    }

    /// Kind, slug and action of the changes after the first ones.
    async fn changes_after(&self, sequence: i64) -> Vec<String> {
        let mut changes = Vec::new();
        let mut tx = self.db.snapshot().await.unwrap();
        log::each_of_account(&mut tx, AccountId(1), |entry| {
            let [_, _, kind, slug, action, ..] = entry.texts;
            changes.push(format!("{kind} {slug} {action}"));
            Ok(())
        })
        .await
        .unwrap();
        changes.split_off(usize::try_from(sequence).unwrap())
    }

    async fn doc(&self, slug: &str) -> String {
        let sql = "SELECT doc FROM setup_records WHERE slug = $1";
        self.db.fetch_pipelined(sql, &[slug.into()], |row| Ok(row.text(0)?.to_owned())).await.unwrap().unwrap()
    }
}

const DRY: ApplyMode = ApplyMode { keep: false, dry_run: true };
const KEEP: ApplyMode = ApplyMode { keep: true, dry_run: false };

#[tokio::test]
async fn the_same_file_twice_changes_nothing_the_second_time() {
    let place = Place::new().await;
    let steps = place.apply(PROGRAM).await;
    assert_eq!(steps.len(), 10, "{steps:#?}");
    assert_eq!(steps[0], "+ account AccountA \"Awards\"");
    assert!(steps.contains(&"+ field FieldAAA \"Why\"".to_owned()));
    let (head, export) = (place.head().await, place.export().await);
    assert_eq!(head.0, 10, "a row of the log for each record");
    place.clock.advance(3_600);
    assert_eq!(place.apply(PROGRAM).await, Vec::<String>::new());
    assert_eq!((place.head().await, place.export().await), (head, export));
}

#[tokio::test]
async fn a_change_is_logged_as_what_it_is_and_gives_the_program_another_version() {
    let place = Place::new().await;
    place.apply(PROGRAM).await;
    let (sequence, version) = place.head().await;
    place.clock.advance(3_600);
    let other = PROGRAM
        .replace("name: Awards", "name: Prizes")
        .replace("  - {slug: ChapterB, season: SeasonAA, name: {en_GB: South}}\n", "")
        .replace("en_GB: Film", "en_GB: Films, de_DE: Filme")
        .replace("type: chapter_manager", "type: voter");
    let expected = [
        "~ account AccountA \"Prizes\"\n    name: \"Awards\" -> \"Prizes\"",
        "- chapter ChapterB \"South\"",
        "~ category CategAAA \"Films\"\n    name.en_GB: \"Film\" -> \"Films\"\n    name.de_DE: nothing -> \"Filme\"",
        "~ role RoleAAAA \"Judge\"\n    type: \"chapter_manager\" -> \"voter\"",
    ];
    assert_eq!(place.apply_in(&other, DRY).await, expected);
    assert_eq!(place.head().await, (sequence, version), "a dry run changes nothing");
    assert_eq!(place.apply(&other).await, expected);
    let changes =
        ["account AccountA updated", "chapter ChapterB trashed", "category CategAAA updated", "role RoleAAAA updated"];
    assert_eq!(place.changes_after(sequence).await, changes);
    let head = place.head().await;
    assert!(head.0 == sequence + 4 && head.1 != version, "{head:?}");
    let category = place.doc("CategAAA").await;
    assert!(
        category.contains(r#""created":"2026-01-31T08:30:00.000000Z","updated":"2026-01-31T09:30:00.000000Z""#),
        "{category}"
    );

    // What the file names again comes back as the file says it.
    let steps = place
        .apply(
            &other.replace("chapters:\n", "chapters:\n  - {slug: ChapterB, season: SeasonAA, name: {en_GB: East}}\n"),
        )
        .await;
    assert_eq!(steps, ["+ chapter ChapterB \"East\" (out of the trash)\n    name.en_GB: \"South\" -> \"East\""]);
    assert_eq!(place.changes_after(sequence + 4).await, ["chapter ChapterB restored"]);
}

#[tokio::test]
async fn what_the_file_does_not_name_is_kept_where_that_is_asked_for() {
    let place = Place::new().await;
    place.apply(PROGRAM).await;
    let next = "account: {slug: AccountA, name: Awards}\nseasons:\n  - {slug: SeasonBB, name: {en_GB: '2027'}, status: active}\n";
    let steps = place.apply_in(next, KEEP).await;
    assert_eq!(
        steps,
        ["~ season SeasonAA \"2026\"\n    status: \"active\" -> \"archived\"", "+ season SeasonBB \"2027\"",],
        "the season before it is archived, and nothing goes to the trash"
    );
    assert_eq!(place.apply_in(next, KEEP).await, Vec::<String>::new());
    let trashed = place.apply(next).await;
    assert_eq!(trashed.len(), 9, "{trashed:#?}");
    assert!(trashed.iter().all(|step| step.starts_with('-')));
}

#[tokio::test]
async fn what_commands_and_people_change_stays_where_the_file_leaves_it_out() {
    let place = Place::new().await;
    place.apply(PROGRAM).await;
    let people = r#"
{"kind":"user","slug":"UserAAAA","first_name":"Ada","last_name":"Lovelace","roles":["RoleAAAA"]}
{"kind":"account","slug":"AccountA","name":"Awards","languages":["en_GB","de_DE"],"hosts":["a.example.org"],"suspended":true,"owner":"UserAAAA","timezone":"Europe/Berlin"}
{"kind":"chapter","slug":"ChapterA","season":"SeasonAA","name":{"en_GB":"North"},"managers":["UserAAAA"]}
{"kind":"file","token":"TokenTokenToken","filename":"a.txt","data":"SGVsbG8sIHdvcmxk"}
{"kind":"category","slug":"CategAAA","season":"SeasonAA","name":{"en_GB":"Film"},"chapters":["ChapterA"],"images":["TokenTokenToken"]}
"#;
    place.import(people).await;
    let export = place.export().await;
    assert_eq!(place.apply(PROGRAM).await, Vec::<String>::new());
    assert_eq!(place.export().await, export);
    let emptied = PROGRAM.replace("slug: ChapterA, season", "slug: ChapterA, managers: [], season");
    assert_eq!(place.apply(&emptied).await.len(), 1, "what the file says is what is meant");
}

#[tokio::test]
async fn an_export_of_the_set_up_makes_the_same_set_up_elsewhere() {
    let place = Place::new().await;
    place.apply(PROGRAM).await;
    place.apply(&PROGRAM.replace("  - {slug: ChapterB, season: SeasonAA, name: {en_GB: South}}\n", "")).await;
    let export = place.export().await;
    let other = Place::new().await;
    other.clock.advance(172_800);
    let (_, faults) = other.apply_with("a.jsonl", &export, None, ApplyMode::default()).await;
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(other.export().await, export);
    assert_eq!(other.apply_with("a.jsonl", &export, None, ApplyMode::default()).await, (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn a_record_without_a_slug_is_the_same_one_in_every_run() {
    let program = PROGRAM
        .replace("slug: RoleAAAA, ", "")
        .replace("      - slug: TabGener\n        type", "      - type")
        .replace("slug: FormAAAA\n    season", "season");
    let place = Place::new().await;
    let steps = place.apply(&program).await;
    let given: Vec<&String> = steps.iter().filter(|step| step.contains("a new slug")).collect();
    assert_eq!(given.len(), 3, "{steps:#?}");
    assert_eq!(place.apply(&program).await, Vec::<String>::new());

    // Elsewhere it gets the same slug.
    let other = Place::new().await;
    assert_eq!(other.apply(&program).await, steps);

    // Left out and named again it comes back.
    let without = program.replace("  - {name: {en_GB: Judge}, type: chapter_manager}\n", "");
    assert_eq!(place.apply(&without).await.len(), 1);
    let back = place.apply(&program).await;
    assert!(back.len() == 1 && back[0].contains("out of the trash"), "{back:?}");

    // A file that states the slugs says the same.
    let role = given.iter().find(|step| step.starts_with("+ role ")).unwrap()[7..15].to_owned();
    let stated = program.replace("{name: {en_GB: Judge}", &format!("{{slug: {role}, name: {{en_GB: Judge}}"));
    assert_eq!(place.apply(&stated).await, Vec::<String>::new());

    // Where it is not told which record is meant, that is a fault.
    let twice = program.replace("roles:\n", "roles:\n  - {name: {en_GB: ' Judge '}, type: voter}\n");
    let reported = place.apply_faults(&twice).await;
    assert!(
        reported.len() == 1 && reported[0].contains("role: slug: is needed: without one it is not told from"),
        "{reported:?}"
    );
    let two = stated.replace(
        "roles:\n",
        "roles:\n  - {slug: RoleBBBB, name: {en_GB: Judge}}\n  - {slug: RoleCCCC, name: {en_GB: Judge}}\n",
    );
    let fresh = Place::new().await;
    fresh.apply(&two.replace(&role, "RoleDDDD")).await;
    let reported = fresh.apply_faults(&program).await;
    assert!(reported.len() == 1 && reported[0].contains("RoleBBBB, RoleCCCC, RoleDDDD"), "{reported:?}");
}

#[tokio::test]
async fn every_fault_is_told_with_line_and_column_and_nothing_is_applied() {
    let place = Place::new().await;
    let faulty = "\
account: {slug: AccountA, name: Awards, timezone: Mars/Base, lang: en}
seasons:
  - slug: SeasonAA
    name: {en_GB: 2026}
    status: actve
  - {slug: SeasonBB, name: {en_GB: B}, status: draft, deleted: yes}
chapters:
  - slug: ChapterA
    season: NoSuchSe
    names: {en_GB: North}
  - {slug: ChapterA, season: SeasonBB, name: {en_GB: North}}
  - text
categories:
  - {slug: CategAAA, season: SeasonBB, name: {en_GB: Film}, parent: CategAAA, form: ChapterA}
forms:
  - slug: FormAAAA
    name: {en_GB: Entry}
    tabs:
      - {slug: TabAAAAA, type: General, form: FormBBBB}
      - slug: TabBBBBB
        type: Generic
        fields:
          - {slug: FieldAAA, type: text, options: [a, a], title: {xx_XX: Why}}
users:
  - {slug: UserAAAA, first_name: Ada, last_name: Lovelace}
trophies: []
role: {name: {en_GB: Judge}}
";
    let reported = place.apply_faults(faulty).await;
    let expected = [
        "1:41: account AccountA: timezone: Mars/Base is no IANA time zone",
        "1:62: account AccountA: lang: is not a member",
        "4:5: season SeasonAA: name: en_GB must be a string: write it in quotes",
        "5:5: season SeasonAA: status: must be one of draft",
        "6:55: season SeasonBB: deleted: must be true or false",
        "9:5: chapter ChapterA: season: there is no season NoSuchSe",
        "8:5: chapter ChapterA: name: is required",
        "10:5: chapter ChapterA: names: is not a member",
        "11:6: chapter ChapterA: slug: is given twice; the first record of it is on line 8",
        "12:5: chapters: must be a chapter",
        "14:61: category CategAAA: parent: must not be the category itself",
        "14:79: category CategAAA: form: there is no form ChapterA; ChapterA is a chapter",
        "19:41: form FormAAAA: tabs.1.form: must be FormAAAA or left out",
        "21:9: tab TabBBBBB: type: must be one of Start",
        "23:42: field FieldAAA: options: has a twice",
        "23:59: field FieldAAA: title: xx_XX is no language",
        "25:5: user: kind: users are what people make and no part of the set-up; use `plaudit import`",
        "26:1: trophies: is no kind of record",
        "27:1: role: is one record; a file has a list of them under roles",
    ];
    for expected in expected {
        assert!(
            reported.iter().any(|fault| fault.starts_with(&format!("a.yaml:{expected}"))),
            "{expected} is not in {reported:#?}"
        );
    }
    assert_eq!(reported.len(), expected.len(), "{reported:#?}");
    for table in ["accounts", "changes", "setup_records"] {
        assert_eq!(place.count(table).await, 0, "{table}");
    }
}

#[tokio::test]
async fn faults_of_json_lines_have_columns_too() {
    let place = Place::new().await;
    let lines = [
        ACCOUNT,
        r#"  {"kind":"season","slug":"SeasonAA","name":{"en_GB":"2026"},"status":"actve"}"#,
        r#"{"kind":"form","slug":"FormAAAA","name":{"en_GB":"E"},"tabs":[{"slug":"TabAAAAA","type":"General","order":-1}]}"#,
        r#"{"kind":"season","#,
        r#"{"kind":"order","slug":"OrderAAA"}"#,
    ];
    let (_, reported) = place.apply_with("a.jsonl", &lines.join("\n"), None, ApplyMode::default()).await;
    for expected in [
        "2:62: season SeasonAA: status: ",
        "3:99: tab TabAAAAA: order: ",
        "4:18: expected",
        "5:2: order: kind: orders are what people make",
    ] {
        assert!(
            reported.iter().any(|fault| fault.starts_with(&format!("a.jsonl:{expected}"))),
            "{expected} is not in {reported:#?}"
        );
    }
    assert_eq!(reported.len(), 4, "{reported:#?}");
}

#[tokio::test]
async fn a_record_that_is_needed_is_not_left_out() {
    let place = Place::new().await;
    place.apply(PROGRAM).await;
    let head = place.head().await;
    let without = |text: &str| {
        assert!(PROGRAM.contains(text));
        PROGRAM.replace(text, "")
    };
    let reported =
        place.apply_faults(&without("          - {slug: FieldAAA, type: text, title: {en_GB: Why}}\n")).await;
    assert_eq!(
        reported,
        [
            "a.yaml:25:27: field FieldBBB: conditional.field: the file does not have the field FieldAAA, which would go to the trash"
        ]
    );
    let reported = place.apply_faults(&without("  - {slug: ChapterA, season: SeasonAA, name: {en_GB: North}}\n")).await;
    assert!(
        reported.len() == 1 && reported[0].contains("category CategAAA: chapters.1: the file does not have"),
        "{reported:?}"
    );
    let trashed = PROGRAM.replace("{slug: FieldAAA, type", "{slug: FieldAAA, deleted: true, type");
    let reported = place.apply_faults(&trashed).await;
    assert!(
        reported.len() == 1 && reported[0].contains("field FieldAAA: deleted: The field cannot be trashed"),
        "{reported:?}"
    );
    assert_eq!(place.head().await, head);
}

#[tokio::test]
async fn a_file_says_which_account_it_is_about_or_the_command_does() {
    let place = Place::new().await;
    let bare = PROGRAM.split_once("seasons:").map(|(_, rest)| format!("seasons:{rest}")).unwrap();
    let apply = async |text: &str, account| place.apply_with("a.yaml", text, account, ApplyMode::default()).await;
    assert!(apply(&bare, None).await.1[0].starts_with("a.yaml: is about no account"));
    assert!(apply(&bare, Some("AccountA")).await.1[0].contains("does not exist"));
    let nameless = PROGRAM.replace("  slug: AccountA\n", "");
    assert_eq!(
        apply(&nameless, None).await.1,
        ["a.yaml:2:3: account: slug: is required, here or as --account: it says which account this is"]
    );
    assert_eq!(apply(&nameless, Some("AccountA")).await.0.len(), 10);
    assert_eq!(apply(&bare, Some("AccountA")).await, (Vec::new(), Vec::new()));
    assert_eq!(apply(PROGRAM, Some("AccountB")).await.1.len(), 1);
    assert_eq!(apply("", Some("AccountA")).await.1, ["a.yaml: has no records"]);
    assert_eq!(apply("seasons: [}", Some("AccountA")).await.1.len(), 1);
}

#[tokio::test]
async fn records_that_people_make_are_not_touched() {
    let place = Place::new().await;
    place.import(&whole()).await;
    let export = place.export().await;
    let is_setup = |line: &&str| {
        let kind = line.split('"').nth(3).and_then(Kind::named).unwrap();
        kind == Kind::Account || kind.is_setup()
    };
    let people = |export: &str| export.lines().filter(|line| !is_setup(line)).map(str::to_owned).collect::<Vec<_>>();
    let setup = export.lines().filter(is_setup).collect::<Vec<_>>().join("\n");
    let apply = async |text: &str| place.apply_with("a.jsonl", text, None, ApplyMode::default()).await;
    assert_eq!(apply(&setup).await, (Vec::new(), Vec::new()), "what is exported is what is there");
    let orphaned = setup.replace(r#""parent":"CategBBB""#, r#""parent":null"#);
    let (sequence, _) = place.head().await;
    assert_eq!(apply(&orphaned).await.0.len(), 1);
    assert_eq!(place.changes_after(sequence).await, ["category CategAAA updated"]);
    let account = setup.lines().next().unwrap();
    let (steps, faults) = apply(account).await;
    assert!(faults.is_empty() && steps.len() > 10 && steps.iter().all(|step| step.starts_with('-')), "{steps:#?}");
    assert_eq!(place.head().await.0, sequence + 1 + i64::try_from(steps.len()).unwrap());
    assert_eq!(people(&place.export().await), people(&export));
    let (steps, faults) = apply(&setup).await;
    assert!(faults.is_empty() && steps.iter().all(|step| step.contains("out of the trash")), "{steps:#?}");
    assert_eq!(place.export().await.lines().count(), export.lines().count());
}

/// A webhook of a program file.
const WEBHOOK: &str = "\
webhooks:
  - {name: CRM, url: 'https://crm.example.org', method: post, events: [entry_created]}
";

#[tokio::test]
async fn only_webhooks_that_a_file_made_go_to_the_trash_with_it() {
    let place = Place::new().await;
    place.apply(PROGRAM).await;
    let own = r#"{"kind":"webhook","slug":"HookOwnA","name":"Own","url":"https://own.example.org","method":"get","events":["entry_created"],"form":"FormAAAA"}"#;
    place.import(&format!("{ACCOUNT}\n{own}")).await;
    let steps = place.apply(&format!("{PROGRAM}{WEBHOOK}")).await;
    assert!(steps.len() == 1 && steps[0].starts_with("+ webhook ") && steps[0].contains("\"CRM\""), "{steps:?}");
    assert_eq!(place.apply(&format!("{PROGRAM}{WEBHOOK}")).await, Vec::<String>::new(), "its key stays");
    let steps = place.apply(PROGRAM).await;
    assert!(steps.len() == 1 && steps[0].starts_with("- webhook ") && steps[0].ends_with("\"CRM\""), "{steps:?}");
    assert!(!place.doc("HookOwnA").await.contains("deleted"));
    // One that a file names is the file's as long as it names it, and is left alone again afterwards.
    let named = WEBHOOK.replace("{name: CRM", "{slug: HookOwnA, name: CRM");
    let steps = place.apply(&format!("{PROGRAM}{named}")).await;
    assert!(steps.len() == 1 && steps[0].starts_with("~ webhook HookOwnA"), "{steps:?}");
    assert_eq!(place.apply(PROGRAM).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_signing_key_that_a_file_replaces_stays_valid_and_is_printed_nowhere() {
    let place = Place::new().await;
    let with_key = |key: &str| {
        format!("{PROGRAM}{}", WEBHOOK.replace("{name", &format!("{{slug: HookAAAA, signing_key: {key}, name")))
    };
    place.apply(&with_key("FirstKey")).await;
    let steps = place.apply_in(&with_key("SecondKey"), DRY).await;
    let expected = "~ webhook HookAAAA \"CRM\"\n    signing_key: **** -> ****\n    replaced_keys: **** -> ****";
    assert_eq!(steps, [expected]);
    place.apply(&with_key("SecondKey")).await;
    let doc = place.doc("HookAAAA").await;
    assert!(doc.contains(r#""replaced_keys":[{"key":"FirstKey","until":"2026-02-01T08:30:00.000000Z"}]"#), "{doc}");
    assert_eq!(place.apply(&with_key("SecondKey")).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_file_that_enables_a_webhook_forgets_why_it_was_disabled() {
    let place = Place::new().await;
    let with =
        |status: &str| format!("{PROGRAM}{}", WEBHOOK.replace("{name", &format!("{{slug: HookAAAA, {status} name")));
    place.apply(&with("status: disabled, disabled_reason: Gone,")).await;
    assert_eq!(place.apply(&with("")).await, Vec::<String>::new(), "what it leaves out stays");
    place.apply(&with("status: enabled,")).await;
    assert!(place.doc("HookAAAA").await.contains(r#""status":"enabled","disabled_reason":null"#));
}

/// The shipped examples, with the slugs of their accounts.
const EXAMPLES: [(&str, &str); 2] = [
    ("MeridAwd", include_str!("../../../../../examples/design-award.yaml")),
    ("FirstSte", include_str!("../../../../../examples/scholarship.yaml")),
];

#[tokio::test]
async fn the_examples_apply_and_use_every_kind_in_three_languages() {
    for (account, text) in EXAMPLES {
        let place = Place::new().await;
        let steps = place.apply(text).await;
        for kind in Kind::ALL.into_iter().filter(|kind| kind.is_setup()) {
            assert!(steps.iter().any(|step| step.starts_with(&format!("+ {kind} "))), "{account} has no {kind}");
        }
        assert_eq!(place.apply(text).await, Vec::<String>::new());
        let mut out = Vec::new();
        export(&place.db, &place.storage, Slug::parse(account).unwrap(), Kind::is_setup, &mut out).await.unwrap();
        let export = String::from_utf8(out).unwrap();
        let lines: Vec<serde_json::Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let languages = lines[0]["languages"].as_array().unwrap();
        assert_eq!(languages.len(), 3);
        for name in lines.iter().flat_map(|line| [&line["name"], &line["title"], &line["label"], &line["body"]]) {
            let texts = name.as_object().map_or(3, |map| if map.is_empty() { 3 } else { map.len() });
            assert_eq!(texts, 3, "{name}");
        }
        assert!(languages.iter().any(|code| ["ar_AR", "he_IL"].contains(&code.as_str().unwrap())));
    }
}
