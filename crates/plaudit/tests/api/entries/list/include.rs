//! `include=`: members of a single read in a list.

use serde_json::Value;

use crate::both_engines;
use crate::harness::{XML, tree};

const MEMBERS: [&str; 3] = ["entry_fields", "attachments", "contributors"];

/// The entry of a list without the members that are not included.
fn without(single: &Value, members: &[&str]) -> Value {
    let mut single = single.as_object().unwrap().clone();
    for member in MEMBERS.into_iter().filter(|member| !members.contains(member)) {
        single.shift_remove(member);
    }
    Value::Object(single)
}

both_engines! {
    async fn every_subset_of_the_members_of_a_single_read_can_be_included(server) {
        let one = server.get("/entry/EntryOne").await.expect(200).json();
        let two = server.get("/entry/EntryTwo").await.expect(200).json();
        for chosen in 1..8 {
            let members: Vec<&str> =
                MEMBERS.into_iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1).map(|(_, member)| member).collect();
            let path = format!("/entry?order=local_id&include={}", members.join(","));
            let answer = server.get(&path).await.expect(200);
            let shown = answer.json();
            assert_eq!(shown["data"][0].to_string(), without(&one, &members).to_string(), "{path}");
            assert_eq!(shown["data"][1].to_string(), without(&two, &members).to_string(), "{path}");
            let xml = server.get_with(&path, &[("accept", XML)]).await.expect(200);
            tree::assert_same(&answer.body, &xml.body);
        }
        let german = [("x-api-language", "de_DE")];
        let path = "/entry?order=local_id&per_page=1&include=contributors,entry_fields,attachments";
        let shown = server.get_with(path, &german).await.expect(200).json();
        assert_eq!(shown["data"][0], server.get_with("/entry/EntryOne", &german).await.expect(200).json());
    }

    async fn addresses_of_files_in_a_list_are_as_fresh_as_in_a_single_read(server) {
        let path = "/entry?order=local_id&per_page=1&include=entry_fields,attachments,contributors";
        for seconds in [0, 1, 600, 1_000] {
            server.clock.advance(seconds);
            let shown = server.get(path).await.expect(200).json();
            assert_eq!(shown["data"][0], server.get("/entry/EntryOne").await.expect(200).json());
        }
    }

    async fn members_are_included_without_a_statement_for_each_entry(server) {
        server.statements_of("/entry?per_page=7").await;
        server.statements_of("/entry?per_page=6").await;
        let bare = server.statements_of("/entry?per_page=9").await;
        assert_eq!(bare, 1);
        assert_eq!(server.statements_of("/entry?per_page=8&include=entry_fields,attachments,contributors").await, bare);
        assert_eq!(server.statements_of("/entry?per_page=9").await, 1, "an answer that is still good is given again");
    }
}
