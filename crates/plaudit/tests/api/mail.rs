//! The job that sends messages.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use db::{AccountId, DbError};
use kernel::text::Slug;
use plaudit::jobs::{self, Failure, Job, State};
use plaudit::log::{Actor, Origin};
use plaudit::mail::{Message, Sender};
use plaudit::program::keys::{ApiKey, Scope};

use crate::both_engines;
use crate::harness::Server;

/// Has a message sent to these addresses.
async fn write_to(server: &Server, account: AccountId, to: &[&str]) -> Slug {
    let to = to.iter().map(|address| (*address).to_owned()).collect();
    let message = Message { to, subject: "News".to_owned(), text: "There are some.".to_owned() };
    let origin = Origin { actor: Actor::System, source: "system", at: server.clock.now() };
    let state = (account, message.to_json(), origin, server.ids.clone());
    let job = server.db.write(account, state, |tx, (account, input, origin, ids)| {
        Box::pin(jobs::add(tx, *account, (jobs::mail::WORK.kind, input.clone()), origin, ids))
    });
    job.await.map_err(|error: DbError| error).unwrap()
}

async fn find(server: &Server, account: AccountId, job: Slug) -> Job {
    jobs::store::find(&server.db, account, job).await.unwrap().unwrap().0
}

/// A mail server that tells to whom it was sent what, and refuses addresses that begin with `later` for now while it is busy.
struct MailServer {
    url: String,
    is_busy: Arc<AtomicBool>,
    taken: Arc<Mutex<Vec<String>>>,
}

impl MailServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let (is_busy, taken) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(Vec::new())));
        let server = Self { url, is_busy: Arc::clone(&is_busy), taken: Arc::clone(&taken) };
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                converse(&stream.unwrap(), &is_busy, &taken);
            }
        });
        server
    }
}

fn converse(mut stream: &TcpStream, is_busy: &AtomicBool, taken: &Mutex<Vec<String>>) {
    let (mut to, mut is_text) = (String::new(), false);
    let _ = stream.write_all(b"220 here\r\n");
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let answer = match line.as_str() {
            "." => {
                is_text = false;
                taken.lock().unwrap().push(std::mem::take(&mut to));
                "250 taken\r\n"
            }
            _ if is_text => continue,
            "DATA" => {
                is_text = true;
                "354 go on\r\n"
            }
            line if line.starts_with("RCPT TO:<later") && is_busy.load(Ordering::SeqCst) => "450 later\r\n",
            line => {
                if let Some(address) = line.strip_prefix("RCPT TO:") {
                    address.clone_into(&mut to);
                }
                "250 fine\r\n"
            }
        };
        let _ = stream.write_all(answer.as_bytes());
    }
}

both_engines! {
    async fn each_address_gets_a_message_of_its_own(server) {
        let account = server.account("AccountA").await;
        let job = write_to(&server, account, &["ada@example.org", "bob@example.org"]).await;
        assert_eq!(server.messages().len(), 0);
        server.settle().await;
        let messages = server.messages();
        let ids: Vec<&String> = messages.keys().collect();
        assert_eq!(ids, [&format!("{job}-0"), &format!("{job}-1")]);
        for (message, (own, other)) in messages.values().zip([("ada", "bob"), ("bob", "ada")]) {
            assert!(message.contains(&format!("\r\nTo: {own}@example.org\r\n")) && !message.contains(other), "{message}");
            assert!(message.contains("\r\nSubject: News\r\n") && message.contains("There are some."), "{message}");
        }
        let Job { state, report, .. } = find(&server, account, job).await;
        let progress = (report.progress.done, report.progress.total, report.progress.failed);
        assert_eq!((state, progress, report.errors.len()), (State::Done, (2, Some(2), 0), 0));
    }

    async fn a_message_that_waits_is_not_sent_to_who_was_erased_and_still_to_the_others(server) {
        let account = server.account("AccountA").await;
        let job = write_to(&server, account, &["ASE@example.org", "maria-ase@example.org"]).await;
        let own = write_to(&server, account, &["ase@example.org"]).await;
        server.post("/user/UserEntr/erase", "").await.expect(204);
        assert!(jobs::store::find(&server.db, account, own).await.unwrap().is_none());
        server.settle().await;
        let ids: Vec<String> = server.messages().into_keys().collect();
        assert_eq!(ids, [format!("{job}-1")]);
        let Job { state, report, .. } = find(&server, account, job).await;
        assert_eq!((state, report.errors.len()), (State::Done, 0));
    }

    async fn whom_a_key_names_is_told_a_week_and_a_day_before_it_ends_and_once_each(server) {
        let end = server.clock.now().plus(Duration::from_hours(8 * 24));
        let named = |key: &mut ApiKey| (key.expires, key.notify) = (Some(end), vec!["ada@example.org".to_owned()]);
        server.new_key_with("AccountA", Scope::Read, named).await;
        server.new_key_with("AccountA", Scope::Read, |key| (key.revoked, key.name) = { named(key); (Some(key.created), "revoked".to_owned()) }).await;
        server.new_key_with("AccountA", Scope::Read, |key| key.expires = Some(end)).await;
        plaudit::background::begin_upkeep(&server.app).await.unwrap();
        let mut told = Vec::new();
        for _ in 0..9 * 12 {
            server.settle().await;
            told.push(server.messages().len());
            server.clock.advance(2 * 60 * 60);
        }
        let [week, day] = [1, 2].map(|count| told.iter().position(|told| *told == count).unwrap());
        assert_eq!((week, day, told.last()), (12, 7 * 12, Some(&2)));
        assert!(server.messages().values().all(|message| message.contains("ends at 2026-02-08 12:00:00 UTC")));
    }

    async fn what_is_no_address_is_an_error_of_the_job_and_the_others_get_the_message(server) {
        let account = server.account("AccountA").await;
        let job = write_to(&server, account, &["nobody", "ada@example.org"]).await;
        server.settle().await;
        let ids: Vec<String> = server.messages().into_keys().collect();
        assert_eq!(ids, [format!("{job}-1")]);
        let Job { state, report, .. } = find(&server, account, job).await;
        let message = "The message could not be sent to this address.".to_owned();
        assert_eq!((state, report.errors), (State::Done, vec![Failure { item: "1".to_owned(), message }]));
    }

    async fn an_address_that_is_refused_for_now_is_tried_again_alone(server) {
        let mail = MailServer::start();
        let sender = Arc::new(Sender::open(&mail.url, "plaudit@awards.example").unwrap());
        let server = server.restart_with(|settings| settings.mail = sender).await;
        let account = server.account("AccountA").await;
        let job = write_to(&server, account, &["later@example.org", "ada@example.org"]).await;
        server.settle().await;
        assert_eq!(*mail.taken.lock().unwrap(), ["<ada@example.org>"]);
        assert_eq!(find(&server, account, job).await.state, State::Queued);
        mail.is_busy.store(false, Ordering::SeqCst);
        server.clock.advance(2);
        server.settle().await;
        assert_eq!(*mail.taken.lock().unwrap(), ["<ada@example.org>", "<later@example.org>"]);
        let Job { state, report, .. } = find(&server, account, job).await;
        assert_eq!((state, report.progress.done, report.progress.failed), (State::Done, 2, 0));
    }

    async fn a_mail_server_that_hangs_up_is_asked_once_a_run_whatever_the_number_of_addresses(server) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        std::thread::spawn(move || {
            for _ in listener.incoming() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        let sender = Arc::new(Sender::open(&url, "plaudit@awards.example").unwrap());
        let server = server.restart_with(|settings| settings.mail = sender).await;
        let account = server.account("AccountA").await;
        write_to(&server, account, &["ada@example.org", "bob@example.org", "eve@example.org"]).await;
        server.settle().await;
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }

    async fn a_job_tells_nothing_of_the_mail_server_that_takes_no_message(server) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        drop(listener);
        let sender = Arc::new(Sender::open(&url, "plaudit@awards.example").unwrap());
        let server = server.restart_with(|settings| settings.mail = sender).await;
        let account = server.account("AccountA").await;
        let job = write_to(&server, account, &["ada@example.org"]).await;
        for _ in 0..8 {
            server.settle().await;
            server.clock.advance(300);
        }
        assert_eq!(find(&server, account, job).await.state, State::Queued, "the server may be down for a day");
        for _ in 8..18 {
            server.settle().await;
            server.clock.advance(6 * 3600);
        }
        let Job { state, report, .. } = find(&server, account, job).await;
        let error = Failure { item: String::new(), message: "The message cannot be sent at present.".to_owned() };
        assert_eq!((state, report.errors), (State::Failed, vec![error]));
    }
}
