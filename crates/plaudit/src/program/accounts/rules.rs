//! Pure rules of accounts.

use super::Account;
use crate::users::Summary;
use kernel::document;
use kernel::kind::Kind;

/// The regions that a deployment can serve (contract, section 10).
pub(super) const REGIONS: &[(&str, &str)] = &[("us", "us"), ("eu", "eu"), ("au", "au"), ("ca", "ca"), ("hk", "hk")];

/// Whether a name is a host name: labels of letters, digits and hyphens (RFC 1123), in lower case, without a port.
#[must_use]
pub fn valid_host(name: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(label)
}

/// The account as it is shown (contract, section 6); `region` is that of the deployment.
#[must_use]
pub fn document(account: &Account, owner: Option<&Summary>, region: &str) -> String {
    let domains = if account.domains.is_empty() { &account.hosts } else { &account.domains };
    document::object(|object| {
        object.time("created", account.created);
        object.texts("domains", domains);
        object.text("global_id", &account.global_id);
        object.list("languages", |list| {
            for locale in &account.languages {
                list.object(|object| object.text("code", locale.code()));
            }
        });
        object.text("name", &account.name);
        match owner {
            Some(owner) => object.object("owner", |object| {
                object.slug("slug", owner.slug);
                object.link("link", Kind::User, owner.slug.as_str());
                object.text("name", &owner.name());
                object.text("first_name", &owner.first_name);
                object.text("last_name", &owner.last_name);
            }),
            None => object.null("owner"),
        }
        object.text("product", &account.product);
        object.text("region", account.region.as_deref().unwrap_or(region));
        object.slug("slug", account.slug);
        object.text("timezone", &account.timezone);
        object.time("updated", account.updated);
    })
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
