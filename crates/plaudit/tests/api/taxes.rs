//! `GetTaxCollectionV23`. Sorts and pages: `setup_lists`.

use serde_json::json;

use crate::both_engines;
use crate::harness::fixture::of_account_a;
use crate::harness::{XML, tree};

const TAXES: &str = r#"{"kind":"tax","slug":"TaxOnCAN","country":"CA","country_name":"Canada","name":"HST","rate":8.25,"region":"ON","region_name":"Ontario","term":"Sales tax","created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-05T00:00:00.000000Z"}
{"kind":"tax","slug":"TaxOfJap","country":"JP","rate":10,"created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-04T00:00:00.000000Z"}
{"kind":"tax","slug":"TaxGoneX","country":"FR","rate":20,"deleted":true,"updated":"2025-01-06T00:00:00.000000Z"}"#;

both_engines! {
    async fn a_list_shows_every_member_of_a_tax_in_order(server) {
        server.import(&of_account_a(TAXES)).await;
        let answer = server.get("/tax").await.expect(200);
        let expected = json!([
            {
                "country": "CA", "country_name": "Canada", "created": "2025-01-01T00:00:00.000000Z", "name": "HST", "rate": 8.25,
                "region": "ON", "region_name": "Ontario", "slug": "TaxOnCAN", "term": "Sales tax",
                "updated": "2025-01-05T00:00:00.000000Z"
            },
            {
                "country": "JP", "country_name": "JP", "created": "2025-01-01T00:00:00.000000Z", "name": null, "rate": 10,
                "region": null, "region_name": null, "slug": "TaxOfJap", "term": "", "updated": "2025-01-04T00:00:00.000000Z"
            },
            {
                "country": "GB", "country_name": "United Kingdom", "created": "2025-01-01T00:00:00.000000Z", "name": "VAT",
                "rate": 20, "region": null, "region_name": null, "slug": "TaxVatGB", "term": "VAT",
                "updated": "2025-01-02T00:00:00.000000Z"
            }
        ]);
        assert!(answer.text().starts_with(&format!(r#"{{"current_page":1,"data":{expected},"#)), "{}", answer.text());
        let xml = server.get_with("/tax", &[("accept", XML)]).await.expect(200);
        tree::assert_same(&answer.body, &xml.body);
    }

    async fn the_tag_of_the_list_changes_with_a_tax(server) {
        let first = server.get("/tax").await.expect(200).header("etag").unwrap().to_owned();
        server.get_with("/tax", &[("if-none-match", &first)]).await.expect(304);
        server.import(&of_account_a(TAXES)).await;
        assert_eq!(server.get_with("/tax", &[("if-none-match", &first)]).await.expect(200).json()["total"], 3);
    }

    async fn taxes_are_only_read(server) {
        server.delete("/tax").await.expect(405);
    }
}
