//! How a message is written.

use std::time::{Duration, SystemTime};

use lettre::Address;
use lettre::message::SinglePart;
use lettre::message::header::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use url::Host;

use super::MailError;
use kernel::text::Timestamp;

/// The most characters of a subject.
const SUBJECT_LENGTH: usize = 300;
/// The most bytes of an id.
const ID_LENGTH: usize = 64;

/// A message as it is given.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Message {
    /// The addresses that it goes to.
    pub to: Vec<String>,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub text: String,
}

impl Message {
    /// As a job is told.
    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// The message as it is sent. Its id has up to 64 ASCII letters, digits, hyphens and low lines.
    pub(super) fn written(&self, id: &str, from: &Address, now: Timestamp) -> Result<lettre::Message, MailError> {
        let Self { to, subject, text } = self;
        let is_id = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if !(1..=ID_LENGTH).contains(&id.len()) || !id.bytes().all(is_id) {
            return Err(MailError::Message(format!("{id:?} is no id")));
        }
        let since_1970 = Duration::from_micros(u64::try_from(now.as_microseconds()).unwrap_or_default());
        let program_wrote_it = HeaderName::new_from_ascii_str("Auto-Submitted");
        let mut builder = lettre::Message::builder()
            .from(from.clone().into())
            .subject(one_line(subject))
            .date(SystemTime::UNIX_EPOCH + since_1970)
            .message_id(Some(format!("<{id}@{}>", from.domain())))
            .raw_header(HeaderValue::new(program_wrote_it, "auto-generated".to_owned()));
        for to in to {
            let address = address(to).ok_or_else(|| MailError::Message(format!("{to:?} is no e-mail address")))?;
            builder = builder.to(address.into());
        }
        let written = builder.singlepart(SinglePart::plain(text.clone()));
        written.map_err(|error| MailError::Message(error.to_string()))
    }
}

/// An e-mail address with the name of its host in ASCII, which every server takes. Quoted parts, comments and numeric hosts,
/// which nobody has, are not taken; a host of the same network has a name without a dot.
pub(super) fn address(text: &str) -> Option<Address> {
    let (local, host) = text.rsplit_once('@')?;
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !"\"(),:;<>@[\\]".contains(c);
    match Host::parse(host) {
        Ok(Host::Domain(host)) if local.chars().all(is_plain) => Address::new(local, host).ok(),
        _ => None,
    }
}

/// A text without line breaks and other controls, cut to what a subject may have.
fn one_line(text: &str) -> String {
    text.chars().take(SUBJECT_LENGTH).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
