//! The shared kernel: the small values that every part of the service speaks of.
//!
//! Everything here is pure. No type of this module holds a value that its constructor would refuse, so a
//! function that takes a [`Slug`] or a [`Money`] has nothing left to check.

mod contact;
mod country;
mod decimal;
mod folding;
mod json_string;
mod local_time;
mod locale;
mod money;
mod parsed;
mod points;
mod rate;
mod slug;
mod timestamp;
mod translated;

pub use contact::{EMAIL_LENGTH, is_email, is_phone, is_web_address};
pub use country::is_country;
pub(crate) use decimal::is_number;
pub use decimal::{DecimalError, compare_decimals, parse_scaled};
pub use folding::{COMPARED_CHARACTERS, folded};
pub use json_string::write_json_string;
pub use local_time::LocalTime;
pub use locale::Locale;
pub use money::{Currency, Money, MoneyError};
pub use parsed::{Malformed, cut, excerpt};
pub use points::Points;
pub use rate::Rate;
pub use slug::{Slug, Token};
pub use timestamp::{Date, Timestamp};
pub use translated::{DuplicateLocale, Translated};
