//! `GetAccountV23`.

use serde_json::json;

use crate::both_engines;
use crate::harness::fixture::account_a;
use crate::harness::{BASE, JSON, Server, XML, tree};

const OWNED: &str = r#","features":["api"],"rate_limit":1000000,"global_id":"0f8fad5b-d9cb-469f-a165-70867728950e","owner":"UserEntr","product":"Gold","region":"eu","updated":"2025-02-01T00:00:00.000000Z""#;

both_engines! {
    async fn the_account_is_shown_with_every_member_in_order(server) {
        server.import(&account_a(OWNED)).await;
        let answer = server.get("/account").await.expect(200);
        let expected = json!({
            "created": "2025-01-01T00:00:00.000000Z",
            "domains": ["a.example.org"],
            "global_id": "0f8fad5b-d9cb-469f-a165-70867728950e",
            "languages": [{"code": "en_GB"}, {"code": "de_DE"}, {"code": "ar_AR"}],
            "name": "Awards A",
            "owner": {
                "slug": "UserEntr",
                "link": format!("{BASE}/user/UserEntr"),
                "name": "Åse O'Neil <&>",
                "first_name": "Åse",
                "last_name": "O'Neil <&>"
            },
            "product": "Gold",
            "region": "eu",
            "slug": "AccountA",
            "timezone": "Europe/London",
            "updated": "2025-02-01T00:00:00.000000Z"
        });
        assert_eq!(answer.text(), expected.to_string());
        let xml = server.get_with("/account", &[("accept", XML)]).await.expect(200);
        tree::assert_same(&answer.body, &xml.body);
    }

    async fn an_account_that_states_little_shows_what_follows(server) {
        let shown = server.get("/account").await.expect(200).json();
        assert_eq!(shown["owner"], json!(null));
        assert_eq!(shown["region"], "eu", "the region of the deployment");
        assert_eq!(shown["domains"], json!(["a.example.org"]), "the host names");
        assert!(shown["global_id"].as_str().is_some_and(|id| id.len() == 36), "{shown}");
        server.import(&account_a(r#","features":["api"],"rate_limit":1000000,"domains":["awards.example.net"]"#)).await;
        assert_eq!(server.get("/account").await.json()["domains"], json!(["awards.example.net"]));
    }

    async fn a_key_reads_its_own_account(server) {
        let key = server.new_key("AccountB", plaudit::program::keys::Scope::Read).await;
        let shown = server.get_with("/account", &[("x-api-key", &key)]).await.expect(200).json();
        assert_eq!((shown["slug"].as_str(), shown["timezone"].as_str()), (Some("AccountB"), Some("Europe/Berlin")));
    }

    async fn the_tag_changes_with_the_account_and_with_the_name_of_its_owner(server) {
        server.import(&account_a(OWNED)).await;
        let tag = async |server: &Server| server.get("/account").await.expect(200).header("etag").unwrap().to_owned();
        let first = tag(&server).await;
        let unchanged = server.get_with("/account", &[("if-none-match", &first)]).await.expect(304);
        assert!(unchanged.body.is_empty());
        assert_ne!(server.get_with("/account", &[("accept", XML)]).await.header("etag"), Some(first.as_str()));
        let owner = r#"{"kind":"user","slug":"UserEntr","first_name":"Åsa","last_name":"O'Neil","email":"ase@example.org"}"#;
        server.import(&format!("{}\n{owner}", account_a(OWNED))).await;
        let answer = server.get_with("/account", &[("if-none-match", &first), ("accept", JSON)]).await.expect(200);
        assert_eq!(answer.json()["owner"]["name"], "Åsa O'Neil");
        let second = tag(&server).await;
        server.import(&account_a(&OWNED.replace("Gold", "Silver"))).await;
        assert_eq!(server.get("/account").await.json()["product"], "Silver");
        assert_ne!(tag(&server).await, second);
    }
}
