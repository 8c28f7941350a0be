//! Countries by their codes.

/// The officially assigned codes of ISO 3166-1 alpha-2.
const COUNTRIES: &str = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR \
     BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET \
     FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ \
     IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML \
     MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS \
     PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL \
     TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";

/// Whether a text is the code of a country: two upper-case letters that ISO 3166-1 has assigned.
pub fn is_country(text: &str) -> bool {
    COUNTRIES.split(' ').any(|code| code == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_assigned_code_is_there_once_and_in_order() {
        let codes: Vec<&str> = COUNTRIES.split(' ').collect();
        assert_eq!(codes.len(), 249);
        assert!(codes.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(codes.iter().all(|code| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase())));
        assert!(codes.iter().all(|code| is_country(code)));
    }

    #[test]
    fn other_texts_are_no_countries() {
        for text in ["", " ", "gb", "UK", "EU", "XX", "ZZ", "GBR", "AD AE", "A"] {
            assert!(!is_country(text), "{text}");
        }
    }
}
