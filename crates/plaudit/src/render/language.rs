//! The header `x-api-language`: the languages of an answer.

use kernel::text::Locale;

/// The languages that an answer shows, in the account's order, and the one that its labels are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Languages {
    locales: [Locale; Locale::ALL.len()],
    count: usize,
    first_requested: Locale,
    default: Locale,
}

impl Languages {
    /// The default language alone.
    pub const fn of_default(default: Locale) -> Self {
        Self { locales: [default; Locale::ALL.len()], count: 1, first_requested: default, default }
    }

    /// The locales of `account_languages` that `is_wanted` picks, each once.
    fn pick(account_languages: &[Locale], default: Locale, is_wanted: impl Fn(Locale) -> bool) -> Self {
        let mut languages = Self { count: 0, ..Self::of_default(default) };
        for &locale in account_languages {
            if is_wanted(locale) && !languages.contains(locale) {
                languages.locales[languages.count] = locale;
                languages.count += 1;
            }
        }
        languages
    }

    /// The locales to show, in the account's order.
    pub fn locales(&self) -> &[Locale] {
        &self.locales[..self.count]
    }

    /// Whether a locale is to be shown.
    pub fn contains(&self, locale: Locale) -> bool {
        self.locales().contains(&locale)
    }

    /// The locale of localised labels: the first that was asked for, the default for `all` and for no header.
    pub const fn first_requested(&self) -> Locale {
        self.first_requested
    }

    /// Whether the answer shows the account's default language and no other, as it does without the header.
    pub fn is_default(&self) -> bool {
        self.locales() == [self.default]
    }
}

/// The languages that the header asks for; the error is the code that is not one of the account's.
///
/// The value is a list of codes between commas. Blanks around a code are trimmed, a code that comes twice counts
/// once, and nothing between two commas is no code: a header without any code is like no header. The word `all`
/// anywhere asks for every language of the account, whatever else is listed, wrong codes included.
pub fn parse(header: Option<&str>, account_languages: &[Locale], default: Locale) -> Result<Languages, String> {
    let codes = || header.unwrap_or_default().split(',').map(str::trim).filter(|code| !code.is_empty());
    if codes().any(|code| code == "all") {
        return Ok(Languages::pick(account_languages, default, |_| true));
    }
    let mut first_requested = None;
    let mut wanted = 0_u64;
    for code in codes() {
        let locale = Locale::parse(code)
            .filter(|locale| account_languages.contains(locale))
            .ok_or_else(|| code.chars().take(64).collect::<String>())?;
        first_requested.get_or_insert(locale);
        wanted |= locale.bit();
    }
    Ok(match first_requested {
        None => Languages::of_default(default),
        Some(first_requested) => Languages {
            first_requested,
            ..Languages::pick(account_languages, default, |locale| wanted & locale.bit() != 0)
        },
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ACCOUNT: [Locale; 3] = [Locale::EnGb, Locale::FrFr, Locale::DeDe];

    fn parsed(header: &str) -> Result<Languages, String> {
        parse(Some(header), &ACCOUNT, Locale::EnGb)
    }

    #[test]
    fn without_a_code_the_default_is_shown() {
        for header in [None, Some(""), Some("  "), Some(","), Some(" , ,")] {
            let languages = parse(header, &ACCOUNT, Locale::FrFr).unwrap();
            assert_eq!(languages.locales(), [Locale::FrFr]);
            assert_eq!(languages.first_requested(), Locale::FrFr);
            assert!(languages.is_default());
        }
    }

    #[test]
    fn locales_come_in_the_order_of_the_account() {
        let languages = parsed("de_DE , en_GB,de_DE,").unwrap();
        assert_eq!(languages.locales(), [Locale::EnGb, Locale::DeDe]);
        assert_eq!(languages.first_requested(), Locale::DeDe);
        assert!(!languages.is_default());
        assert!(parsed("en_GB").unwrap().is_default());
        assert!(!parsed("fr_FR").unwrap().is_default());
    }

    #[test]
    fn all_overrides_every_other_value() {
        for header in ["all", " all ", "de_DE,all", "xx_XX,all", "all,all,ja_JP"] {
            let languages = parsed(header).unwrap();
            assert_eq!(languages.locales(), ACCOUNT, "{header}");
            assert_eq!(languages.first_requested(), Locale::EnGb, "{header}");
        }
    }

    #[test]
    fn a_locale_that_the_account_does_not_have_is_named() {
        assert_eq!(parsed("en_GB, ja_JP"), Err("ja_JP".into()));
        assert_eq!(parsed("english"), Err("english".into()));
        assert_eq!(parsed("ALL"), Err("ALL".into()));
        assert_eq!(parsed("en_gb"), Err("en_gb".into()));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_a_part_of_the_account(header in "((en_GB|fr_FR|de_DE|ja_JP|all| |,){1,3},){0,4}") {
            match parsed(&header) {
                Ok(languages) => {
                    let mut rest = ACCOUNT.iter();
                    prop_assert!(languages.locales().iter().all(|shown| rest.any(|locale| locale == shown)));
                    prop_assert!(languages.contains(languages.first_requested()));
                }
                Err(code) => prop_assert!(header.contains(&code)),
            }
        }
    }
}
