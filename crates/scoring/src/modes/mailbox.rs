//! Whether two e-mail addresses may be one mailbox.
//!
//! The key is a flag for duplicate votes and never an address to deliver to. Only what a provider is known to ignore is
//! taken away: Gmail ignores dots and what follows a `+`; Outlook, Fastmail and Proton ignore what follows a `+`. At
//! any other provider `ann+x` may be somebody else.

/// Where what follows a `+` is ignored.
const IGNORES_TAGS: &[&str] = &[
    "fastmail.com",
    "fastmail.fm",
    "gmail.com",
    "hotmail.co.uk",
    "hotmail.com",
    "hotmail.de",
    "hotmail.fr",
    "live.com",
    "msn.com",
    "outlook.com",
    "outlook.de",
    "outlook.fr",
    "pm.me",
    "proton.me",
    "protonmail.com",
];

/// A text that is equal for addresses of one mailbox. What is not an address comes back trimmed and in lower case.
pub fn duplicate_key(address: &str) -> String {
    let address = address.trim().to_lowercase();
    let Some((local, domain)) = address.rsplit_once('@') else { return address };
    let domain = if domain == "googlemail.com" { "gmail.com" } else { domain };
    let tagless = local.split_once('+').map_or(local, |(name, _)| name);
    let name = if IGNORES_TAGS.contains(&domain) && !tagless.is_empty() { tagless } else { local };
    if domain == "gmail.com" { format!("{}@{domain}", name.replace('.', "")) } else { format!("{name}@{domain}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_a_provider_ignores_is_taken_away() {
        assert_eq!(duplicate_key("A.B+c@proton.me"), "a.b@proton.me");
        assert_eq!(duplicate_key("a.b+c@sub.gmail.com"), "a.b+c@sub.gmail.com");
        assert_eq!(duplicate_key("+c@gmail.com"), "+c@gmail.com");
        assert_eq!(duplicate_key(" No Address "), "no address");
    }

    proptest! {
        #[test]
        fn a_key_is_its_own_key(local in "[a-zA-Z.+]{0,8}", domain in prop::sample::select(IGNORES_TAGS)) {
            let key = duplicate_key(&format!("{local}@{domain}"));
            prop_assert_eq!(duplicate_key(&key), key);
        }
    }
}
