//! Which hosts and addresses the service dials when somebody else names them.
//!
//! - An address is checked by what it is, in whatever notation it was written: `url` knows them all, and what it made of
//!   the text is what is stored, checked and dialled.
//! - A name is checked when it is dialled, by each address that it has at that moment. Who named it is told what kind of address
//!   that is and not the address, so that nobody asks the operator's servers of names what they know.
//! - A name without a dot stands for a machine of the operator's network. It is refused unless the operator lists it, or opens a
//!   network.
//! - The operator can open networks of private addresses, and loopback or link-local addresses of hosts that are listed by
//!   name. Nothing opens the rest.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use url::{Host, Url};

use crate::config::Network;

/// What the operator has opened.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// Networks whose private addresses are dialled.
    pub private_networks: Vec<Network>,
    /// Hosts whose loopback and link-local addresses are dialled, each as it stands in the address, `[::1]` with brackets.
    pub local_hosts: Vec<String>,
}

impl Allowed {
    /// From the values of settings; hosts are separated by commas.
    pub fn new(private_networks: &[Network], local_hosts: &str) -> Self {
        let hosts = local_hosts.split(',').map(str::trim).filter(|host| !host.is_empty());
        Self { private_networks: private_networks.to_vec(), local_hosts: hosts.map(str::to_owned).collect() }
    }

    fn is_local_host(&self, host: &str) -> bool {
        self.local_hosts.iter().any(|local| local == host)
    }
}

/// Why something is not dialled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is not HTTP.
    #[error("must begin with http:// or https://")]
    Scheme,
    /// What stands before the host would be shown wherever the address is.
    #[error("must not have user information")]
    User,
    /// It would not be sent.
    #[error("must not have a fragment")]
    Fragment,
    /// Port 0 is none.
    #[error("must not have the port 0")]
    Port,
    /// No server of names knows such a name.
    #[error("`{0}` is not the name of a host")]
    Name(String),
    /// The name stands for the machine itself.
    #[error("{0} is this machine")]
    ThisMachine(String),
    /// The name means something within one network alone.
    #[error("{0} is the name of a host of this network")]
    OfThisNetwork(String),
    /// The address is not a public one.
    #[error("{0} is {1}")]
    Address(IpAddr, Class),
    /// The name has an address that is not a public one.
    #[error("{0} resolves to {2}")]
    Resolved(String, IpAddr, Class),
}

/// What an address is that is not a public one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Stands for the machine itself.
    Unspecified,
    /// The machine itself.
    Loopback,
    /// Of the network segment.
    LinkLocal,
    /// Where a cloud tells its machines their credentials, beyond those that are link-local.
    Metadata,
    /// Of a network of one's own.
    Private,
    /// Between a provider and its customers.
    CarrierGrade,
    /// For measuring.
    Benchmarking,
    /// For examples.
    Documentation,
    /// Of groups of machines.
    Multicast,
    /// Of all machines.
    Broadcast,
    /// A gateway makes an IPv4 address of it, which may be any.
    Embedding,
    /// Set aside.
    Reserved,
}

impl fmt::Display for Class {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unspecified => "an unspecified address",
            Self::Loopback => "a loopback address",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "the address of a metadata service",
            Self::Private => "a private address",
            Self::CarrierGrade => "an address of carrier-grade NAT",
            Self::Benchmarking => "a benchmarking address",
            Self::Documentation => "a documentation address",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "a broadcast address",
            Self::Embedding => "an address that carries an IPv4 address",
            Self::Reserved => "a reserved address",
        })
    }
}

/// The first 32 bits of a network, how many of them count, and what its addresses are.
type Row = (u32, u32, Class);

const fn v4(a: u8, b: u8, c: u8, d: u8) -> u32 {
    u32::from_be_bytes([a, b, c, d])
}

const fn v6(first: u32, second: u32) -> u32 {
    first << 16 | second
}

/// The special addresses of IPv4 (IANA's registry, RFC 6890); the first row that fits counts.
const SPECIAL_V4: &[Row] = &[
    (v4(0, 0, 0, 0), 8, Class::Unspecified),
    (v4(10, 0, 0, 0), 8, Class::Private),
    (v4(100, 100, 100, 200), 32, Class::Metadata),
    (v4(100, 64, 0, 0), 10, Class::CarrierGrade),
    (v4(127, 0, 0, 0), 8, Class::Loopback),
    (v4(168, 63, 129, 16), 32, Class::Metadata),
    (v4(169, 254, 0, 0), 16, Class::LinkLocal),
    (v4(172, 16, 0, 0), 12, Class::Private),
    (v4(192, 0, 0, 0), 24, Class::Reserved),
    (v4(192, 0, 2, 0), 24, Class::Documentation),
    (v4(192, 31, 196, 0), 24, Class::Reserved),
    (v4(192, 52, 193, 0), 24, Class::Reserved),
    (v4(192, 88, 99, 0), 24, Class::Reserved),
    (v4(192, 168, 0, 0), 16, Class::Private),
    (v4(192, 175, 48, 0), 24, Class::Reserved),
    (v4(198, 18, 0, 0), 15, Class::Benchmarking),
    (v4(198, 51, 100, 0), 24, Class::Documentation),
    (v4(203, 0, 113, 0), 24, Class::Documentation),
    (v4(224, 0, 0, 0), 4, Class::Multicast),
    (v4(255, 255, 255, 255), 32, Class::Broadcast),
    (v4(240, 0, 0, 0), 4, Class::Reserved),
];

/// The special addresses of IPv6; the first row that fits counts. What is in none is public within `2000::/3`, and reserved
/// elsewhere.
const SPECIAL_V6: &[Row] = &[
    (v6(0, 0), 32, Class::Embedding),
    (v6(0x64, 0xff9b), 32, Class::Embedding),
    (v6(0x2001, 0), 32, Class::Embedding),
    (v6(0x2001, 2), 32, Class::Benchmarking),
    (v6(0x2001, 0), 23, Class::Reserved),
    (v6(0x2001, 0xdb8), 32, Class::Documentation),
    (v6(0x2002, 0), 16, Class::Embedding),
    (v6(0x3fff, 0), 20, Class::Documentation),
    (v6(0xfd00, 0x42), 32, Class::Metadata),
    (v6(0xfd00, 0xc1), 32, Class::Metadata),
    (v6(0xfd00, 0xec2), 32, Class::Metadata),
    (v6(0xfd20, 0xce), 32, Class::Metadata),
    (v6(0xfc00, 0), 7, Class::Private),
    (v6(0xfe80, 0), 10, Class::LinkLocal),
    (v6(0xff00, 0), 8, Class::Multicast),
];

/// What an address is; none for a public one.
fn class(address: IpAddr) -> Option<Class> {
    let in_network = |head: u32, network: u32, bits: u32| (head ^ network) >> (32 - bits) == 0;
    let of = |rows: &[Row], head| rows.iter().find(|row| in_network(head, row.0, row.1)).map(|row| row.2);
    match address.to_canonical() {
        IpAddr::V4(address) => of(SPECIAL_V4, address.to_bits()),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Some(Class::Unspecified),
        IpAddr::V6(Ipv6Addr::LOCALHOST) => Some(Class::Loopback),
        IpAddr::V6(address) => {
            let [first, second, ..] = address.segments();
            let head = v6(first.into(), second.into());
            of(SPECIAL_V6, head).or((!in_network(head, v6(0x2000, 0), 3)).then_some(Class::Reserved))
        }
    }
}

/// Checks what an address of the web has beside its host.
pub fn check_form(url: &Url) -> Result<(), Refusal> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Refusal::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refusal::User);
    }
    if url.fragment().is_some() {
        return Err(Refusal::Fragment);
    }
    if url.port() == Some(0) { Err(Refusal::Port) } else { Ok(()) }
}

/// Checks an address of the web before it is stored. A name is not looked up: it may be another machine's tomorrow.
pub fn check_url(url: &Url, allowed: &Allowed) -> Result<(), Refusal> {
    check_form(url)?;
    let host = url.host_str().unwrap_or_default();
    match url.host() {
        Some(Host::Ipv4(address)) => check_address(host, address.into(), allowed),
        Some(Host::Ipv6(address)) => check_address(host, address.into(), allowed),
        _ => check_name(host, allowed),
    }
}

/// Checks a name as it stands in an address, whatever it resolves to.
pub fn check_name(host: &str, allowed: &Allowed) -> Result<(), Refusal> {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let name = host.trim_end_matches('.');
    if name.is_empty() || host.len() > 254 || !host.bytes().all(is_good) {
        return Err(Refusal::Name(host.to_owned()));
    }
    let is_local = name == "localhost" || name.ends_with(".localhost");
    if allowed.is_local_host(host) {
        return Ok(());
    }
    if is_local {
        return Err(Refusal::ThisMachine(host.to_owned()));
    }
    let is_of_network = !name.contains('.') && allowed.private_networks.is_empty();
    if is_of_network { Err(Refusal::OfThisNetwork(host.to_owned())) } else { Ok(()) }
}

/// Checks an address that is about to be dialled for a host, as it stands in the address of the web.
pub fn check_address(host: &str, address: IpAddr, allowed: &Allowed) -> Result<(), Refusal> {
    let address = address.to_canonical();
    let Some(class) = class(address) else { return Ok(()) };
    let is_open = match class {
        Class::Private | Class::CarrierGrade | Class::Benchmarking | Class::Documentation => {
            allowed.private_networks.iter().any(|network| network.contains(address))
        }
        Class::Loopback | Class::LinkLocal => allowed.is_local_host(host),
        _ => false,
    };
    match literal(host) {
        _ if is_open => Ok(()),
        Some(_) => Err(Refusal::Address(address, class)),
        None => Err(Refusal::Resolved(host.to_owned(), address, class)),
    }
}

/// The address that a host is, where it is not a name.
pub fn literal(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(inside) => inside.parse().ok().map(IpAddr::V6),
        None => host.parse().ok().map(IpAddr::V4),
    }
}

#[cfg(test)]
mod tests;
