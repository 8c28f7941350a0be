//! Labels of enumerations that the interface shows as localised text.

use super::Locale;

/// The label of a chapter's status, for example `Active`.
#[must_use]
pub const fn status_label(active: bool, locale: Locale) -> &'static str {
    let (when_active, when_inactive) = status_labels(locale);
    if active { when_active } else { when_inactive }
}

/// The labels of both states; the match has no default, so a new locale does not compile without its labels.
const fn status_labels(locale: Locale) -> (&'static str, &'static str) {
    match locale {
        Locale::ArAr => ("نشط", "غير نشط"),
        Locale::BgBg | Locale::RuRu => ("Активен", "Неактивен"),
        Locale::BnIn => ("সক্রিয়", "নিষ্ক্রিয়"),
        Locale::CaEs => ("Actiu", "Inactiu"),
        Locale::CsCz => ("Aktivní", "Neaktivní"),
        Locale::CyGb => ("Gweithredol", "Anweithredol"),
        Locale::DaDk | Locale::DeDe | Locale::NbNo | Locale::SvSe => ("Aktiv", "Inaktiv"),
        Locale::EnGb | Locale::EnUs => ("Active", "Inactive"),
        Locale::ElGr => ("Ενεργό", "Ανενεργό"),
        Locale::EsNn | Locale::EsLa => ("Activo", "Inactivo"),
        Locale::EtEe => ("Aktiivne", "Mitteaktiivne"),
        Locale::FaNn => ("فعال", "غیرفعال"),
        Locale::FiFi => ("Aktiivinen", "Ei aktiivinen"),
        Locale::FrFr | Locale::FrCa => ("Actif", "Inactif"),
        Locale::HeIl => ("פעיל", "לא פעיל"),
        Locale::HiIn => ("सक्रिय", "निष्क्रिय"),
        Locale::HrHr | Locale::SlSi => ("Aktivno", "Neaktivno"),
        Locale::HuHu => ("Aktív", "Inaktív"),
        Locale::HyAm => ("Ակտիվ", "Ոչ ակտիվ"),
        Locale::ItIt => ("Attivo", "Inattivo"),
        Locale::JaJp => ("有効", "無効"),
        Locale::KoKr => ("활성", "비활성"),
        Locale::LtLt => ("Aktyvus", "Neaktyvus"),
        Locale::MsMy => ("Aktif", "Tidak aktif"),
        Locale::NlNl => ("Actief", "Inactief"),
        Locale::PlPl => ("Aktywny", "Nieaktywny"),
        Locale::PtBr => ("Ativo", "Inativo"),
        Locale::RoRo => ("Activ", "Inactiv"),
        Locale::SkSk => ("Aktívny", "Neaktívny"),
        Locale::SqAl => ("Aktiv", "Joaktiv"),
        Locale::SrRs => ("Активно", "Неактивно"),
        Locale::SwNn => ("Inatumika", "Haitumiki"),
        Locale::ThTh => ("ใช้งานอยู่", "ไม่ได้ใช้งาน"),
        Locale::TrTr => ("Etkin", "Etkin değil"),
        Locale::UkUa => ("Активний", "Неактивний"),
        Locale::ViVn => ("Đang hoạt động", "Không hoạt động"),
        Locale::ZhCn => ("启用", "停用"),
        Locale::ZhHk => ("啟用", "停用"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_labels_are_those_of_the_specification() {
        assert_eq!(status_label(true, Locale::EnGb), "Active");
        assert_eq!(status_label(false, Locale::EnUs), "Inactive");
    }

    #[test]
    fn every_locale_tells_the_two_states_apart() {
        for locale in Locale::ALL {
            let (active, inactive) = status_labels(locale);
            assert_ne!(active, inactive, "{locale}");
            assert!(!active.trim().is_empty() && !inactive.trim().is_empty(), "{locale}");
        }
    }
}
