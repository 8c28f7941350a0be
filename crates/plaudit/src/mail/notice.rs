//! What is written to people: to those whom a webhook names that it was disabled, and that a delivery has failed for good; to
//! reviewers that an entry waits for them; to judges that a round ends in which they have open sheets; to whom an API key names that it
//! ends.
//!
//! Of the address of a webhook only the host is told, because the rest of it may be a secret.

use std::time::Duration;

use url::Url;

use super::Message;
use kernel::text::{LocalTime, Slug, Timestamp};

/// How long after a message about a failure the next one about the same webhook is sent at the earliest.
const DAY: Duration = Duration::from_hours(24);

/// A webhook that something is told of.
#[derive(Clone, Copy, Debug)]
pub struct Webhook<'a> {
    /// Its account.
    pub account: Slug,
    /// What the account is called.
    pub account_name: &'a str,
    /// Its slug.
    pub slug: Slug,
    /// What it is called.
    pub name: &'a str,
    /// Where it delivers to.
    pub url: &'a str,
    /// Who is told.
    pub notification_emails: &'a [String],
}

/// A delivery that has failed for good.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// Its id.
    pub id: &'a str,
    /// The event.
    pub event: &'a str,
    /// The kind of the record.
    pub kind: &'a str,
    /// The record.
    pub slug: &'a str,
    /// How often it was attempted.
    pub attempts: usize,
    /// The status of the last answer, unless there was none.
    pub status: Option<u16>,
    /// What went wrong with the last attempt, unless it was answered.
    pub error: Option<&'a str>,
}

/// Whether a failure is told, where the last one of the webhook was told at that time: at most one a day.
pub fn is_due(last: Option<Timestamp>, now: Timestamp) -> bool {
    last.is_none_or(|last| now.since(last) >= DAY)
}

/// That a webhook was disabled by the service, why and when.
pub fn disabled(webhook: &Webhook<'_>, reason: &str, since: Timestamp) -> Message {
    let (Webhook { account, slug, name, .. }, host) = (webhook, webhook.host());
    let text = format!(
        "{about} has been disabled since {since}.

Reason: {reason}
Host: {host}

It gets no events until it is enabled again. When the endpoint is able to take them, send

    PUT /webhook/{slug}
    {{\"status\": \"enabled\"}}

or ask who runs the service for

    plaudit webhook enable {account} {slug}

It then gets what happens from then on. What happened meanwhile is delivered by

    POST /webhook/{slug}/replay
{FOOTER}",
        about = webhook.about(),
        since = shown(since),
    );
    Message {
        to: webhook.notification_emails.to_vec(),
        subject: format!("The webhook \"{name}\" ({slug}) was disabled"),
        text,
    }
}

/// That a delivery has failed for good.
pub fn failed(webhook: &Webhook<'_>, delivery: &Delivery<'_>) -> Message {
    let (Webhook { slug, name, .. }, host) = (webhook, webhook.host());
    let Delivery { id, event, kind, slug: record, attempts, status, error } = delivery;
    let last = match (status, error) {
        (Some(status), _) => format!("answered with status {status}"),
        (None, Some(error)) => (*error).to_owned(),
        (None, None) => "not answered".to_owned(),
    };
    let text = format!(
        "{about} could not deliver an event.

Event: {event}
Record: {kind} {record}
Attempts: {attempts}
Last attempt: {last}
Host: {host}

It is not attempted again by itself. When the endpoint is able to take it, send

    POST /webhook/{slug}/delivery/{id}/replay

Others may have failed as well: no more than one such message a day is sent for each webhook. All of them are listed by

    GET /webhook/{slug}/delivery?state=failed
{FOOTER}",
        about = webhook.about(),
    );
    let subject = format!("The webhook \"{name}\" ({slug}) could not deliver an event");
    Message { to: webhook.notification_emails.to_vec(), subject, text }
}

/// A review task that is brought to mind.
#[derive(Clone, Copy, Debug)]
pub struct ReviewReminder<'a> {
    /// What the account is called.
    pub account_name: &'a str,
    /// What the stage is called.
    pub stage: &'a str,
    /// What its reviewers are told.
    pub instructions: &'a str,
    /// The title of the entry.
    pub title: &'a str,
    /// The token of the task.
    pub token: &'a str,
    /// When it ends by itself.
    pub deadline: Option<Timestamp>,
}

/// That an entry waits for a decision of its reviewers.
pub fn reminder(about: &ReviewReminder<'_>, to: Vec<String>) -> Message {
    let ReviewReminder { account_name, stage, instructions, title, token, deadline } = about;
    let deadline = deadline.map_or_else(String::new, |at| format!("Decide before: {}\n", shown(at)));
    let instructions = if instructions.is_empty() { String::new() } else { format!("\n{instructions}\n") };
    let text = format!(
        "An entry to \"{account_name}\" waits for your decision.

Entry: {title}
Review: {stage}
Task: {token}
{deadline}{instructions}
This message was sent once, because you are named as a reviewer of the entry.
"
    );
    Message { to, subject: format!("{stage}: \"{title}\" waits for your decision"), text }
}

/// A round that ends, in which a judge has open sheets.
#[derive(Clone, Copy, Debug)]
pub struct OpenSheets<'a> {
    /// What the account is called.
    pub account_name: &'a str,
    /// What the round is called.
    pub round: &'a str,
    /// How many sheets of the judge are open.
    pub open: i64,
    /// When the round ends, by the clocks of the account, and in which time zone.
    pub end: (LocalTime, &'a str),
}

/// That a round ends in which a judge has open sheets.
pub fn open_sheets(about: &OpenSheets<'_>, to: String) -> Message {
    let OpenSheets { account_name, round, open, end: (end, zone) } = about;
    let sheets = if *open == 1 { "1 open sheet".to_owned() } else { format!("{open} open sheets") };
    let text = format!(
        "You have {sheets} in a round of judging of \"{account_name}\" that ends soon.

Round: {round}
Open sheets: {open}
Ends: {end} ({zone})

This message was sent once, because entries of the round are assigned to you.
"
    );
    Message { to: vec![to], subject: format!("{round}: {sheets} until {end}"), text }
}

/// An API key that ends soon.
#[derive(Clone, Copy, Debug)]
pub struct ExpiringKey<'a> {
    /// Its account.
    pub account: Slug,
    /// What the account is called.
    pub account_name: &'a str,
    /// Its slug.
    pub slug: Slug,
    /// What it is called.
    pub name: &'a str,
    /// What it allows.
    pub scope: &'a str,
    /// The person by whose roles it acts.
    pub user: Option<Slug>,
    /// When it ends.
    pub end: Timestamp,
}

/// That a key ends soon.
pub fn expiring_key(about: &ExpiringKey<'_>, to: Vec<String>) -> Message {
    let ExpiringKey { account, account_name, slug, name, scope, user, end } = about;
    let (end, user) = (shown(*end), user.map_or_else(String::new, |user| format!(" --user {user}")));
    let text = format!(
        "The key \"{name}\" ({slug}) of the account \"{account_name}\" ({account}) ends at {end}.

From then on it is refused. Ask who runs the service for a new one, by

    plaudit key create --account {account} --name NAME --scope {scope}{user}

This message was sent because the key has your address among those who are told before it ends.
"
    );
    Message { to, subject: format!("The key \"{name}\" ({slug}) ends at {end}"), text }
}

/// How each message to whom a webhook names ends.
const FOOTER: &str = "
This message was sent because the webhook has your address among its `notification_emails`.
";

impl Webhook<'_> {
    fn about(&self) -> String {
        let Self { account, account_name, slug, name, .. } = self;
        format!("The webhook \"{name}\" ({slug}) of the account \"{account_name}\" ({account})")
    }

    fn host(&self) -> String {
        let url = Url::parse(self.url).ok();
        url.as_ref().and_then(Url::host_str).unwrap_or("unknown").to_owned()
    }
}

/// A time to the second.
fn shown(time: Timestamp) -> String {
    let text = time.to_string();
    format!("{} UTC", text.split('.').next().unwrap_or_default().replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook(notification_emails: &[String]) -> Webhook<'_> {
        Webhook {
            notification_emails,
            account: Slug::parse("ExmplAwd").unwrap(),
            account_name: "Example Awards",
            slug: Slug::parse("WebhSlug").unwrap(),
            name: "Web shop",
            url: "https://hooks.example.org:8443/in/a-secret?token=another-secret",
        }
    }

    fn time(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn whom_a_key_names_is_told_when_it_ends() {
        let (account, slug) = (Slug::parse("ExmplAwd").unwrap(), Slug::parse("ApiKeySl").unwrap());
        let end = time("2026-08-01T10:00:00.123456Z");
        let user = Slug::parse("UserSlug");
        let about =
            ExpiringKey { account, account_name: "Example Awards", slug, name: "Web shop", scope: "read", user, end };
        let notice = expiring_key(&about, vec!["ada@example.org".to_owned()]);
        assert_eq!(notice.subject, "The key \"Web shop\" (ApiKeySl) ends at 2026-08-01 10:00:00 UTC");
        let text = "The key \"Web shop\" (ApiKeySl) of the account \"Example Awards\" (ExmplAwd) ends at 2026-08-01 10:00:00 UTC.";
        assert!(notice.text.starts_with(text), "{}", notice.text);
        let command = "\n    plaudit key create --account ExmplAwd --name NAME --scope read --user UserSlug\n";
        assert!(notice.text.contains(command), "{}", notice.text);
    }

    #[test]
    fn a_judge_is_told_how_many_sheets_are_open_and_until_when() {
        let end = (LocalTime::parse("2026-03-09 10:00:00").unwrap(), "Europe/Berlin");
        let about = OpenSheets { account_name: "Example Awards", round: "First round", open: 1, end };
        let notice = open_sheets(&about, "ada@example.org".to_owned());
        assert_eq!(notice.subject, "First round: 1 open sheet until 2026-03-09 10:00:00");
        assert!(notice.text.contains("Ends: 2026-03-09 10:00:00 (Europe/Berlin)"), "{}", notice.text);
        let notice = open_sheets(&OpenSheets { open: 12, ..about }, String::new());
        assert!(
            notice.text.contains("You have 12 open sheets in a round of judging of \"Example Awards\""),
            "{}",
            notice.text
        );
    }

    #[test]
    fn a_webhook_that_was_disabled_is_told_with_why_since_when_and_how_to_enable_it() {
        let to = ["ada@example.org".to_owned()];
        let notice = disabled(&webhook(&to), "The endpoint answered 410.", time("2026-08-01T10:00:00.123456Z"));
        assert_eq!(
            (notice.to.as_slice(), &*notice.subject),
            (&to[..], "The webhook \"Web shop\" (WebhSlug) was disabled")
        );
        let text = "The webhook \"Web shop\" (WebhSlug) of the account \"Example Awards\" (ExmplAwd) has been disabled since \
                    2026-08-01 10:00:00 UTC.\n\nReason: The endpoint answered 410.\nHost: hooks.example.org\n";
        assert!(notice.text.starts_with(text), "{}", notice.text);
        for part in ["PUT /webhook/WebhSlug\n    {\"status\": \"enabled\"}", "plaudit webhook enable ExmplAwd WebhSlug"]
        {
            assert!(notice.text.contains(part), "{}", notice.text);
        }
        assert!(!notice.text.contains("secret"), "{}", notice.text);
    }

    #[test]
    fn a_delivery_that_has_failed_is_told_with_its_record_attempts_and_last_answer() {
        let delivery = Delivery {
            id: "msg_7_0_0123456789ab",
            event: "entry_updated",
            kind: "entry",
            slug: "EntrSlug",
            attempts: 10,
            status: Some(503),
            error: None,
        };
        let text = failed(&webhook(&[]), &delivery).text;
        let facts = "Event: entry_updated\nRecord: entry EntrSlug\nAttempts: 10\nLast attempt: answered with status 503\n\
                     Host: hooks.example.org\n";
        assert!(
            text.contains(facts) && text.contains("POST /webhook/WebhSlug/delivery/msg_7_0_0123456789ab/replay"),
            "{text}"
        );
        assert!(!text.contains("secret"), "{text}");
        for (error, told) in [(Some("no answer in 15 s"), "no answer in 15 s"), (None, "not answered")] {
            let text = failed(&webhook(&[]), &Delivery { status: None, error, ..delivery }).text;
            assert!(text.contains(&format!("Last attempt: {told}\n")), "{text}");
        }
    }

    #[test]
    fn a_reviewer_is_told_of_the_entry_the_review_and_the_deadline() {
        let about = ReviewReminder {
            account_name: "Example Awards",
            stage: "Consent",
            instructions: "Is it true?",
            title: "A lamp",
            token: "TokenOfATask",
            deadline: Some(time("2026-08-03T10:00:00Z")),
        };
        let notice = reminder(&about, vec!["ada@example.org".to_owned()]);
        assert_eq!(notice.subject, "Consent: \"A lamp\" waits for your decision");
        let text = "An entry to \"Example Awards\" waits for your decision.\n\nEntry: A lamp\nReview: Consent\n\
                    Task: TokenOfATask\nDecide before: 2026-08-03 10:00:00 UTC\n\nIs it true?\n\nThis message was sent once, \
                    because you are named as a reviewer of the entry.\n";
        assert_eq!(notice.text, text);
        let plain = reminder(&ReviewReminder { instructions: "", deadline: None, ..about }, Vec::new()).text;
        assert!(plain.contains("Task: TokenOfATask\n\nThis message"), "{plain}");
    }

    #[test]
    fn failures_of_a_webhook_are_told_once_a_day_at_most() {
        let last = time("2026-08-01T10:00:00Z");
        assert!(is_due(None, last));
        for (now, due) in [
            ("2026-08-01T10:00:00Z", false),
            ("2026-08-02T09:59:59.999999Z", false),
            ("2026-08-02T10:00:00Z", true),
            ("2026-07-31T10:00:00Z", false),
        ] {
            assert_eq!(is_due(Some(last), time(now)), due, "{now}");
        }
    }
}
