//! The locales of the interface and the languages of an account.

use std::fmt;

use super::parsed::written_as_text;

macro_rules! locales {
    ($($variant:ident $code:literal $language:literal $active:literal $inactive:literal,)+) => {
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
            pub fn parse(code: &str) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The code of the locale, for example `en_GB`.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)+
                }
            }

            /// The English name of the language, for documentation and for people who set up an account.
            pub const fn language(self) -> &'static str {
                match self {
                    $(Self::$variant => $language,)+
                }
            }

            /// What a chapter's status is called in the language, for example `Active`.
            pub const fn status_label(self, active: bool) -> &'static str {
                match self {
                    $(Self::$variant => if active { $active } else { $inactive },)+
                }
            }
        }
    };
}

locales! {
    ArAr "ar_AR" "Arabic" "نشط" "غير نشط",
    BgBg "bg_BG" "Bulgarian" "Активен" "Неактивен",
    BnIn "bn_IN" "Bengali" "সক্রিয়" "নিষ্ক্রিয়",
    CaEs "ca_ES" "Catalan" "Actiu" "Inactiu",
    CsCz "cs_CZ" "Czech" "Aktivní" "Neaktivní",
    CyGb "cy_GB" "Welsh" "Gweithredol" "Anweithredol",
    DaDk "da_DK" "Danish" "Aktiv" "Inaktiv",
    DeDe "de_DE" "German" "Aktiv" "Inaktiv",
    EnGb "en_GB" "English (United Kingdom)" "Active" "Inactive",
    EnUs "en_US" "English (United States)" "Active" "Inactive",
    ElGr "el_GR" "Greek" "Ενεργό" "Ανενεργό",
    EsNn "es_NN" "Spanish" "Activo" "Inactivo",
    EsLa "es_LA" "Spanish (Latin America)" "Activo" "Inactivo",
    EtEe "et_EE" "Estonian" "Aktiivne" "Mitteaktiivne",
    FaNn "fa_NN" "Persian" "فعال" "غیرفعال",
    FiFi "fi_FI" "Finnish" "Aktiivinen" "Ei aktiivinen",
    FrFr "fr_FR" "French" "Actif" "Inactif",
    FrCa "fr_CA" "French (Canada)" "Actif" "Inactif",
    HeIl "he_IL" "Hebrew" "פעיל" "לא פעיל",
    HiIn "hi_IN" "Hindi" "सक्रिय" "निष्क्रिय",
    HrHr "hr_HR" "Croatian" "Aktivno" "Neaktivno",
    HuHu "hu_HU" "Hungarian" "Aktív" "Inaktív",
    HyAm "hy_AM" "Armenian" "Ակտիվ" "Ոչ ակտիվ",
    ItIt "it_IT" "Italian" "Attivo" "Inattivo",
    JaJp "ja_JP" "Japanese" "有効" "無効",
    KoKr "ko_KR" "Korean" "활성" "비활성",
    LtLt "lt_LT" "Lithuanian" "Aktyvus" "Neaktyvus",
    MsMy "ms_MY" "Malay" "Aktif" "Tidak aktif",
    NlNl "nl_NL" "Dutch" "Actief" "Inactief",
    NbNo "nb_NO" "Norwegian (Bokmål)" "Aktiv" "Inaktiv",
    PlPl "pl_PL" "Polish" "Aktywny" "Nieaktywny",
    PtBr "pt_BR" "Portuguese (Brazil)" "Ativo" "Inativo",
    RoRo "ro_RO" "Romanian" "Activ" "Inactiv",
    RuRu "ru_RU" "Russian" "Активен" "Неактивен",
    SkSk "sk_SK" "Slovak" "Aktívny" "Neaktívny",
    SlSi "sl_SI" "Slovenian" "Aktivno" "Neaktivno",
    SqAl "sq_AL" "Albanian" "Aktiv" "Joaktiv",
    SrRs "sr_RS" "Serbian" "Активно" "Неактивно",
    SvSe "sv_SE" "Swedish" "Aktiv" "Inaktiv",
    SwNn "sw_NN" "Swahili" "Inatumika" "Haitumiki",
    ThTh "th_TH" "Thai" "ใช้งานอยู่" "ไม่ได้ใช้งาน",
    TrTr "tr_TR" "Turkish" "Etkin" "Etkin değil",
    UkUa "uk_UA" "Ukrainian" "Активний" "Неактивний",
    ViVn "vi_VN" "Vietnamese" "Đang hoạt động" "Không hoạt động",
    ZhCn "zh_CN" "Chinese (simplified)" "启用" "停用",
    ZhHk "zh_HK" "Chinese (Hong Kong)" "啟用" "停用",
}

impl Locale {
    /// The locale's place among [`Locale::ALL`] as one bit, for small sets.
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

    #[test]
    fn english_labels_are_those_of_the_specification() {
        assert_eq!(Locale::EnGb.status_label(true), "Active");
        assert_eq!(Locale::EnUs.status_label(false), "Inactive");
    }

    #[test]
    fn every_locale_tells_the_two_states_apart() {
        for locale in Locale::ALL {
            let (active, inactive) = (locale.status_label(true), locale.status_label(false));
            assert_ne!(active, inactive, "{locale}");
            assert!(!active.trim().is_empty() && !inactive.trim().is_empty(), "{locale}");
        }
    }
}
