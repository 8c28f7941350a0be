//! The values that settings have.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::storage::Secret;

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
from_text!(String, bool, u32, u64, usize, Region, LogFormat);

impl FromText for Option<String> {
    fn from_text(text: &str) -> Option<Self> {
        Some((!text.is_empty()).then(|| text.to_owned()))
    }
}

impl FromText for Vec<Network> {
    fn from_text(text: &str) -> Option<Self> {
        text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
    }
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

macro_rules! choice {
    ($(#[doc = $about:literal])+ $Name:ident { $($(#[doc = $text:literal])+ $Variant:ident = $name:literal,)+ }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Name { $($(#[doc = $text])+ $Variant,)+ }

        impl $Name {
            pub(super) const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name by which it is set.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name,)+ }
            }
        }

        impl FromStr for $Name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($name => Ok(Self::$Variant),)+
                    _ => Err(format!("one of {}", Self::NAMES.join(", "))),
                }
            }
        }
    };
}

choice! {
    /// A region of the service.
    Region {
        /// The United States.
        UnitedStates = "us",
        /// The European Union.
        EuropeanUnion = "eu",
        /// Australia.
        Australia = "au",
        /// Canada.
        Canada = "ca",
        /// Hong Kong.
        HongKong = "hk",
    }
}

choice! {
    /// How log messages are written.
    LogFormat {
        /// Lines for people.
        Text = "text",
        /// A JSON object a line.
        Json = "json",
    }
}

/// A network, or one address where the prefix is the whole length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u32,
}

impl Network {
    /// Whether an address belongs to this network. An IPv4 address written as IPv6 counts as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(32 - self.prefix).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(128 - self.prefix).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not an IP address or a network such as 10.0.0.0/8");
        let (address, prefix) = text.split_once('/').map_or((text, None), |(left, right)| (left, Some(right)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let length = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(length), str::parse).map_err(|_| wrong())?;
        if prefix > length { Err(wrong()) } else { Ok(Self { address, prefix }) }
    }
}

/// The address of a database, whose password does not get into logs: `Debug` masks it.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// The address as given, password included.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address with every password masked.
    #[must_use]
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
