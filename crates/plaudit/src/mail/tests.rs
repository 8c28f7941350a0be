//! Messages, into a folder and to a server in this process that answers as the test says.

use lettre::transport::smtp::authentication::Credentials;
use proptest::prelude::*;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

fn now() -> Timestamp {
    Timestamp::parse("2026-08-01T10:00:00Z").unwrap()
}

const ID: &str = "AbCdEfGh-1";

fn a_message() -> Message {
    Message {
        to: vec!["ada@example.org".to_owned()],
        subject: "A webhook was disabled".to_owned(),
        text: "It answered 410.\n.\nEnable it again.\n".to_owned(),
    }
}

fn written(message: &Message) -> Result<String, MailError> {
    let from = message::address("plaudit@localhost").unwrap();
    Ok(String::from_utf8(message.written(ID, &from, now())?.formatted()).unwrap())
}

/// The names of the headers of a message.
fn headers(written: &str) -> Vec<&str> {
    let lines = written.split("\r\n\r\n").next().unwrap_or_default().split("\r\n");
    let names = lines.filter(|line| !line.starts_with([' ', '\t']));
    names.map(|line| line.split(':').next().unwrap_or_default()).collect()
}

const HEADERS: [&str; 9] = [
    "From",
    "Subject",
    "Date",
    "Message-ID",
    "Auto-Submitted",
    "To",
    "MIME-Version",
    "Content-Type",
    "Content-Transfer-Encoding",
];

#[test]
fn a_message_is_plain_text_that_a_program_wrote() {
    assert_eq!(
        written(&a_message()).unwrap(),
        "From: plaudit@localhost\r\n\
         Subject: A webhook was disabled\r\n\
         Date: Sat, 01 Aug 2026 10:00:00 +0000\r\n\
         Message-ID: <AbCdEfGh-1@localhost>\r\n\
         Auto-Submitted: auto-generated\r\n\
         To: ada@example.org\r\n\
         MIME-Version: 1.0\r\n\
         Content-Type: text/plain; charset=utf-8\r\n\
         Content-Transfer-Encoding: 7bit\r\n\
         \r\n\
         It answered 410.\r\n.\r\nEnable it again.\r\n\r\n"
    );
}

#[test]
fn texts_of_all_scripts_are_sent_in_ascii_and_the_host_of_an_address_too() {
    let message = Message {
        subject: "Preis für „Åse“".to_owned(),
        text: "Grüße aus Zürich".to_owned(),
        to: vec!["ase@bücher.example".to_owned()],
    };
    let written = written(&message).unwrap();
    assert!(written.is_ascii(), "{written}");
    assert!(written.contains("\r\nTo: ase@xn--bcher-kva.example\r\n"), "{written}");
    assert!(written.contains("\r\nSubject: Preis =?utf-8?b?"), "{written}");
    assert!(written.contains("Gr=C3=BC=C3=9Fe aus Z=C3=BCrich"), "{written}");
}

#[test]
fn a_line_break_in_a_subject_begins_no_header() {
    for line_break in ["\r\n", "\n", "\r", "\r\n ", "\n\n", "\u{85}", "\0\n"] {
        let subject = format!("Hello{line_break}Bcc: eve@example.org{line_break}{line_break}text");
        let written = written(&Message { subject, ..a_message() }).unwrap();
        assert_eq!(headers(&written), HEADERS, "{line_break:?}");
    }
}

#[test]
fn what_is_no_plain_address_is_refused() {
    let injected = "ada@example.org\r\nBcc: eve@example.org";
    for wrong in [
        injected,
        "ada\r\nBcc@example.org",
        "\"ada\r\nBcc: x\"@example.org",
        "\"a b\"@example.org",
        "ada@example.org, eve@example.org",
        "ada@example.org,eve@example.org",
        "Ada <ada@example.org>",
        "<ada@example.org>",
        "ada@example.org>\r\nRCPT TO:<eve@example.org",
        "ada@[127.0.0.1]",
        "ada@127.1",
        "ada@exa mple.org",
        "ada@exa\u{7f}mple.org",
        "ada\0@example.org",
        "ada",
        "@example.org",
        "ada@",
        "",
    ] {
        let refused = written(&Message { to: vec![wrong.to_owned()], ..a_message() }).unwrap_err();
        assert!(matches!(refused, MailError::Message(_)) && !refused.is_temporary(), "{wrong:?}: {refused}");
        assert!(!refused.to_string().contains('\n'), "{refused}");
        assert!(Sender::open("file:mail", wrong).is_err(), "{wrong:?}");
    }
    assert!(matches!(written(&Message { to: Vec::new(), ..a_message() }), Err(MailError::Message(_))));
}

proptest! {
    #[test]
    fn whatever_a_message_says_its_headers_are_those_that_it_has(subject in any::<String>(), text in any::<String>()) {
        let written = written(&Message { subject, text, ..a_message() }).unwrap();
        prop_assert_eq!(headers(&written), HEADERS);
        prop_assert!(written.split("\r\n").all(|line| line.len() <= 998), "{}", written);
    }

    #[test]
    fn whatever_an_address_is_it_begins_no_header(to in "\\PC*[\r\n\t <>,;]?[a-z\r\n]{0,3}@[a-z.\r\n]{1,9}") {
        if let Ok(written) = written(&Message { to: vec![to], ..a_message() }) {
            prop_assert_eq!(headers(&written), HEADERS);
        }
    }
}

#[tokio::test]
async fn a_message_that_is_sent_twice_is_one_file() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("a/mail");
    let sender = Sender::open(&format!("file:{}", folder.display()), "plaudit@localhost").unwrap();
    assert!(!folder.exists());
    for _ in 0..2 {
        sender.send(ID, &a_message(), now()).await.unwrap();
    }
    sender.send("other", &a_message(), now()).await.unwrap();
    let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names, ["AbCdEfGh-1.eml", "other.eml"]);
    assert_eq!(std::fs::read_to_string(folder.join("AbCdEfGh-1.eml")).unwrap(), written(&a_message()).unwrap());
}

#[tokio::test]
async fn an_id_leads_out_of_no_folder_and_into_no_header() {
    let folder = tempfile::tempdir().unwrap();
    let sender = Sender::open(&format!("file:{}", folder.path().display()), "plaudit@localhost").unwrap();
    for wrong in ["", "../x", "a/b", ".", "a.b", "a\r\nBcc: b", "a@b", "a>b", "ä", &"x".repeat(65)] {
        let refused = sender.send(wrong, &a_message(), now()).await.unwrap_err();
        assert!(matches!(refused, MailError::Message(_)), "{wrong:?}: {refused}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_may_be_later() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let sender = Sender::open(&format!("file:{}/mail", file.display()), "plaudit@localhost").unwrap();
    assert!(sender.send(ID, &a_message(), now()).await.unwrap_err().is_temporary());
}

/// A server that takes one connection and every message, but for the lines that begin as one of these: they are answered so, or by
/// the end of the connection where the answer is empty. It gives what it was sent.
async fn server(answers: &'static [(&'static str, &'static str)]) -> (Sender, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let sender = sender(&format!("smtp://{}", listener.local_addr().unwrap()));
    let conversation = async move {
        let (stream, _) = listener.accept().await.unwrap();
        let (mut lines, mut told, mut is_text) = (BufReader::new(stream), Vec::new(), false);
        lines.write_all(b"220 here\r\n").await.unwrap();
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line).await.unwrap_or(0) == 0 {
                return told;
            }
            let usual = match line.get(..4) {
                _ if line == ".\r\n" => "250 taken",
                _ if is_text => "",
                Some("EHLO") => "250-here\r\n250 8BITMIME",
                Some("DATA") => "354 go on",
                Some("QUIT") => "221 bye",
                _ => "250 fine",
            };
            let own = answers.iter().find(|(begin, _)| line.starts_with(begin) && (!is_text || line == ".\r\n"));
            told.push(line);
            let answer = own.map_or(usual, |(_, answer)| answer);
            is_text = answer.starts_with("354") || (is_text && answer.is_empty() && own.is_none());
            if own.is_some() && answer.is_empty() {
                return told;
            }
            if !answer.is_empty() && lines.write_all(format!("{answer}\r\n").as_bytes()).await.is_err() {
                return told;
            }
        }
    };
    (sender, tokio::spawn(conversation))
}

fn sender(url: &str) -> Sender {
    Sender::open(url, "plaudit@awards.example").unwrap()
}

#[tokio::test]
async fn a_server_gets_the_message_as_it_is_written() {
    let (sender, server) = server(&[]).await;
    let message = Message { to: vec!["ada@example.org".to_owned(), "bob@example.org".to_owned()], ..a_message() };
    sender.send(ID, &message, now()).await.unwrap();
    let told = server.await.unwrap();
    let commands = [
        "EHLO awards.example\r\n",
        "MAIL FROM:<plaudit@awards.example>\r\n",
        "RCPT TO:<ada@example.org>\r\n",
        "RCPT TO:<bob@example.org>\r\n",
        "DATA\r\n",
        "From: plaudit@awards.example\r\n",
    ];
    assert_eq!(told[..6], commands);
    assert!(told.contains(&"Message-ID: <AbCdEfGh-1@awards.example>\r\n".to_owned()), "{told:?}");
    // A line that is a dot would end the message.
    assert!(
        told.ends_with(&["..\r\n", "Enable it again.\r\n", "\r\n", "\r\n", ".\r\n", "QUIT\r\n"].map(str::to_owned)),
        "{told:?}"
    );
}

#[tokio::test]
async fn an_error_tells_whether_another_attempt_may_do_better() {
    for (answers, is_temporary) in [
        (&[("RCPT", "450 try later")] as &[_], true),
        (&[("RCPT", "550 no such user")], false),
        (&[("MAIL", "421 closing")], true),
        (&[("MAIL", "553 not allowed")], false),
        (&[("DATA", "554 no")], false),
        (&[(".", "452 no room")], true),
        (&[(".", "554 spam")], false),
        (&[("EHLO", "554 go away")], true),
        (&[("DATA", "")], true),
        (&[("MAIL", "nonsense")], true),
    ] {
        let (sender, server) = server(answers).await;
        let error = sender.send(ID, &a_message(), now()).await.unwrap_err();
        assert_eq!(error.is_temporary(), is_temporary, "{answers:?}: {error}");
        assert_eq!(matches!(error, MailError::Refused(_)), !is_temporary, "{answers:?}: {error}");
        server.await.unwrap();
    }
}

#[tokio::test]
async fn what_a_server_says_is_told_as_one_short_line() {
    let (sender, _server) = server(&[("RCPT", "550-no such user\r\n550 here, nor there, nor anywhere")]).await;
    let error = sender.send(ID, &a_message(), now()).await.unwrap_err().to_string();
    assert!(error.contains("no such user") && error.contains("550") && !error.contains('\n'), "{error}");
}

#[tokio::test]
async fn an_address_of_other_letters_is_refused_by_a_server_that_does_not_know_them() {
    let message = Message { to: vec!["åse@example.org".to_owned()], ..a_message() };
    let (sender, _server) = server(&[]).await;
    assert!(matches!(sender.send(ID, &message, now()).await, Err(MailError::Refused(_))));
    let (sender, server) = self::server(&[("EHLO", "250-here\r\n250-8BITMIME\r\n250 SMTPUTF8")]).await;
    sender.send(ID, &message, now()).await.unwrap();
    assert!(server.await.unwrap()[1].contains(" SMTPUTF8"));
}

#[tokio::test]
async fn a_server_that_is_not_there_may_be_later() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    assert!(sender(&format!("smtp://{address}")).send(ID, &a_message(), now()).await.unwrap_err().is_temporary());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_given_up_after_half_a_minute() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let sender = sender(&format!("smtps://{}", listener.local_addr().unwrap()));
    let connected = tokio::spawn(async move { listener.accept().await.unwrap() });
    let error = sender.send(ID, &a_message(), now()).await.unwrap_err();
    assert!(error.is_temporary() && error.to_string().ends_with("has not taken it in 30 s"), "{error}");
    connected.await.unwrap();
}

#[tokio::test]
async fn a_connection_is_encrypted_where_the_server_offers_it() {
    let offer = &[("EHLO", "250-here\r\n250 STARTTLS"), ("STARTTLS", "220 go on\r\nthis is no TLS")];
    let (sender, server) = server(offer).await;
    assert!(sender.send(ID, &a_message(), now()).await.unwrap_err().is_temporary());
    assert_eq!(server.await.unwrap()[..2], ["EHLO awards.example\r\n", "STARTTLS\r\n"]);
}

#[tokio::test]
async fn a_password_is_sent_over_no_open_connection_and_told_to_nobody() {
    let (open, server) = server(&[("EHLO", "250-here\r\n250 AUTH PLAIN LOGIN")]).await;
    let Place::Server(place) = &open.place else { panic!("no server") };
    let sender = sender(&format!("smtp://us%40er:s%2Fecret@127.0.0.1:{}", place.port));
    let error = sender.send(ID, &a_message(), now()).await.unwrap_err();
    assert!(error.is_temporary() && error.to_string().contains("no encryption"), "{error}");
    assert_eq!(server.await.unwrap(), ["EHLO awards.example\r\n"]);
    let texts = format!("{error} {error:?} {sender:?}");
    assert!(!["us@er", "us%40er", "s/ecret", "s%2Fecret"].iter().any(|secret| texts.contains(secret)), "{texts}");
}

#[test]
fn user_and_password_are_decoded_and_ports_are_those_of_submission() {
    let of = |url| Server::parse(url, "awards.example").map(|server| (server.host, server.port, server.credentials));
    let credentials = |user: &str, password: &str| Some(Credentials::new(user.to_owned(), password.to_owned()));
    for (url, expected) in [
        ("smtp://mail.example", ("mail.example", 587, None)),
        ("smtp://mail.example:25/", ("mail.example", 25, None)),
        ("smtp://[::1]:2525", ("::1", 2525, None)),
        ("smtps://mail.example", ("mail.example", 465, None)),
        ("smtps://u%40x:p%3A%2F%C3%A9@mail.example:4650", ("mail.example", 4650, credentials("u@x", "p:/é"))),
        ("smtps://u:a+b%20c@mail.example", ("mail.example", 465, credentials("u", "a+b c"))),
    ] {
        let (host, port, credentials) = expected;
        assert_eq!(of(url), Ok((host.to_owned(), port, credentials)), "{url}");
    }
    for wrong in [
        "smtp://",
        "smtp:mail.example",
        "http://mail.example",
        "mail.example:25",
        "smtp://mail.example:x",
        "smtps://secret@mail.example",
        "smtps://user:%FF@mail.example",
        "smtp://mail.example/secret",
        "smtp://mail.example?tls=secret",
        "file:",
        "",
    ] {
        let error = Sender::open(wrong, "plaudit@localhost").unwrap_err();
        assert!(matches!(error, MailError::Settings(_) | MailError::Sender), "{wrong}: {error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
