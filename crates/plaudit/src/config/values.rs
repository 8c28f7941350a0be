//! The values that settings have.

use std::fmt;
use std::net::{AddrParseError, IpAddr};
use std::str::FromStr;

use ipnet::IpNet;

use crate::storage::Secret;
use webhook_signing::Schedule;

/// A text that has passed its kind's check becomes a value.
pub(super) trait FromText: Sized {
    fn from_text(text: &str) -> Option<Self>;
}

macro_rules! from_text {
    ($($type:ty),+) => {$(
        impl FromText for $type {
            fn from_text(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )+};
}
from_text!(String, bool, u32, u64, usize, Region, LogFormat, Schedule);

impl FromText for Option<String> {
    fn from_text(text: &str) -> Option<Self> {
        Some((!text.is_empty()).then(|| text.to_owned()))
    }
}

impl FromText for Vec<Network> {
    fn from_text(text: &str) -> Option<Self> {
        parts(text).map(|part| part.parse().ok()).collect()
    }
}

impl FromText for Vec<WebOrigin> {
    fn from_text(text: &str) -> Option<Self> {
        parts(text).map(WebOrigin::parse).collect()
    }
}

/// The parts of a list.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

impl FromText for Secret {
    fn from_text(text: &str) -> Option<Self> {
        Some(Self::new(text))
    }
}

impl FromText for DatabaseUrl {
    fn from_text(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }
}

/// A region of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
pub enum Region {
    /// The United States.
    #[strum(serialize = "us")]
    UnitedStates,
    /// The European Union.
    #[strum(serialize = "eu")]
    EuropeanUnion,
    /// Australia.
    #[strum(serialize = "au")]
    Australia,
    /// Canada.
    #[strum(serialize = "ca")]
    Canada,
    /// Hong Kong.
    #[strum(serialize = "hk")]
    HongKong,
}

/// How log messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// A JSON object a line.
    Json,
}

/// A network, or one address where the prefix is the whole length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(IpNet);

impl Network {
    /// Whether an address belongs to this network. An IPv4 address written as IPv6 counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl FromStr for Network {
    type Err = AddrParseError;

    fn from_str(text: &str) -> Result<Self, AddrParseError> {
        text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)).map(Self)
    }
}

/// The origin of web pages, as browsers send it, or any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebOrigin(String);

impl WebOrigin {
    fn parse(text: &str) -> Option<Self> {
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        // A browser writes hosts in small letters, and no port that goes without saying.
        let is_host = |host: &str| {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-:[]".contains(&byte))
        };
        let is_good = text == "*" || host.is_some_and(is_host) && !text.ends_with(":443") && !text.ends_with(":80");
        is_good.then(|| Self(text.to_owned()))
    }

    /// Whether it stands for every origin.
    pub fn is_any(&self) -> bool {
        self.0 == "*"
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The address of a database, whose password does not get into logs: `Debug` masks it.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// The address as given, password included.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address with every password masked.
    pub fn redacted(&self) -> String {
        mask(&self.0)
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.redacted(), formatter)
    }
}

/// Masks all of an address but its scheme, host and path.
pub(super) fn mask_address(address: &str) -> String {
    let (address, query) = address.split_once('?').map_or((address, ""), |(address, _)| (address, "?****"));
    let (scheme, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
    let rest = rest.rsplit_once('@').map_or_else(|| rest.to_owned(), |(_, host)| format!("****@{host}"));
    format!("{scheme}{}{rest}{query}", if scheme.is_empty() { "" } else { "://" })
}

/// Masks what may be a password; in doubt rather too much.
pub(super) fn mask(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        let is_path = ["sqlite:", "file:"].iter().any(|scheme| url.starts_with(scheme));
        return if is_path { url.to_owned() } else { "****".to_owned() };
    };
    let masked = match rest.rsplit_once('@').map(|(user, host)| (user.split_once(':'), host)) {
        Some((Some((user, _)), host)) => format!("{scheme}://{user}:****@{host}"),
        _ => url.to_owned(),
    };
    let Some((address, query)) = masked.split_once('?') else { return masked };
    let parameters: Vec<String> = query.split('&').map(mask_parameter).collect();
    format!("{address}?{}", parameters.join("&"))
}

fn mask_parameter(parameter: &str) -> String {
    match parameter.split_once('=') {
        // What is percent-encoded may be any name.
        Some((name, _)) if name.contains('%') || name.to_ascii_lowercase().contains("password") => {
            format!("{name}=****")
        }
        _ => parameter.to_owned(),
    }
}
