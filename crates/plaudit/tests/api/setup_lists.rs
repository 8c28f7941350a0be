//! Every list of the set-up against the model of the proof `setup-lists`, which knows nothing of the service.

use plaudit::program::keys::Scope;

use crate::both_engines;
use crate::harness::Server;

#[path = "../../../../proofs/src/setup_lists/model/mod.rs"]
mod model;

use model::{LISTS, Setup};

/// One pair of filters of so many is asked for; the proof asks for all.
const ONE_PAIR_OF: usize = 13;

async fn start(server: &mut Server) -> Setup {
    let setup = Setup::new(7, 1);
    server.import(&setup.lines()).await;
    server.key = server.new_key(setup.account, Scope::Read).await;
    setup
}

both_engines! {
    async fn each_filter_and_sort_of_a_list_shows_what_it_is_defined_to(server) {
        let mut server = server;
        let setup = start(&mut server).await;
        for list in LISTS {
            for question in setup.questions(list, ONE_PAIR_OF) {
                let mut walk = question.walk();
                while let Some(path) = walk.next() {
                    let answer = server.get(path).await;
                    walk.take(answer.status, &answer.json());
                }
                walk.judge().unwrap();
            }
        }
    }

    async fn errors_of_a_list_name_each_filter_that_is_unknown_or_wrong(server) {
        let mut server = server;
        start(&mut server).await;
        for refusal in LISTS.iter().flat_map(model::refusals) {
            let answer = server.get(&refusal.path).await;
            refusal.judge(answer.status, &answer.json()).unwrap();
        }
    }

    async fn the_account_shows_what_its_record_says(server) {
        let mut server = server;
        let setup = start(&mut server).await;
        let shown = server.get("/account").await.expect(200).json();
        for member in ["slug", "name", "domains", "global_id", "product", "timezone", "created", "updated"] {
            assert_eq!(shown[member], setup.record_of_account()[member], "{member}");
        }
    }
}
