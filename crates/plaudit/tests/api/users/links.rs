//! `GetUserAuthTokenV23`, and the links by which a user signs in or confirms.

use std::sync::Arc;

use kernel::text::Slug;
use plaudit::program::keys::Scope;
use plaudit::records::users::links::{Link, Purpose};
use plaudit::signing::DownloadSigner;
use serde_json::json;

use super::wrong;
use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::{Answer, BASE, NOW, Server};

/// Follows a link, given by its address after the base address.
async fn follow(server: &Server, method: &str, address: &str) -> Answer {
    server.send_anything(server.request(method, address, &[("x-api-key", ""), ("accept", "")], None)).await
}

/// A link by which a user confirms.
async fn confirm_link(server: &Server, account: &str, user: &str) -> String {
    let slug = |text| Slug::parse(text).unwrap();
    let (id, now) = (server.account(account).await, server.clock.now());
    let link = Link::new(Purpose::Confirm, server.ids.secret(40), now);
    let state = (id, link.clone(), slug(user), now);
    server
        .db
        .write(id, state, |tx, (id, link, user, now)| Box::pin(link.keep(tx, *id, *user, *now)))
        .await
        .map_err(|error: db::DbError| error)
        .unwrap();
    link.address(&server.app.signer, slug(account))
}

async fn token_link(server: &Server) -> String {
    let answer = server.get("/user/UserEntr/auth-token").await.expect(200).json();
    answer["link"].as_str().unwrap().strip_prefix(BASE).unwrap().to_owned()
}

both_engines! {
    async fn a_token_tells_where_and_until_when_it_is_good(server) {
        let answer = server.get("/user/UserEntr/auth-token").await.expect(200);
        let told = answer.json();
        let names: Vec<_> = told.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, ["auth_token", "link", "expires"]);
        let token = told["auth_token"].as_str().unwrap();
        assert!(token.len() == 40 && token.bytes().all(|byte| byte.is_ascii_alphabetic()));
        assert!(told["link"].as_str().unwrap().starts_with(&format!("{BASE}/sign-in/AccountA/{token}?expires=")));
        assert_eq!(told["expires"], "2026-01-31T12:01:00.000000Z");
        let tag = answer.header("etag").unwrap();
        let other = server.get_with("/user/UserEntr/auth-token", &[("if-none-match", tag)]).await.expect(200);
        assert_ne!(other.json()["auth_token"], told["auth_token"]);
        let sql = "SELECT count(*) FROM one_time_links";
        assert_eq!(server.db.first(sql, &[], |row| row.integer(0)).await.unwrap(), Some(2));
    }

    async fn errors_of_a_token_in_both_formats(server) {
        let read = server.new_key("AccountA", Scope::Read).await;
        server.delete("/user/UserMana").await.expect(204);
        for format in FORMATS {
            let headers = [("accept", format)];
            for unknown in ["NoSuchUs", "BUserEnt", "UserMana"] {
                server.get_with(&format!("/user/{unknown}/auth-token"), &headers).await.expect(404);
            }
            server.get_with("/user/short/auth-token", &headers).await.expect(400);
            server.get_with("/user/ase@example.org/auth-token", &headers).await.expect(400);
            let headers = [("accept", format), ("x-api-key", read.as_str())];
            server.get_with("/user/UserEntr/auth-token", &headers).await.expect(403);
        }
    }

    async fn a_first_sign_in_confirms_and_later_ones_do_not_again(server) {
        assert_eq!(server.get("/user/UserEntr").await.json()["confirmation"], "Invited");
        let changes = server.changes("AccountA").await.len();
        let link = token_link(&server).await;
        assert_eq!(follow(&server, "HEAD", &link).await.status, 204, "a look does not use it up");
        let answer = follow(&server, "GET", &link).await.expect(200);
        assert_eq!(answer.json(), json!({"account": "AccountA", "user": "UserEntr"}));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        let shown = server.get("/user/UserEntr").await.json();
        assert_eq!((&shown["confirmation"], &shown["confirmed_at"], &shown["updated"]), (&json!("Confirmed"), &json!(NOW), &json!(NOW)));
        let used = follow(&server, "GET", &link).await.expect(403);
        server.clock.advance(5);
        follow(&server, "POST", &token_link(&server).await).await.expect(200);
        assert_eq!(server.get("/user/UserEntr").await.json()["confirmed_at"], NOW);
        assert_eq!(server.changes("AccountA").await[changes..], ["user UserEntr updated user_confirmed,user_updated"]);
        assert_eq!(server.get("/user?confirmation=confirmed").await.json()["total"], 1);
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());

        let ended = token_link(&server).await;
        server.clock.advance(60);
        let ended = follow(&server, "GET", &ended).await.expect(403);
        assert_eq!(ended.body, used.body, "why a link is not good is not told");
    }

    async fn a_confirmation_link_confirms_once_within_its_week(server) {
        let link = confirm_link(&server, "AccountA", "UserMana").await;
        let late = confirm_link(&server, "AccountA", "UserEntr").await;
        follow(&server, "GET", &link.replace("/confirm/", "/sign-in/")).await.expect(403);
        server.clock.advance(7 * 86_400 - 1);
        follow(&server, "GET", &link).await.expect(200);
        follow(&server, "GET", &link).await.expect(403);
        assert_eq!(server.get("/user/UserMana").await.json()["confirmation"], "Confirmed");
        server.clock.advance(1);
        follow(&server, "GET", &late).await.expect(403);
        assert_eq!(server.get("/user/UserEntr").await.json()["confirmation"], "Invited");
        let log = server.changes("AccountA").await;
        assert_eq!(log.last().unwrap(), "user UserMana updated user_confirmed,user_updated");
        let account = server.account("AccountA").await;
        let sql = "SELECT actor || ' ' || source FROM changes WHERE account = $1 ORDER BY sequence DESC LIMIT 1";
        let actor = server.db.first(sql, &[account.into()], |row| Ok(row.text(0)?.to_owned())).await.unwrap().unwrap();
        assert_eq!(actor, "user:UserMana ui");
    }

    async fn a_link_that_was_changed_or_made_elsewhere_is_refused(server) {
        let link = token_link(&server).await;
        let (signed, signature) = link.split_once("&signature=").unwrap();
        let token = signed.split(['/', '?']).nth(3).unwrap();
        let elsewhere = Link::new(Purpose::SignIn, token.to_owned(), server.clock.now())
            .address(&DownloadSigner::new(&[9; 32]), Slug::parse("AccountA").unwrap());
        let unkept = Link::new(Purpose::SignIn, "x".repeat(40), server.clock.now())
            .address(&server.app.signer, Slug::parse("AccountA").unwrap());
        for wrong in [
            elsewhere,
            unkept,
            signed.to_owned(),
            format!("{signed}&signature="),
            format!("{signed}&signature={}", signature.to_uppercase()),
            link.replace("AccountA", "AccountB"),
            link.replace("expires=", "expires=1"),
            link.replace("expires=", "expires=%2B"),
            link.replace(token, &token.to_uppercase()),
            format!("/sign-in/AccountA/{token}"),
            format!("/sign-in/..%2f/{token}?expires=1&signature=x"),
            "/confirm/AccountA/%ff?expires=1&signature=x".to_owned(),
        ] {
            let answer = follow(&server, "GET", &wrong).await;
            assert!([400, 403].contains(&answer.status), "{wrong}: {}", answer.status);
        }
        follow(&server, "GET", &link).await.expect(200);
    }

    async fn a_link_of_a_trashed_user_or_a_closed_account_is_refused(server) {
        let link = token_link(&server).await;
        server.delete("/user/UserEntr").await.expect(204);
        follow(&server, "GET", &link).await.expect(403);
        server.post("/user/UserEntr/restore", "").await.expect(204);
        let link = token_link(&server).await;
        let account = crate::harness::fixture::ACCOUNT_A.lines().next().unwrap();
        server.import(&account.replace(r#""hosts""#, r#""suspended":true,"hosts""#)).await;
        follow(&server, "GET", &link).await.expect(403);
        server.import(account).await;
        follow(&server, "GET", &link).await.expect(200);
    }

    async fn of_many_who_follow_one_link_at_once_one_signs_in(server) {
        let link = Arc::new(token_link(&server).await);
        let server = Arc::new(server);
        let tasks: Vec<_> = (0..20).map(|_| {
            let (server, link) = (Arc::clone(&server), Arc::clone(&link));
            tokio::spawn(async move { follow(&server, "GET", &link).await.status })
        }).collect();
        let mut statuses = Vec::new();
        for task in tasks {
            statuses.push(task.await.unwrap());
        }
        statuses.sort_unstable();
        assert_eq!((statuses[0], statuses[1], statuses[19]), (200, 403, 403));
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());
    }
}
