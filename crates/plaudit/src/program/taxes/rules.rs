//! Pure rules of taxes.

use crate::text::Json;

/// The code of a country: two upper-case letters, as in ISO 3166-1 alpha-2.
pub fn country(json: &Json) -> Result<String, String> {
    match json.as_str() {
        Some(code) if code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase()) => Ok(code.to_owned()),
        _ => Err("must be the code of a country, two upper-case letters".to_owned()),
    }
}
