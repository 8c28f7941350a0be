//! Pure rules of taxes.

use super::Tax;
use kernel::document;
use kernel::json::Json;

/// The tax as it is shown (contract, section 6).
pub fn document(tax: &Tax) -> String {
    document::object(|object| {
        object.text("country", &tax.country);
        object.text("country_name", &tax.country_name);
        object.time("created", tax.created);
        object.optional_text("name", tax.name.as_deref());
        object.rate("rate", tax.rate);
        object.optional_text("region", tax.region.as_deref());
        object.optional_text("region_name", tax.region_name.as_deref());
        object.slug("slug", tax.slug);
        object.text("term", &tax.term);
        object.time("updated", tax.updated);
    })
}

/// The code of a country.
pub(in crate::program) fn country(json: &Json) -> Result<String, String> {
    match json.as_str() {
        // Codes that ISO 3166-1 leaves to its users, such as XK, are in use for taxes.
        Some(code) if code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase()) => Ok(code.to_owned()),
        _ => Err("must be the code of a country, two upper-case letters".to_owned()),
    }
}
