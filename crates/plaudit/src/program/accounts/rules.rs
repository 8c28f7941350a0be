//! Pure rules of accounts.

/// The regions that a deployment can serve (contract, section 10).
pub(super) const REGIONS: &[(&str, &str)] = &[("us", "us"), ("eu", "eu"), ("au", "au"), ("ca", "ca"), ("hk", "hk")];

/// Whether a name is a host name: labels of letters, digits and hyphens (RFC 1123), in lower case, without a port.
pub fn valid_host(name: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::valid_host;

    #[test]
    fn a_host_name_has_labels_of_letters_digits_and_hyphens() {
        for name in ["awards.example.org", "localhost", "a-1.b"] {
            assert!(valid_host(name), "{name}");
        }
        for name in ["", "a..b", "-a.b", "a-.b", "a:80", "A.b", "a b", "ä.de"] {
            assert!(!valid_host(name), "{name}");
        }
    }
}
