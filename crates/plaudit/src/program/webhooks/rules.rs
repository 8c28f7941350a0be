//! Pure rules of webhooks.

use super::{Changes, MadeBy, ReplacedKey, SigningKey, Status, Webhook};
use crate::addresses::{self, Allowed};
use crate::log::Event;
use crate::program::Program;
use crate::program::fields::{Resource, form_of};
use url::Url;

use kernel::document;
use kernel::ids::Ids;
use kernel::input::Violations;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// What is wrong with a webhook among the records that it refers to.
pub(super) fn check(webhook: &Webhook, program: &Program) -> Violations {
    check_choice(Some(&webhook.events), &webhook.fields, webhook.form, program)
}

/// What is wrong with events, fields and a form together, as far as they are known.
fn check_choice(events: Option<&[Event]>, fields: &[Slug], form: Option<Slug>, program: &Program) -> Violations {
    let mut violations = Violations::default();
    // Nothing follows from a form that there is not, which is told elsewhere.
    let form = form.filter(|form| program.forms.any(*form).is_some());
    for slug in fields {
        let Some(field) = program.fields.any(*slug) else { continue };
        if !matches!(field.resource, Resource::Entries | Resource::Contributors | Resource::Attachments) {
            violations.add("fields", format!("{slug} must be a field about entries, contributors or attachments"));
        }
        if let (Some(form), Some(other)) = (form, form_of(field, program))
            && form != other
        {
            violations.add("fields", format!("{slug} must be a field of the form {form}"));
        }
    }
    if form.is_some() && events.is_some_and(|events| !events.iter().copied().any(has_form)) {
        violations.add("form", "must be null, because none of the events is of something that has a form");
    }
    violations
}

/// Whether what an event is about has a form.
fn has_form(event: Event) -> bool {
    !matches!(
        event,
        Event::MembershipRegistered
            | Event::UserConfirmed
            | Event::UserUpdated
            | Event::RoleGranted
            | Event::PaymentPending
            | Event::PaymentSuccess
    )
}

/// What a body names that the account does not have.
fn check_named(changes: &Changes, program: &Program, violations: &mut Violations) {
    if let Some(form) = changes.form.flatten().filter(|form| program.forms.live(*form).is_none()) {
        violations.add("form", format!("{form} is no form of the account"));
    }
    for field in changes.fields.iter().flatten().filter(|field| program.fields.live(**field).is_none()) {
        violations.add("fields", format!("{field} is no field of the account"));
    }
}

/// Refuses an address that is not dialled. One that is stored is checked again whenever it is.
fn check_dialled(url: Option<&str>, allowed: &Allowed, violations: &mut Violations) {
    let Some(url) = url.and_then(|url| Url::parse(url).ok()) else { return };
    if let Err(refusal) = addresses::check_url(&url, allowed) {
        violations.add("url", refusal.to_string());
    }
}

/// The webhook that a body makes, which was read with these violations.
pub fn create(
    program: &Program,
    (changes, mut violations): (Changes, Violations),
    slug: Slug,
    (ids, allowed): (&Ids, &Allowed),
    now: Timestamp,
) -> Result<Webhook, Violations> {
    check_named(&changes, program, &mut violations);
    check_dialled(changes.url.as_deref(), allowed, &mut violations);
    let (events, fields) = (changes.events.as_deref(), changes.fields.as_deref().unwrap_or_default());
    violations.append(check_choice(events, fields, changes.form.flatten(), program));
    let made = || {
        Some(Webhook {
            slug,
            events: changes.events?,
            fields: changes.fields.unwrap_or_default(),
            form: changes.form.flatten(),
            method: changes.method?,
            name: changes.name?,
            signing_key: changes.signing_key.flatten().unwrap_or_else(|| SigningKey::generated(ids)),
            url: changes.url?,
            created: now,
            updated: now,
            status: Status::Enabled,
            disabled_reason: None,
            headers: changes.headers.unwrap_or_default(),
            notification_emails: changes.notification_emails.unwrap_or_default(),
            replaced_keys: Vec::new(),
            made_by: MadeBy::Interface,
        })
    };
    violations.or(made())
}

/// The webhook after an update that was read with these violations.
pub fn update(
    program: &Program,
    webhook: &Webhook,
    (changes, mut violations): (Changes, Violations),
    (ids, allowed): (&Ids, &Allowed),
    now: Timestamp,
) -> Result<Webhook, Violations> {
    check_named(&changes, program, &mut violations);
    check_dialled(changes.url.as_deref().filter(|url| *url != webhook.url), allowed, &mut violations);
    let is_about_others = changes.form.is_some() || changes.fields.is_some() || changes.events.is_some();
    let key = changes.signing_key.clone();
    let mut after = webhook.clone();
    changes.apply(&mut after);
    if let Some(key) = key {
        after.rotate(key.unwrap_or_else(|| SigningKey::generated(ids)), now);
    }
    if after.status == Status::Enabled {
        after.disabled_reason = None;
    }
    if is_about_others {
        violations.append(check(&after, program));
    }
    if after != *webhook {
        after.updated = now;
    }
    violations.or(Some(after))
}

impl Webhook {
    /// The same with another status, and why the service disabled it, where it did.
    pub fn with_status(&self, status: Status, disabled_reason: Option<&str>, now: Timestamp) -> Self {
        Self { status, disabled_reason: disabled_reason.map(str::to_owned), updated: now, ..self.clone() }
    }

    /// Gives it another key; the one before stays valid for a while.
    pub fn rotate(&mut self, key: SigningKey, now: Timestamp) {
        if key != self.signing_key {
            let mut keys = self.keys(now.as_seconds());
            keys.rotate(key.key().clone(), now.as_seconds());
            self.signing_key = key;
            self.replaced_keys = keys.replaced.into_iter().map(ReplacedKey::of).collect();
        }
    }
}

/// The webhook as it is shown (contract, sections 6 and 11), with its secrets or without them.
pub fn document(webhook: &Webhook, program: &Program, shows_secrets: bool) -> String {
    document::object(|object| {
        object.list("events", |list| webhook.events.iter().for_each(|event| list.text(event.name())));
        object.list("fields", |list| {
            for field in webhook.fields.iter().filter(|field| program.fields.any(**field).is_some()) {
                list.reference(Kind::Field, *field);
            }
        });
        let form = webhook.form.filter(|form| program.forms.any(*form).is_some());
        object.optional_reference("form", Kind::Form, form);
        object.text("method", webhook.method.name());
        object.text("name", &webhook.name);
        object.slug("slug", webhook.slug);
        object.optional_text("signing_key", Some(webhook.signing_key.as_str()).filter(|_| shows_secrets));
        object.text("url", &webhook.url);
        object.time("created", webhook.created);
        object.time("updated", webhook.updated);
        object.text("status", webhook.status.name());
        object.optional_text("disabled_reason", webhook.disabled_reason.as_deref());
        object.object("headers", |object| {
            for (name, value) in webhook.headers.iter() {
                object.text(name, if shows_secrets { value } else { "" });
            }
        });
    })
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::program::testing::{self, program, read};
    use crate::program::webhooks::Method;

    const LEAST: &str = r#""events":["entry_created"],"method":"post","name":"CRM","url":"https://example.org/""#;

    fn webhook(more: &str) -> Webhook {
        read("HookAAAA", &format!(r#"{LEAST},"signing_key":"first"{more}"#)).unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    fn key(text: &str) -> SigningKey {
        SigningKey::parse(text).unwrap()
    }

    #[test]
    fn a_key_that_is_replaced_signs_for_a_day() {
        let mut webhook = webhook("");
        webhook.rotate(key("first"), at(0));
        assert_eq!(webhook.replaced_keys, []);
        webhook.rotate(key("second"), at(100));
        let day = webhook_signing::REPLACED_VALID_SECONDS;
        assert_eq!(webhook.replaced_keys, [ReplacedKey { key: key("first"), until: at(100 + day) }]);
        for (now, count) in [(100, 1), (99 + day, 1), (100 + day, 0)] {
            let keys = webhook.keys(now);
            assert_eq!((keys.current.as_bytes(), keys.replaced.len()), (&b"second"[..], count), "{now}");
        }
        testing::reads_back(&webhook);
    }

    #[test]
    fn a_webhook_is_told_of_its_events_and_of_its_form() {
        let [form, other] = ["FormAAAA", "FormBBBB"].map(|slug| Slug::parse(slug).unwrap());
        let every = webhook("");
        assert!(every.wants(Event::EntryCreated, Some(form)) && every.wants(Event::EntryCreated, None));
        assert!(!every.wants(Event::EntryUpdated, Some(form)));
        let limited = Webhook { form: Some(form), ..every };
        assert!(limited.wants(Event::EntryCreated, Some(form)));
        assert!(!limited.wants(Event::EntryCreated, Some(other)) && !limited.wants(Event::EntryCreated, None));
    }

    #[test]
    fn fields_are_about_entries_and_of_the_form() {
        let program = program(&[
            ("form", "FormAAAA", r#""name":{}"#),
            ("form", "FormBBBB", r#""name":{}"#),
            ("field", "FieldAAA", r#""resource":"contributors","form":"FormAAAA","type":"text","title":{}"#),
            ("field", "FieldUsr", r#""resource":"users","type":"text","title":{}"#),
        ]);
        let faults =
            |more: &str| check(&webhook(more), &program).iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(faults(r#","fields":["FieldAAA"]"#), [""; 0]);
        assert_eq!(faults(r#","fields":["FieldAAA"],"form":"FormAAAA""#), [""; 0]);
        assert_eq!(faults(r#","fields":["FieldAAA","FieldUsr"],"form":"FormBBBB""#), ["fields", "fields"]);
    }

    #[test]
    fn an_answer_without_secrets_has_the_names_of_headers_alone() {
        let webhook = webhook(r#","headers":{"X-Team":"secret"}"#);
        let program = program(&[]);
        assert!(document(&webhook, &program, true).contains(r#""signing_key":"first""#));
        let shown = document(&webhook, &program, false);
        assert!(shown.contains(r#""signing_key":null"#) && shown.ends_with(r#""headers":{"X-Team":""}}"#), "{shown}");
    }

    proptest! {
        #[test]
        fn a_webhook_is_read_as_it_was_written(
            slugs in testing::slugs(),
            (form, name) in (testing::maybe(testing::slug()), "[a-zA-Z \"\\\\ßü]{0,20}x"),
            events in vec(any::<bool>(), Event::ALL.len()),
            (method, status, made_by) in (testing::choice(Method::CHOICES), testing::choice(Status::CHOICES), testing::choice(MadeBy::CHOICES)),
            keys in vec("[a-zA-Z0-9]{1,128}", 1..5),
            (time, reason) in (testing::time(), testing::maybe("[a-z]{0,9}")),
        ) {
            let told_of = Event::ALL.into_iter().zip(events).filter(|(_, is_told)| *is_told).map(|(event, _)| event);
            let events = std::iter::once(Event::PaymentSuccess).chain(told_of.filter(|event| *event != Event::PaymentSuccess));
            let replaced = keys[1..].iter().map(|text| ReplacedKey { key: key(text), until: time });
            testing::reads_back(&Webhook {
                events: events.collect(),
                fields: slugs,
                form,
                method,
                name,
                signing_key: key(&keys[0]),
                status,
                disabled_reason: reason,
                replaced_keys: replaced.collect(),
                made_by,
                created: time,
                updated: time,
                ..webhook(r#","headers":{"X-A":"a b"},"notification_emails":["a@example.org"]"#)
            });
        }
    }
}
