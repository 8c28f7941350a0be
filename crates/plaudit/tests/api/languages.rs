//! `x-api-language`: the rules of the specification's section 2.1 and of the contract's section 3.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::{JSON, Server, XML, tree};

/// Every locale code of the specification but `all` and those that the account of the tests has.
const OTHER_LOCALES: &str = "bg_BG bn_IN ca_ES cs_CZ cy_GB da_DK en_US el_GR es_NN es_LA et_EE fa_NN fi_FI fr_FR fr_CA \
    he_IL hi_IN hr_HR hu_HU hy_AM it_IT ja_JP ko_KR lt_LT ms_MY nl_NL nb_NO pl_PL pt_BR ro_RO ru_RU sk_SK sl_SI sq_AL \
    sr_RS sv_SE sw_NN th_TH tr_TR uk_UA vi_VN zh_CN zh_HK";

async fn chapter(server: &Server, language: &str) -> Value {
    let answer = server.put_with("/chapter/ChapterN", "{}", &[("x-api-language", language)]).await;
    assert_eq!(answer.status, 200, "{language}: {}", answer.text());
    answer.json()
}

both_engines! {
    async fn without_the_header_the_default_language_is_shown(server) {
        for header in ["", " ", ","] {
            assert_eq!(chapter(&server, header).await["name"], json!({"en_GB": "North"}), "{header:?}");
        }
    }

    async fn the_locales_asked_for_are_shown_in_the_order_of_the_account(server) {
        let (english, german, arabic) = (("en_GB", "North"), ("de_DE", "Norden"), ("ar_AR", "الشمال"));
        for (header, expected) in [
            ("de_DE", vec![german]),
            ("en_GB", vec![english]),
            ("de_DE,en_GB", vec![english, german]),
            (" ar_AR , de_DE,ar_AR", vec![german, arabic]),
            ("ar_AR,de_DE,en_GB", vec![english, german, arabic]),
        ] {
            let name = chapter(&server, header).await["name"].clone();
            let shown: Vec<_> = name.as_object().unwrap().iter().map(|(code, text)| (code.as_str(), text.as_str().unwrap())).collect();
            assert_eq!(shown, expected, "{header}");
        }
    }

    async fn all_overrides_every_other_value(server) {
        for header in ["all", "all,de_DE", "de_DE,all", "xx_XX,all", "fr_FR, all ,nonsense"] {
            let shown = chapter(&server, header).await;
            let codes: Vec<_> = shown["name"].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(codes, ["en_GB", "de_DE", "ar_AR"], "{header}");
        }
    }

    async fn a_locale_without_a_translation_is_shown_empty(server) {
        let shown = chapter(&server, "all").await;
        assert_eq!(shown["description"].to_string(), r#"{"en_GB":"The north","de_DE":"","ar_AR":""}"#);
        assert_eq!(shown["season"]["name"]["ar_AR"], "");
        assert_eq!(chapter(&server, "ar_AR").await["description"], json!({"ar_AR": ""}));
    }

    async fn a_locale_that_the_account_does_not_support_is_refused(server) {
        let others = OTHER_LOCALES.split(' ').chain(["xx_XX", "en", "EN_gb", "en-GB", "ALL", "*"]);
        for code in others {
            for format in FORMATS {
                let headers = [("accept", format), ("x-api-language", code)];
                server.put_with("/chapter/ChapterN", "{}", &headers).await.expect(400);
                let list = format!("de_DE,{code}");
                server.get_with("/order", &[("accept", format), ("x-api-language", &list)]).await.expect(400);
            }
        }
    }

    async fn every_operation_shows_the_languages_asked_for(server) {
        let headers = [("x-api-language", "de_DE,en_GB")];
        let page = server.get_with("/order", &headers).await.expect(200).json();
        let order = page["data"].as_array().unwrap().iter().find(|order| order["slug"] == "OrderOne").unwrap();
        assert_eq!(order["season"]["name"].to_string(), r#"{"en_GB":"Season 2026","de_DE":"Saison 2026"}"#);
        let price = &order["items_array"][0]["price"]["title"];
        assert_eq!(price.to_string(), r#"{"en_GB":"Standard","de_DE":"Standardpreis"}"#);
        let amounts = async |language: &str| {
            let order = server.get_with("/order/OrderOne", &[("x-api-language", language)]).await.expect(200).json();
            order["items_array"][0]["amount"].as_str().unwrap().to_owned()
        };
        assert_eq!([amounts("en_GB").await, amounts("de_DE,en_GB").await, amounts("all").await], ["£50.00", "50,00\u{a0}£", "£50.00"]);
        let entry = server.put_with("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterN"}"#, &headers).await;
        let entry = entry.expect(200).json();
        assert_eq!(entry["category"]["name"].to_string(), r#"{"en_GB":"Posters","de_DE":"Plakate"}"#);
        assert_eq!(entry["entry_fields"][0]["title"].to_string(), r#"{"en_GB":"Abstract","de_DE":"Kurzfassung"}"#);
        let column = &entry["entry_fields"][1]["schema"]["columns"][0]["label"];
        assert_eq!(column.to_string(), r#"{"en_GB":"Item","de_DE":""}"#);
        let translated = entry["entry_fields"][0]["translated"].as_object().unwrap();
        assert_eq!(translated.keys().collect::<Vec<_>>(), ["en_GB", "de_DE"]);
    }

    async fn several_lines_of_the_header_are_one_list(server) {
        let mut request = server.request("GET", "/order?per_page=1", &[("x-api-language", "de_DE")], None);
        request.headers_mut().append("x-api-language", "en_GB".parse().unwrap());
        let page = server.send(request).await.expect(200).json();
        assert_eq!(page["data"][0]["season"]["name"].as_object().unwrap().len(), 2);
    }

    async fn representations_in_other_languages_and_formats_have_other_tags(server) {
        let mut tags = std::collections::HashSet::new();
        for language in ["", "de_DE", "ar_AR", "all", "de_DE,en_GB"] {
            for format in [JSON, XML] {
                let headers = [("accept", format), ("x-api-language", language)];
                let page = server.get_with("/order", &headers).await.expect(200);
                assert!(tags.insert(page.header("etag").unwrap().to_owned()), "{language} {format}");
            }
        }
    }

    async fn the_xml_of_every_language_is_the_tree_of_the_json(server) {
        for language in ["", "de_DE", "all"] {
            let get = async |format| {
                server.get_with("/order", &[("accept", format), ("x-api-language", language)]).await.expect(200).body
            };
            tree::assert_same(&get(JSON).await, &get(XML).await);
        }
    }
}
