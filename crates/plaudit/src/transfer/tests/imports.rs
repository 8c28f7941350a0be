//! Imports in YAML, and of attachments without a token.

use super::{ACCOUNT, Place, SETUP};

const YAML: &str = "
entries:
- slug: EntryAAA
  title: First
  category: CategAAA
  entrant: UserAAAA
  entry_fields: {FieldAAA: Because}
  contributors:
  - {slug: ContrAAA, tab: TabContr}
orders:
- slug: OrderAAA
  season: SeasonAA
  user: UserAAAA
  currency: GBP
  items:
  - {name: First, entry: EntryAAA, price: PriceAAA}
";

#[tokio::test]
async fn people_s_records_come_in_yaml_too_nested_where_one_owns_the_other() {
    let place = Place::new().await;
    place.import(&format!("{SETUP}\n{ACCOUNT}")).await;
    let (outcome, faults) = place.import_for(YAML, Some("AccountA")).await;
    assert_eq!((outcome.faults, faults), (0, Vec::new()));
    for table in ["entries", "contributors", "orders"] {
        assert_eq!(place.count(table).await, 1, "{table}");
    }
    let (_, faults) = place.import_for("entrys:\n- slug: EntryBBB\n", Some("AccountA")).await;
    assert!(
        faults[0].starts_with("a.yaml:1:1: entrys: is no kind of record") && faults[0].contains("entries"),
        "{faults:?}"
    );
}

#[tokio::test]
async fn an_attachment_without_a_token_has_that_of_its_file() {
    let place = Place::new().await;
    place.import(&format!("{SETUP}\n{ACCOUNT}")).await;
    let lines = r#"
{"kind":"attachment","entry":"EntryAAA","tab":"TabAttac","file":"FileWithoutName","order":1}
{"kind":"file","token":"FileWithoutName","filename":"a.txt","data":"SGVsbG8sIHdvcmxk","download_link":"https://api.example.org/download/a"}
{"kind":"entry","slug":"EntryAAA","title":"First","category":"CategAAA","entrant":"UserAAAA"}
"#;
    let (_, faults) = place.import_for(lines, Some("AccountA")).await;
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(place.count("attachments").await, 1);
    let again = lines.replace("\"order\":1}", "\"order\":1}\n{\"kind\":\"attachment\",\"entry\":\"EntryAAA\",\"tab\":\"TabAttac\",\"file\":\"FileWithoutName\",\"order\":2}");
    let (_, faults) = place.import_for(&again, Some("AccountA")).await;
    assert_eq!(faults.len(), 1, "{faults:?}");
}

#[tokio::test]
async fn what_a_record_names_that_is_not_there_is_told_beside_what_is_wrong_with_it() {
    let place = Place::new().await;
    place.import(&format!("{SETUP}\n{ACCOUNT}")).await;
    let entry = r#"{"kind":"entry","slug":"EntryBBB","title":"x","season":"NoSuchSe","chapter":"NoSuchCh","form":"NoSuchFo",
        "category":"NoSuchCa","entrant":"NoSuchUs","grant_end_date":"x"}"#;
    let user = r#"{"kind":"user","slug":"UserBBBB","first_name":"x","last_name":"x","roles":["NoSuchRo"],"mobile":1}"#;
    let of_entry: &[&str] = &["season", "chapter", "form", "category", "entrant", "grant_end_date"];
    for (line, members) in [(entry, of_entry), (user, &["roles", "mobile"])] {
        let (_, faults) = place.import_for(&line.replace('\n', ""), Some("AccountA")).await;
        let told = |member: &&&str| faults.iter().any(|fault| fault.contains(&format!(": {member}")));
        assert_eq!((members.iter().filter(told).count(), faults.len()), (members.len(), members.len()), "{faults:?}");
    }
}
