//! `GetFormCollectionV23` and `GetFormV23`. Filters, sorts and pages: `setup_lists`.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, BASE, XML, tree};

const REPORT: &str = r#"{"kind":"content_block","slug":"BlockOne","name":{"en_GB":"Welcome","de_DE":"Willkommen"},"content":{"en_GB":"<p>Read this first.</p>"},"created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-02T00:00:00.000000Z"}
{"kind":"form","slug":"FormRepo","season":"SeasonOl","name":{"en_GB":"Report","de_DE":"Bericht"},"type":"report","chapter_option":"select","callToAction":{"en_GB":"Tell us","ar_AR":"أخبرنا"},"content_block":"BlockOne","created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-03T00:00:00.000000Z"}
{"kind":"form","slug":"FormFree","name":{"en_GB":"Any season"},"updated":"2025-01-04T00:00:00.000000Z"}
{"kind":"form","slug":"FormArch","season":"SeasonAc","name":{"en_GB":"Archived"},"archived":true,"updated":"2025-01-05T00:00:00.000000Z"}
{"kind":"form","slug":"FormGone","season":"SeasonAc","name":{"en_GB":"Gone"},"deleted":true,"updated":"2025-01-06T00:00:00.000000Z"}"#;

fn report() -> Value {
    json!({
        "callToAction": {"en_GB": "Tell us"},
        "chapter_option": "select",
        "content_block": {
            "slug": "BlockOne", "link": format!("{BASE}/content-block/BlockOne"), "name": {"en_GB": "Welcome"}
        },
        "created": "2025-01-01T00:00:00.000000Z",
        "name": {"en_GB": "Report"},
        "season": {
            "slug": "SeasonOl", "link": format!("{BASE}/season/SeasonOl"), "name": {"en_GB": "Season 2025"}
        },
        "slug": "FormRepo",
        "type": "report",
        "updated": "2025-01-03T00:00:00.000000Z"
    })
}

fn slugs(answer: Answer) -> Vec<String> {
    let page = answer.expect(200).json();
    page["data"].as_array().unwrap().iter().map(|form| form["slug"].as_str().unwrap().to_owned()).collect()
}

both_engines! {
    async fn a_form_is_shown_with_every_member_in_order(server) {
        server.import(&of_account_a(REPORT)).await;
        let answer = server.get("/form/FormRepo").await.expect(200);
        assert_eq!(answer.text(), report().to_string());
        let all = server.get_with("/form/FormRepo", &[("x-api-language", "all")]).await.expect(200);
        assert_eq!(all.json()["callToAction"], json!({"en_GB": "Tell us", "de_DE": "", "ar_AR": "أخبرنا"}));
        assert_eq!(all.json()["season"]["name"]["de_DE"], "Saison 2025");
        let xml = server.get_with("/form/FormRepo", &[("x-api-language", "all"), ("accept", XML)]).await.expect(200);
        tree::assert_same(&all.body, &xml.body);
        let plain = server.get("/form/FormEntr").await.expect(200).json();
        assert_eq!((&plain["content_block"], &plain["callToAction"]), (&json!(null), &json!({"en_GB": ""})));
        let free = server.get("/form/FormFree").await.expect(200).json();
        assert_eq!((&free["season"], &free["content_block"]), (&json!(null), &json!(null)));
        assert_eq!(server.get("/form?season=SeasonOl&form_type=report").await.json()["data"][0], report());
    }

    async fn forms_are_sorted_by_slug_in_both_directions(server) {
        server.import(&of_account_a(REPORT)).await;
        let slugs = async |dir: &str| -> Vec<String> {
            let page = server.get(&format!("/form?season=all&deleted=included&archived=all&per_page=100&order=slug&dir={dir}")).await.expect(200).json();
            page["data"].as_array().unwrap().iter().map(|form| form["slug"].as_str().unwrap().to_owned()).collect()
        };
        let (mut ascending, descending) = (slugs("asc").await, slugs("desc").await);
        assert!(ascending.len() > 1 && ascending.is_sorted());
        ascending.reverse();
        assert_eq!(ascending, descending);
    }

    async fn a_form_without_a_season_is_in_the_list_of_each(server) {
        server.import(&of_account_a(REPORT)).await;
        assert_eq!(slugs(server.get("/form").await), ["FormFree", "FormEntr"]);
        assert_eq!(slugs(server.get("/form?season=SeasonOl").await), ["FormFree", "FormRepo"]);
        assert_eq!(slugs(server.get("/form?season=all").await), ["FormFree", "FormRepo", "FormEntr"]);
        for nowhere in ["NoSuchSe", "BSeasonA"] {
            assert_eq!(slugs(server.get(&format!("/form?season={nowhere}")).await), [""; 0], "{nowhere}");
        }
        assert_eq!(slugs(server.get("/form?archived=only&deleted=included").await), ["FormArch"]);
        assert_eq!(slugs(server.get("/form?deleted=only&archived=all").await), ["FormGone"]);
    }

    async fn an_archived_form_can_be_read_and_a_form_that_is_unknown_trashed_or_foreign_is_404(server) {
        server.import(&of_account_a(REPORT)).await;
        server.get("/form/FormArch").await.expect(200);
        for format in FORMATS {
            let unknown = server.get_with("/form/NoSuchFo", &[("accept", format)]).await.expect(404);
            for slug in ["FormGone", "BFormEnt", "SeasonAc"] {
                let answer = server.get_with(&format!("/form/{slug}"), &[("accept", format)]).await.expect(404);
                assert_eq!(answer.body, unknown.body, "{slug}");
            }
            server.get_with("/form/Form1", &[("accept", format)]).await.expect(400);
        }
    }

    async fn the_tag_of_a_form_changes_with_what_it_refers_to(server) {
        for path in ["/form", "/form/FormEntr"] {
            let first = server.get(path).await.expect(200).header("etag").unwrap().to_owned();
            server.get_with(path, &[("if-none-match", &first)]).await.expect(304);
            let name = format!("Renamed {}", path.len());
            let line = format!(r#"{{"kind":"season","slug":"SeasonAc","name":{{"en_GB":"{name}"}},"status":"active"}}"#);
            server.import(&of_account_a(&line)).await;
            let answer = server.get_with(path, &[("if-none-match", &first)]).await.expect(200);
            assert!(answer.text().contains(&name), "{}", answer.text());
        }
    }
}
