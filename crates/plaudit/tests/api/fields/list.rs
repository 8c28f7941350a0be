//! `GetFieldCollectionV23`: what its own filters and sorts mean. What every list has is in `setup_lists`.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, JSON, Server};

/// More fields, of another form and season, without a form, and in the trash.
const MORE: &str = r#"{"kind":"form","slug":"FormOldS","season":"SeasonOl","name":{"en_GB":"Old form"}}
{"kind":"form","slug":"FormEver","name":{"en_GB":"Every season's"}}
{"kind":"tab","slug":"TabOldSe","form":"FormOldS","type":"General","name":{"en_GB":"Work"}}
{"kind":"tab","slug":"TabEverA","form":"FormEver","type":"Eligibility","name":{"en_GB":"Are you?"}}
{"kind":"field","slug":"FieldOld","tab":"TabOldSe","type":"text","title":{"en_GB":"old"},"protection":"elevated"}
{"kind":"field","slug":"FieldEve","tab":"TabEverA","type":"checkbox","title":{"en_GB":"Ever"},"auto_scoring":5}
{"kind":"field","slug":"FieldUsr","resource":"users","type":"country","title":{"en_GB":"Home"},"registration":"required"}
{"kind":"field","slug":"FieldCat","form":"FormEntr","tab":"TabGener","type":"text","title":{"en_GB":"alone"},"categories":["CategChi"],"protection":"maximum","conditional":{"field":"FieldRad","operator":"equals","value":"no"}}
{"kind":"field","slug":"FieldDel","form":"FormEntr","tab":"TabGener","type":"text","title":{"en_GB":"Gone"},"deleted":true}"#;

async fn slugs(server: &Server, query: &str) -> Vec<String> {
    let page = server.get(&format!("/field?per_page=100&{query}")).await.expect(200).json();
    let slugs = page["data"].as_array().unwrap().iter().map(|field| field["slug"].as_str().unwrap().to_owned());
    slugs.collect()
}

/// The last three letters of the slugs, in order of the slug.
async fn selected(server: &Server, query: &str) -> String {
    let mut slugs = slugs(server, query).await;
    slugs.sort();
    slugs.iter().map(|slug| &slug[5..]).collect::<Vec<_>>().join(" ")
}

both_engines! {
    async fn a_page_of_fields_has_each_as_a_single_read_shows_it(server) {
        let page = server.get("/field?per_page=3").await.expect(200).json();
        assert_eq!((&page["total"], &page["last_page"], &page["path"]), (&json!(7), &json!(3), &json!(format!("{BASE}/field"))));
        for field in page["data"].as_array().unwrap() {
            let path = format!("/field/{}", field["slug"].as_str().unwrap());
            assert_eq!(&server.get(&path).await.expect(200).json(), field);
        }
    }

    async fn each_filter_selects(server) {
        server.import(&of_account_a(MORE)).await;
        let live = "Att Cat Con Ctr Eve Fil Rad Tab Txt Usr";
        for (query, expected) in [
            ("", live),
            ("season=SeasonAc", live),
            ("season=SeasonOl", "Eve Old Usr"),
            ("season=all", "Att Cat Con Ctr Eve Fil Old Rad Tab Txt Usr"),
            ("deleted=only", "Del"),
            ("deleted=included", "Att Cat Con Ctr Del Eve Fil Rad Tab Txt Usr"),
            ("deleted=none", live),
            ("conditional=only", "Cat Con"),
            ("conditional=none", "Att Ctr Eve Fil Rad Tab Txt Usr"),
            ("conditional=FieldRad", "Cat Con"),
            ("conditional=FieldTxt", ""),
            ("protection=standard", "Att Con Ctr Eve Fil Rad Tab Txt Usr"),
            ("protection=elevated&season=all", "Old"),
            ("protection=maximum", "Cat"),
            ("resource=entries", "Cat Con Eve Fil Rad Tab Txt"),
            ("resource=users", "Usr"),
            ("resource=attachments", "Att"),
            ("resource=contributors", "Ctr"),
            ("type=text", "Att Cat Ctr Txt"),
            ("type=drop-down-list", ""),
            ("type=formula", ""),
            ("category=CategChi", "Att Cat Con Ctr Fil Rad Tab Txt Usr"),
            ("category=CategPar", "Att Con Ctr Fil Rad Tab Txt Usr"),
            ("category=CategOld&season=all", "Eve Old Usr"),
            ("category=NoSuchCa", ""),
            ("form=FormEntr", "Att Cat Con Ctr Fil Rad Tab Txt"),
            ("form=FormOldS&season=all", "Old"),
            ("form=BFormEnt", ""),
            ("tab=TabContr", "Ctr"),
            ("tab=BTabGene", ""),
            ("type=text&resource=entries&protection=maximum&conditional=only&tab=TabGener", "Cat"),
        ] {
            assert_eq!(selected(&server, query).await, expected, "{query}");
        }
    }

    async fn each_sort_orders(server) {
        server.import(&of_account_a(MORE)).await;
        let at = |slugs: &[String], slug: &str| slugs.iter().position(|other| other == slug).unwrap();
        for (order, first, then) in [
            // Case does not count: Abstract comes before alone.
            ("title", "FieldTxt", "FieldCat"),
            ("title", "FieldCat", "FieldTab"),
            ("resource", "FieldAtt", "FieldCtr"),
            ("resource", "FieldCtr", "FieldTxt"),
            ("resource", "FieldTxt", "FieldUsr"),
            ("type", "FieldEve", "FieldUsr"),
            ("type", "FieldTxt", "FieldCon"),
            ("updated", "FieldTxt", "FieldCat"),
            ("created", "FieldTxt", "FieldCat"),
            ("categories", "FieldCat", "FieldTxt"),
            ("order", "FieldTxt", "FieldTab"),
            ("order", "FieldTab", "FieldFil"),
            ("tab", "FieldUsr", "FieldTxt"),
            ("tab", "FieldTxt", "FieldEve"),
            ("form", "FieldUsr", "FieldTxt"),
            ("form", "FieldTxt", "FieldEve"),
            ("auto_scoring", "FieldTxt", "FieldEve"),
            ("category_count", "FieldCat", "FieldTxt"),
        ] {
            let ascending = slugs(&server, &format!("order={order}")).await;
            assert_eq!(ascending.len(), 10);
            assert!(at(&ascending, first) < at(&ascending, then), "{order}: {ascending:?}");
            let descending = slugs(&server, &format!("order={order}&dir=desc")).await;
            assert!(at(&descending, then) < at(&descending, first), "{order}: {descending:?}");
        }
        assert_eq!(slugs(&server, "").await[0], "FieldCat", "what was changed last comes first");
    }

    async fn every_wrong_filter_is_told_at_once(server) {
        for format in FORMATS {
            let path = "/field?conditional=yes&protection=high&resource=referees&type=essay&category=x&form=&tab=1&season=now&deleted=yes&colour=red";
            let answer = server.get_with(path, &[("accept", format)]).await.expect(400);
            let mut names = error_names(&answer, format).unwrap();
            names.sort();
            assert_eq!(names, ["invalid_filter_names", "invalid_filter_values"]);
            if format == JSON {
                let values = answer.json()["errors"]["invalid_filter_values"].clone();
                assert_eq!(values.as_object().unwrap().len(), 9, "{values}");
                assert_eq!(values["conditional"], Value::from("must be a slug of 8 letters, or one of: only, none"));
            }
        }
    }
}
