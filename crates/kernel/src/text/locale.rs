//! The locales of the interface and the languages of an account.

use std::fmt;

use super::parsed::written_as_text;

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
    /// The locale's place among [`Locale::ALL`] as one bit, for small sets.
    #[must_use]
    pub const fn bit(self) -> u64 {
        1 << (self as u8)
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.code())
    }
}

written_as_text!(Locale, "a locale of this interface");

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
}
