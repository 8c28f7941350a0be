//! What a setting may be set to.

use toml::de::DeValue;

use super::values::{FromText, Network, WebOrigin};
use webhook_signing::Schedule;

/// What a setting may be set to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Address,
    OptionalAddress,
    WebAddress,
    Choice(&'static [&'static str]),
    Networks,
    Origins,
    Whole(u64, u64),
    Flag,
    Database,
    Storage,
    Mail,
    Schedule,
    Text,
    Secret,
    Levels,
}

impl Kind {
    /// What is allowed, in words.
    pub(super) fn allowed(self) -> String {
        match self {
            Self::Address => "HOST:PORT, such as 127.0.0.1:8080 or [::]:8080".to_owned(),
            Self::OptionalAddress => "HOST:PORT, such as 127.0.0.1:9090, or nothing".to_owned(),
            Self::WebAddress => {
                "an address that begins with http:// or https:// and has no query, or nothing".to_owned()
            }
            Self::Choice(names) => format!("one of {}", names.join(", ")),
            Self::Networks => "a list of IP addresses and networks, such as 10.0.0.0/8".to_owned(),
            Self::Origins => "a list of origins such as https://app.example.org, or *".to_owned(),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Self::Flag => "true or false".to_owned(),
            Self::Database => "sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE".to_owned(),
            Self::Storage => "file:DIRECTORY or s3://BUCKET/PREFIX".to_owned(),
            Self::Mail => "file:DIRECTORY, smtp://HOST:PORT or smtps://USER:PASSWORD@HOST:PORT".to_owned(),
            Self::Schedule => "delays with commas between them, such as 0s,5s,5m,2h".to_owned(),
            Self::Text | Self::Secret => "a text without blanks, or nothing".to_owned(),
            Self::Levels => {
                "one of error, warn, info, debug, trace, also as MODULE=LEVEL, separated by commas".to_owned()
            }
        }
    }

    /// Whether a text is allowed; a fault says what is.
    pub(super) fn check(self, text: &str) -> Result<(), String> {
        let good = match self {
            Self::Address => is_address(text),
            Self::OptionalAddress => text.is_empty() || is_address(text),
            Self::WebAddress => text.is_empty() || is_web_address(text),
            Self::Choice(names) => names.contains(&text),
            Self::Networks => <Vec<Network>>::from_text(text).is_some(),
            Self::Origins => <Vec<WebOrigin>>::from_text(text).is_some(),
            Self::Whole(least, most) => {
                text.parse().is_ok_and(|number: u64| (least..=most).contains(&number) && number.to_string() == text)
            }
            Self::Flag => matches!(text, "true" | "false"),
            Self::Database => ["sqlite:", "postgres://", "postgresql://"]
                .iter()
                .any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty())),
            Self::Storage => crate::storage::Location::parse(text).is_ok(),
            Self::Mail => ["file:", "smtp://", "smtps://"].iter().any(|scheme| {
                text.strip_prefix(scheme)
                    .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic()))
            }),
            Self::Schedule => text.parse::<Schedule>().is_ok(),
            Self::Text | Self::Secret => text.bytes().all(|byte| byte.is_ascii_graphic()) && text.len() <= 1024,
            Self::Levels => text.split(',').all(|part| {
                let (module, level) = part.rsplit_once('=').unwrap_or(("plaudit", part));
                !module.is_empty() && matches!(level, "error" | "warn" | "info" | "debug" | "trace")
            }),
        };
        if good { Ok(()) } else { Err(format!("allowed is {}", self.allowed())) }
    }

    /// The text of a TOML value, if it is of the right type.
    pub(super) fn text(self, value: &DeValue<'_>) -> Option<String> {
        match (self, value) {
            (Self::Whole(..), DeValue::Integer(number)) => {
                u64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
            }
            (Self::Flag, DeValue::Boolean(flag)) => Some(flag.to_string()),
            (Self::Networks | Self::Origins, DeValue::Array(items)) => {
                let parts: Option<Vec<_>> = items.iter().map(|item| item.get_ref().as_str()).collect();
                parts.map(|parts| parts.join(","))
            }
            (Self::Whole(..) | Self::Flag | Self::Networks | Self::Origins, _) => None,
            (_, value) => value.as_str().map(str::to_owned),
        }
    }
}

fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let host_is_good = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(host) => host.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)),
    };
    host_is_good && port.parse::<u16>().is_ok()
}

fn is_web_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with(['/', ':'])
            && rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#@\"'<>\\^`{|}".contains(&byte))
    })
}
