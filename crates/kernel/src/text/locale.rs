//! The locales of the interface and the languages of an account.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::slug::excerpt;

macro_rules! locales {
    ($($variant:ident $code:literal $language:literal,)+) => {
        /// A locale of the interface; the order is that of the specification.
        ///
        /// The word `all` is not among them: it asks for every language of the account and names none.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Locale {
            $(#[doc = $language] $variant,)+
        }

        impl Locale {
            /// Every locale, in the order of the specification.
            pub const ALL: [Self; [$($code),+].len()] = [$(Self::$variant),+];

            /// The locale with this code, upper and lower case as the specification writes them.
            #[must_use]
            pub fn parse(code: &str) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The code of the locale, for example `en_GB`.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)+
                }
            }

            /// The English name of the language, for documentation and for people who set up an account.
            #[must_use]
            pub const fn language(self) -> &'static str {
                match self {
                    $(Self::$variant => $language,)+
                }
            }
        }
    };
}

locales! {
    ArAr "ar_AR" "Arabic",
    BgBg "bg_BG" "Bulgarian",
    BnIn "bn_IN" "Bengali",
    CaEs "ca_ES" "Catalan",
    CsCz "cs_CZ" "Czech",
    CyGb "cy_GB" "Welsh",
    DaDk "da_DK" "Danish",
    DeDe "de_DE" "German",
    EnGb "en_GB" "English (United Kingdom)",
    EnUs "en_US" "English (United States)",
    ElGr "el_GR" "Greek",
    EsNn "es_NN" "Spanish",
    EsLa "es_LA" "Spanish (Latin America)",
    EtEe "et_EE" "Estonian",
    FaNn "fa_NN" "Persian",
    FiFi "fi_FI" "Finnish",
    FrFr "fr_FR" "French",
    FrCa "fr_CA" "French (Canada)",
    HeIl "he_IL" "Hebrew",
    HiIn "hi_IN" "Hindi",
    HrHr "hr_HR" "Croatian",
    HuHu "hu_HU" "Hungarian",
    HyAm "hy_AM" "Armenian",
    ItIt "it_IT" "Italian",
    JaJp "ja_JP" "Japanese",
    KoKr "ko_KR" "Korean",
    LtLt "lt_LT" "Lithuanian",
    MsMy "ms_MY" "Malay",
    NlNl "nl_NL" "Dutch",
    NbNo "nb_NO" "Norwegian (Bokmål)",
    PlPl "pl_PL" "Polish",
    PtBr "pt_BR" "Portuguese (Brazil)",
    RoRo "ro_RO" "Romanian",
    RuRu "ru_RU" "Russian",
    SkSk "sk_SK" "Slovak",
    SlSi "sl_SI" "Slovenian",
    SqAl "sq_AL" "Albanian",
    SrRs "sr_RS" "Serbian",
    SvSe "sv_SE" "Swedish",
    SwNn "sw_NN" "Swahili",
    ThTh "th_TH" "Thai",
    TrTr "tr_TR" "Turkish",
    UkUa "uk_UA" "Ukrainian",
    ViVn "vi_VN" "Vietnamese",
    ZhCn "zh_CN" "Chinese (simplified)",
    ZhHk "zh_HK" "Chinese (Hong Kong)",
}

impl Locale {
    /// Whether the language is written from right to left.
    #[must_use]
    pub const fn is_right_to_left(self) -> bool {
        matches!(self, Self::ArAr | Self::FaNn | Self::HeIl)
    }

    /// The value of the attribute `dir` of HTML: `rtl` or `ltr`.
    #[must_use]
    pub const fn direction(self) -> &'static str {
        if self.is_right_to_left() { "rtl" } else { "ltr" }
    }

    /// The language alone, as the attribute `lang` of HTML wants it, for example `en`.
    #[must_use]
    pub fn language_code(self) -> &'static str {
        self.code().split_once('_').map_or(self.code(), |(language, _)| language)
    }

    /// The locale's place among [`Locale::ALL`] as one bit, for small sets.
    #[must_use]
    pub const fn bit(self) -> u64 {
        1 << (self as u8)
    }
}

/// A code that is no locale of the interface.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a locale of this interface")]
pub struct UnknownLocale(pub String);

impl FromStr for Locale {
    type Err = UnknownLocale;

    fn from_str(code: &str) -> Result<Self, UnknownLocale> {
        Self::parse(code).ok_or_else(|| UnknownLocale(excerpt(code)))
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.code())
    }
}

impl fmt::Debug for Locale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}

impl Serialize for Locale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Locale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::json_string::deserialize_parsed(deserializer, "a locale code such as \"en_GB\"")
    }
}

/// The languages of an account, each once, in the account's order.
///
/// Read from a list of codes (`["en_GB"]`) or of objects as the account shows them (`[{"code": "en_GB"}]`);
/// written as the latter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocaleSet {
    locales: Vec<Locale>,
    bits: u64,
}

impl LocaleSet {
    /// Adds a locale at the end; false when it was in the set already.
    pub fn insert(&mut self, locale: Locale) -> bool {
        let is_new = !self.contains(locale);
        if is_new {
            self.bits |= locale.bit();
            self.locales.push(locale);
        }
        is_new
    }

    /// Whether the locale is in the set.
    #[must_use]
    pub fn contains(&self, locale: Locale) -> bool {
        self.bits & locale.bit() != 0
    }

    /// The locales in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Locale] {
        &self.locales
    }

    /// The locales in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Locale> + '_ {
        self.locales.iter().copied()
    }

    /// Whether the set has no locale.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.locales.is_empty()
    }
}

impl FromIterator<Locale> for LocaleSet {
    fn from_iter<I: IntoIterator<Item = Locale>>(locales: I) -> Self {
        let mut set = Self::default();
        for locale in locales {
            set.insert(locale);
        }
        set
    }
}

/// One element of the list of languages as an account shows it.
#[derive(Serialize, Deserialize)]
struct Language {
    code: Locale,
}

impl Serialize for LocaleSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|code| Language { code }))
    }
}

impl<'de> Deserialize<'de> for LocaleSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Read as plain text first, because an untagged choice of locales would lose the name of a wrong code.
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a locale code, or an object with the member `code`")]
        enum Element {
            Plain(String),
            Object { code: String },
        }
        let mut set = Self::default();
        for element in Vec::<Element>::deserialize(deserializer)? {
            let (Element::Plain(code) | Element::Object { code }) = element;
            let locale = code.parse().map_err(D::Error::custom)?;
            if !set.insert(locale) {
                return Err(D::Error::custom(format_args!("the locale `{locale}` is listed twice")));
            }
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the specification, section 2.1, without the word `all`.
    const SPECIFIED: &str = "ar_AR bg_BG bn_IN ca_ES cs_CZ cy_GB da_DK de_DE en_GB en_US el_GR es_NN es_LA et_EE fa_NN \
        fi_FI fr_FR fr_CA he_IL hi_IN hr_HR hu_HU hy_AM it_IT ja_JP ko_KR lt_LT ms_MY nl_NL nb_NO pl_PL pt_BR ro_RO ru_RU \
        sk_SK sl_SI sq_AL sr_RS sv_SE sw_NN th_TH tr_TR uk_UA vi_VN zh_CN zh_HK";

    #[test]
    fn the_locales_are_those_of_the_specification_in_its_order() {
        let codes: Vec<&str> = Locale::ALL.iter().map(|locale| locale.code()).collect();
        assert_eq!(codes, SPECIFIED.split_whitespace().collect::<Vec<_>>());
        assert!(Locale::ALL.is_sorted());
    }

    #[test]
    fn every_code_reads_back_and_nothing_else_does() {
        for locale in Locale::ALL {
            assert_eq!(Locale::parse(locale.code()), Some(locale));
            assert_eq!(Locale::ALL[locale as usize], locale);
        }
        for wrong in ["", "all", "en", "EN_GB", "en-GB", "en_GB ", "xx_XX"] {
            assert_eq!(Locale::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn direction_and_language_are_known() {
        let right_to_left: Vec<&str> =
            Locale::ALL.iter().filter(|locale| locale.is_right_to_left()).map(|locale| locale.code()).collect();
        assert_eq!(right_to_left, ["ar_AR", "fa_NN", "he_IL"]);
        assert_eq!(Locale::HeIl.direction(), "rtl");
        assert_eq!(Locale::EnGb.direction(), "ltr");
        assert_eq!(Locale::NbNo.language_code(), "nb");
        assert_eq!(Locale::JaJp.language(), "Japanese");
    }

    #[test]
    fn a_set_keeps_its_order_and_takes_each_locale_once() {
        let set: LocaleSet = [Locale::FrFr, Locale::EnGb, Locale::FrFr].into_iter().collect();
        assert_eq!(set.as_slice(), [Locale::FrFr, Locale::EnGb]);
        assert!(set.contains(Locale::EnGb));
        assert!(!set.contains(Locale::DeDe));
    }

    #[test]
    fn a_set_is_read_in_both_forms() {
        let plain: LocaleSet = serde_json::from_str(r#"["fr_FR","en_GB"]"#).unwrap();
        let objects: LocaleSet = serde_json::from_str(r#"[{"code":"fr_FR"},{"code":"en_GB"}]"#).unwrap();
        assert_eq!(plain, objects);
        assert_eq!(serde_json::to_string(&plain).unwrap(), r#"[{"code":"fr_FR"},{"code":"en_GB"}]"#);
    }

    #[test]
    fn a_wrong_or_repeated_locale_of_a_set_is_named() {
        let error = |json| serde_json::from_str::<LocaleSet>(json).unwrap_err().to_string();
        assert!(error(r#"["fr_FR","xx_XX"]"#).contains("`xx_XX` is not a locale"));
        assert!(error(r#"["fr_FR","fr_FR"]"#).contains("`fr_FR` is listed twice"));
        assert!(error("[1]").contains("expected a locale code"));
    }
}
