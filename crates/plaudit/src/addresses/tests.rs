use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::*;

fn check(text: &str, allowed: &Allowed) -> Result<(), String> {
    check_url(&Url::parse(text).unwrap(), allowed).map_err(|refusal| refusal.to_string())
}

fn networks(text: &str) -> Allowed {
    Allowed { private_networks: vec![text.parse().unwrap()], local_hosts: Vec::new() }
}

fn everything(address: IpAddr) -> Allowed {
    let all = if address.to_canonical().is_ipv4() { "0.0.0.0/0" } else { "::/0" };
    networks(all)
}

/// Hosts as they may be typed, and why they are refused.
const NOTATIONS: &[(&str, &str)] = &[
    ("127.0.0.1", "127.0.0.1 is a loopback address"),
    ("127.1", "127.0.0.1 is a loopback address"),
    ("127.0.0.1.", "127.0.0.1 is a loopback address"),
    ("2130706433", "127.0.0.1 is a loopback address"),
    ("0x7f000001", "127.0.0.1 is a loopback address"),
    ("0x7f.1", "127.0.0.1 is a loopback address"),
    ("0177.0.0.1", "127.0.0.1 is a loopback address"),
    ("017700000001", "127.0.0.1 is a loopback address"),
    ("%31%32%37.0.0.1", "127.0.0.1 is a loopback address"),
    ("１２７.０.０.１", "127.0.0.1 is a loopback address"),
    ("127。0。0。1", "127.0.0.1 is a loopback address"),
    ("①②⑦.⓪.⓪.①", "127.0.0.1 is a loopback address"),
    ("[::ffff:127.0.0.1]", "127.0.0.1 is a loopback address"),
    ("[0:0:0:0:0:ffff:7f00:1]", "127.0.0.1 is a loopback address"),
    ("[::1]", "::1 is a loopback address"),
    ("[0::0001]", "::1 is a loopback address"),
    ("0", "0.0.0.0 is an unspecified address"),
    ("[::]", ":: is an unspecified address"),
    ("[::127.0.0.1]", "::7f00:1 is an address that carries an IPv4 address"),
    ("[64:ff9b::127.0.0.1]", "64:ff9b::7f00:1 is an address that carries an IPv4 address"),
    ("[2002:7f00:1::]", "2002:7f00:1:: is an address that carries an IPv4 address"),
    ("169.254.169.254", "169.254.169.254 is a link-local address"),
    ("0xa9fea9fe", "169.254.169.254 is a link-local address"),
    ("192.168.1", "192.168.0.1 is a private address"),
    ("localhost", "localhost is this machine"),
    ("LOCALHOST", "localhost is this machine"),
    ("ｌｏｃａｌｈｏｓｔ", "localhost is this machine"),
    ("localhost.", "localhost. is this machine"),
    ("a.b.localhost", "a.b.localhost is this machine"),
];

#[test]
fn a_host_is_refused_in_every_notation() {
    for (host, reason) in NOTATIONS {
        for url in [format!("http://{host}/"), format!("https://{host}:8443/a?b")] {
            assert_eq!(check(&url, &Allowed::default()), Err((*reason).to_owned()), "{url}");
        }
    }
}

/// An address of each row, and what it is called.
const SPECIAL: &[(&str, Class)] = &[
    ("0.0.0.0", Class::Unspecified),
    ("0.255.255.255", Class::Unspecified),
    ("10.0.0.0", Class::Private),
    ("10.255.255.255", Class::Private),
    ("100.64.0.0", Class::CarrierGrade),
    ("100.127.255.255", Class::CarrierGrade),
    ("100.100.100.200", Class::Metadata),
    ("127.255.255.254", Class::Loopback),
    ("168.63.129.16", Class::Metadata),
    ("169.254.0.0", Class::LinkLocal),
    ("172.16.0.0", Class::Private),
    ("172.31.255.255", Class::Private),
    ("192.0.0.8", Class::Reserved),
    ("192.0.2.1", Class::Documentation),
    ("192.31.196.1", Class::Reserved),
    ("192.52.193.1", Class::Reserved),
    ("192.88.99.1", Class::Reserved),
    ("192.168.255.255", Class::Private),
    ("192.175.48.1", Class::Reserved),
    ("198.18.0.0", Class::Benchmarking),
    ("198.19.255.255", Class::Benchmarking),
    ("198.51.100.1", Class::Documentation),
    ("203.0.113.1", Class::Documentation),
    ("224.0.0.1", Class::Multicast),
    ("239.255.255.255", Class::Multicast),
    ("240.0.0.0", Class::Reserved),
    ("255.255.255.254", Class::Reserved),
    ("255.255.255.255", Class::Broadcast),
    ("::", Class::Unspecified),
    ("::1", Class::Loopback),
    ("::2", Class::Embedding),
    ("::ffff:0:127.0.0.1", Class::Embedding),
    ("64:ff9b::808:808", Class::Embedding),
    ("64:ff9b:1::1", Class::Embedding),
    ("100::1", Class::Reserved),
    ("1fff::1", Class::Reserved),
    ("2001::1", Class::Embedding),
    ("2001:2::1", Class::Benchmarking),
    ("2001:20::1", Class::Reserved),
    ("2001:1ff::1", Class::Reserved),
    ("2001:db8::1", Class::Documentation),
    ("2002:808:808::1", Class::Embedding),
    ("3fff:fff::1", Class::Documentation),
    ("4000::1", Class::Reserved),
    ("5f00::1", Class::Reserved),
    ("fc00::1", Class::Private),
    ("fdff::1", Class::Private),
    ("fd00:42::42", Class::Metadata),
    ("fd00:c1::a9fe:a9fe", Class::Metadata),
    ("fd00:ec2::254", Class::Metadata),
    ("fd20:ce::254", Class::Metadata),
    ("fe80::1", Class::LinkLocal),
    ("febf::1", Class::LinkLocal),
    ("fec0::1", Class::Reserved),
    ("ff02::1", Class::Multicast),
];

#[test]
fn special_addresses_are_refused_and_each_is_called_what_it_is() {
    for (text, expected) in SPECIAL {
        let address: IpAddr = text.parse().unwrap();
        assert_eq!(class(address), Some(*expected), "{text}");
        let refusal = check_address("hooks.example", address, &Allowed::default()).unwrap_err();
        assert_eq!(refusal.to_string(), format!("hooks.example resolves to {expected}"));
    }
}

#[test]
fn the_neighbours_of_special_addresses_are_public() {
    for text in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.0.3.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "203.0.114.0",
        "223.255.255.255",
        "2000::",
        "2001:200::1",
        "2001:db7::1",
        "2001:db9::1",
        "2003::1",
        "2606:4700::1111",
        "3ffe::1",
        "::ffff:8.8.8.8",
    ] {
        assert_eq!(check_address("hooks.example", text.parse().unwrap(), &Allowed::default()), Ok(()), "{text}");
    }
}

#[test]
fn a_listed_network_opens_its_private_addresses_and_no_others() {
    let ten = networks("10.0.0.0/8");
    assert_eq!(check("http://10.1.2.3/", &ten), Ok(()));
    assert_eq!(check("http://[::ffff:10.1.2.3]/", &ten), Ok(()));
    assert_eq!(check_address("hooks.example", "10.1.2.3".parse().unwrap(), &ten), Ok(()));
    assert_eq!(check("http://192.168.0.1/", &ten), Err("192.168.0.1 is a private address".to_owned()));
    for (text, class) in SPECIAL {
        let address: IpAddr = text.parse().unwrap();
        let is_opened =
            matches!(class, Class::Private | Class::CarrierGrade | Class::Benchmarking | Class::Documentation);
        assert_eq!(check_address("hooks.example", address, &everything(address)).is_ok(), is_opened, "{text}");
    }
}

#[test]
fn a_listed_host_opens_its_loopback_and_link_local_addresses_and_no_others() {
    let listed = Allowed::new(&[], "hooks.example, localhost,127.0.0.1,[::1]");
    for (text, class) in SPECIAL {
        let is_opened = matches!(class, Class::Loopback | Class::LinkLocal);
        assert_eq!(check_address("hooks.example", text.parse().unwrap(), &listed).is_ok(), is_opened, "{text}");
    }
    for url in ["http://127.0.0.1/", "http://127.1:8080/", "http://[::1]/", "http://localhost/"] {
        assert_eq!(check(url, &listed), Ok(()), "{url}");
    }
    // Each host as it stands in the address, and nothing that is the same machine under another name.
    for url in ["http://127.0.0.2/", "http://localhost./", "http://a.localhost/", "http://[::ffff:127.0.0.1]/"] {
        assert!(check(url, &listed).is_err(), "{url}");
    }
    assert!(check_address("other.example", Ipv4Addr::LOCALHOST.into(), &listed).is_err());
}

#[test]
fn a_name_without_a_dot_is_refused_unless_it_is_listed_or_a_network_is_opened() {
    for url in ["http://vm/", "http://vm./", "https://intranet:8443/a"] {
        let host = Url::parse(url).unwrap().host_str().unwrap().to_owned();
        assert_eq!(check(url, &Allowed::default()), Err(format!("{host} is the name of a host of this network")));
        assert_eq!(check(url, &Allowed::new(&[], &host)), Ok(()), "{url}");
        assert_eq!(check(url, &networks("10.0.0.0/8")), Ok(()), "{url}");
    }
}

#[test]
fn an_address_is_http_without_user_fragment_and_port_0() {
    for (url, reason) in [
        ("ftp://example.com/", "must begin with http:// or https://"),
        ("file:///etc/passwd", "must begin with http:// or https://"),
        ("gopher://example.com/", "must begin with http:// or https://"),
        ("http://user@example.com/", "must not have user information"),
        ("http://:word@example.com/", "must not have user information"),
        ("http://example.com@127.0.0.1/", "must not have user information"),
        ("http://example.com/#part", "must not have a fragment"),
        ("http://example.com/#", "must not have a fragment"),
        ("http://example.com:0/", "must not have the port 0"),
        ("http://a$b.example/", "`a$b.example` is not the name of a host"),
        ("http://./", "`.` is not the name of a host"),
    ] {
        assert_eq!(check(url, &Allowed::default()), Err(reason.to_owned()), "{url}");
    }
    for url in [
        "http://example.com",
        "https://hooks_1.example.com.:65535/a|b?c={d}",
        "https://bücher.example/",
        "http://8.8.8.8/",
    ] {
        assert_eq!(check(url, &Allowed::default()), Ok(()), "{url}");
    }
}

proptest! {
    #[test]
    fn no_embedding_of_an_address_is_allowed_where_the_address_is_not(bits: u32, is_special: bool, row in 0..SPECIAL_V4.len()) {
        // Half of the addresses are of a special network, or nearly all would be public.
        let (network, prefix, _) = SPECIAL_V4[row];
        let plain = Ipv4Addr::from_bits(if is_special { network | (bits % (1 << (32 - prefix))) } else { bits });
        let [a, b, c, d] = plain.octets().map(u16::from);
        let (high, low) = (a << 8 | b, c << 8 | d);
        let embeddings = [
            [0, 0, 0, 0, 0, 0xffff, high, low],
            [0, 0, 0, 0, 0, 0, high, low],
            [0, 0, 0, 0, 0xffff, 0, high, low],
            [0x64, 0xff9b, 0, 0, 0, 0, high, low],
            [0x64, 0xff9b, 1, 0, 0, 0, high, low],
            [0x2002, high, low, 0, 0, 0, 0, 1],
            [0x2001, 0, 0, 0, 0, 0, !high, !low],
        ];
        for allowed in [Allowed::default(), everything(plain.into()), Allowed::new(&[], "hooks.example")] {
            let is_plain_allowed = check_address("hooks.example", plain.into(), &allowed).is_ok();
            for embedding in embeddings {
                // `::1` is the loopback address itself.
                let embedded = Ipv6Addr::from(embedding);
                if embedded != Ipv6Addr::LOCALHOST && check_address("hooks.example", embedded.into(), &allowed).is_ok() {
                    prop_assert!(is_plain_allowed, "{embedded}");
                }
            }
        }
    }

    #[test]
    fn the_host_that_was_checked_is_the_host_that_is_dialled(text in ".{0,24}", path in ".{0,12}") {
        for typed in [format!("http://{text}/{path}"), format!("http://{text}"), text] {
            let Ok(url) = Url::parse(&typed) else { continue };
            if check_url(&url, &Allowed::default()).is_ok() {
                // What is stored is read again before it is dialled.
                let stored = Url::parse(url.as_str()).unwrap();
                prop_assert_eq!(&stored, &url);
                prop_assert_eq!(check_url(&stored, &Allowed::default()), Ok(()));
                let address = match stored.host() {
                    Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
                    Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
                    _ => None,
                };
                prop_assert_eq!(literal(stored.host_str().unwrap()), address);
            }
        }
    }

    #[test]
    fn a_number_of_any_notation_is_the_address_that_it_stands_for(bits: u32) {
        let address = Ipv4Addr::from_bits(bits);
        let [a, b, c, d] = address.octets();
        for host in [
            format!("{bits}"),
            format!("{bits:#x}"),
            format!("0{bits:o}"),
            format!("{a:#x}.0{b:o}.{c}.{d:#x}"),
            format!("{a}.{}", bits & 0xff_ffff),
            format!("{a}.{b}.{}", bits & 0xffff),
            format!("[::ffff:{address}]"),
        ] {
            let verdict = check_url(&Url::parse(&format!("http://{host}/")).unwrap(), &Allowed::default());
            prop_assert_eq!(verdict, check_address(&address.to_string(), address.into(), &Allowed::default()), "{}", host);
        }
    }
}
