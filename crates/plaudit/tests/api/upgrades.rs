//! Documents of an older form: rewritten some at a time, while both forms are read and written, with no answer another one.

use db::AccountId;
use kernel::kind::Kind;
use plaudit::log::forms::{Forms, Step};
use plaudit::records::rewriting::{Rewritten, rewrite};

use crate::both_engines;
use crate::harness::{Server, check};

/// A form with a space where none was: in what is hidden of a user, and at the beginning of documents of program files. What
/// reads the older form reads it too.
const SPACED: Forms = Forms {
    written: 2,
    oldest: 1,
    steps: &[
        Step { form: 2, kind: Kind::Chapter, rewrite: spaced },
        Step { form: 2, kind: Kind::User, rewrite: hidden_spaced },
        Step { form: 2, kind: Kind::Contributor, rewrite: spaced },
    ],
};

/// The same, with a step that one of the documents does not take.
const FAULTY: Forms =
    Forms { steps: &[Step { form: 2, kind: Kind::Chapter, rewrite: |text| spaced_but("ChapterS", text) }], ..SPACED };

const READ: [&str; 6] =
    ["/user", "/user/UserEntr", "/chapter", "/chapter/ChapterN", "/contributor/Contribu", "/entry/EntryOne"];

fn spaced(text: &str) -> Result<String, String> {
    let members = text.strip_prefix('{').ok_or("it is no object")?;
    Ok(["{ ", members.trim_start()].concat())
}

fn spaced_but(slug: &str, text: &str) -> Result<String, String> {
    if text.contains(slug) { Err("it is not taken".to_owned()) } else { spaced(text) }
}

fn hidden_spaced(text: &str) -> Result<String, String> {
    let Some((before, hidden)) = text.split_once("\"\u{7f}h") else { return Ok(text.to_owned()) };
    let (length, hidden) = hidden.split_once("\":{").ok_or("nothing is hidden")?;
    let length: usize = length.parse().map_err(|_| "no length")?;
    let is_spaced = hidden.starts_with(' ');
    Ok(if is_spaced { text.to_owned() } else { format!("{before}\"\u{7f}h{}\":{{ {hidden}", length + 1) })
}

/// Everything that is read, and the export.
async fn answers(server: &Server) -> Vec<String> {
    let mut answers = Vec::new();
    for path in READ {
        answers.push(server.get(path).await.expect(200).text().to_owned());
    }
    // The form of program files is what some documents are stored in.
    answers.push(server.export("AccountA").await.replace("{ \"", "{\"").replace(", \"slug\"", ",\"slug\""));
    answers
}

async fn rewritten(server: &Server, most: u64) -> Rewritten {
    rewrite(&server.db, (&SPACED, 2), |count| count < most).await.unwrap()
}

/// The tables, each with how many rows of the first account have the form.
async fn rows_of_form(server: &Server, form: i64) -> Vec<i64> {
    let account = server.account("AccountA").await;
    let mut counts = Vec::new();
    for table in ["setup_records WHERE kind = 'chapter' AND", "users WHERE", "contributors WHERE"] {
        let sql = format!("SELECT count(*) FROM {table} account = $1 AND doc_form = $2");
        let count = server.db.first(&sql, &[account.into(), form.into()], |row| row.integer(0)).await.unwrap();
        counts.push(count.unwrap());
    }
    counts
}

both_engines! {
    async fn documents_are_rewritten_some_at_a_time_and_every_answer_stays(server) {
        let before = answers(&server).await;
        let all = rows_of_form(&server, 1).await;
        let first = rewritten(&server, 1).await;
        assert!(first.is_cut_off && first.documents > 0, "{first:?}");
        assert_ne!(rows_of_form(&server, 2).await, all);
        assert_eq!(answers(&server).await, before);
        let second = rewritten(&server, u64::MAX).await;
        assert!(!second.is_cut_off && second.documents > 0 && second.faults == 0, "{second:?}");
        assert_eq!(rows_of_form(&server, 2).await, all);
        assert_eq!(rewritten(&server, u64::MAX).await, Rewritten::default());
        assert_eq!(answers(&server).await, before);
        check::every_record_of(&server.db, &SPACED).await;
        // Nothing that was in memory is needed for it.
        let server = server.restart().await;
        assert_eq!(answers(&server).await, before);
    }

    async fn what_an_older_version_writes_meanwhile_is_rewritten_later(server) {
        rewritten(&server, u64::MAX).await;
        server.put("/chapter/ChapterN", r#"{"translated":{"name":{"en_GB":"Nord"}}}"#).await.expect(200);
        server.put("/user/UserEntr", r#"{"last_name":"Neal"}"#).await.expect(200);
        check::every_record_of(&server.db, &SPACED).await;
        let after = answers(&server).await;
        let tag = server.get("/user/UserEntr").await.header("etag").unwrap().to_owned();
        assert_eq!(rewritten(&server, u64::MAX).await.documents, 2);
        assert_eq!(answers(&server).await, after);
        // Whoever read a record before may change it: its revision is the same.
        let headers = [("if-match", tag.as_str())];
        server.put_with("/user/UserEntr", r#"{"last_name":"Neill"}"#, &headers).await.expect(200);
        check::every_record_of(&server.db, &SPACED).await;
    }

    async fn what_follows_from_a_document_is_written_anew_with_it(server) {
        for sql in ["UPDATE users SET email = ''", "DELETE FROM user_roles"] {
            let changed = server.db.write(AccountId::NONE, sql, |tx, sql| Box::pin(tx.execute(sql, &[])));
            assert!(changed.await.unwrap() > 0);
        }
        rewritten(&server, u64::MAX).await;
        check::every_record_of(&server.db, &SPACED).await;
    }

    async fn a_document_that_cannot_be_rewritten_is_named_and_keeps_nothing_from_the_others(server) {
        let before = answers(&server).await;
        let done = rewrite(&server.db, (&FAULTY, 2), |_| true).await.unwrap();
        assert_eq!(done.faults, 1);
        assert!(done.first_fault.unwrap().ends_with("chapter ChapterS: the database failed: to form 2: it is not taken"));
        assert_eq!(answers(&server).await, before);
        let forms = rows_of_form(&server, 1).await;
        assert_eq!(forms[0], 1);
    }
}
