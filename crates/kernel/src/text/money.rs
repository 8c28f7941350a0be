//! Amounts of money, exact to the minor unit of their currency.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use super::decimal::{DecimalError, parse_scaled, write_scaled};
use super::parsed::{excerpt, written_as_text};

/// A currency of ISO 4217.
///
/// The table holds every active code that has a minor unit, funds included; the codes of metals and of units of
/// account have none and cannot be paid in. Codes withdrawn since 2023 stay, because orders in them are still read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency {
    code: &'static str,
    decimals: u8,
}

/// The codes by the number of their decimals.
const CURRENCIES: [(u8, &str); 4] = [
    (
        2,
        "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE \
         CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL \
         HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU \
         MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG \
         SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES \
         WST XAD XCD XCG YER ZAR ZMW ZWG ZWL",
    ),
    (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"),
    (3, "BHD IQD JOD KWD LYD OMR TND"),
    (4, "CLF UYW"),
];

impl Currency {
    /// The currency with this code of three upper-case letters.
    pub fn parse(code: &str) -> Option<Self> {
        static BY_CODE: LazyLock<HashMap<&str, Currency>> =
            LazyLock::new(|| Currency::all().map(|currency| (currency.code, currency)).collect());
        BY_CODE.get(code).copied()
    }

    /// Every currency, by number of decimals and code.
    pub fn all() -> impl Iterator<Item = Self> {
        CURRENCIES.iter().flat_map(|(decimals, codes)| codes.split(' ').map(|code| Self { code, decimals: *decimals }))
    }

    /// The code, for example `USD`.
    pub const fn code(self) -> &'static str {
        self.code
    }

    /// The number of decimals of an amount: 0, 2, 3 or 4.
    pub fn decimals(self) -> u32 {
        u32::from(self.decimals)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.code)
    }
}

written_as_text!(Currency, "the ISO 4217 code of a currency");

/// Why there is no such amount of money.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// The text is not an amount.
    #[error("`{0}` is not an amount of money")]
    Malformed(String),
    /// The amount is not a whole number of minor units.
    #[error("an amount in {currency} has at most {} decimals", currency.decimals())]
    TooManyDecimals {
        /// The currency of the amount.
        currency: Currency,
    },
    /// The amount does not fit in 64 bits of minor units.
    #[error("the amount is too large")]
    TooLarge,
    /// Two currencies met where one was expected.
    #[error("the amount is in {found}, not in {expected}")]
    OtherCurrency {
        /// The currency that the amount had to be in.
        expected: Currency,
        /// The code that was found.
        found: String,
    },
}

/// An amount of money: a whole number of the minor units of a currency.
///
/// Amounts are never held as binary fractions. There is no order between amounts: [`Money::sort_key`] gives one
/// for lists, and amounts of one currency are compared by [`Money::minor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    minor: i64,
    currency: Currency,
}

impl Money {
    /// The amount of this many minor units (cents, for instance).
    pub const fn new(minor: i64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    /// Nothing, in this currency.
    pub const fn zero(currency: Currency) -> Self {
        Self::new(0, currency)
    }

    /// The exact amount that `text` writes as a JSON number or as a decimal string of the same form.
    ///
    /// `1e2` is exactly 100 and zeros beyond the currency's decimals are harmless (`12.500`); any other digit
    /// beyond them is an error, and so is an amount beyond 64 bits of minor units.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, MoneyError> {
        match parse_scaled(text, currency.decimals()) {
            Ok(minor) => Ok(Self { minor, currency }),
            Err(DecimalError::Malformed) => Err(MoneyError::Malformed(excerpt(text))),
            Err(DecimalError::TooManyDecimals) => Err(MoneyError::TooManyDecimals { currency }),
            Err(DecimalError::TooLarge) => Err(MoneyError::TooLarge),
        }
    }

    /// The amount of a formatted text: `USD 1250.00`, `1250.00` or `1,250.00`, blanks around it trimmed.
    ///
    /// A code that is given must be that of `currency`. Commas stand between groups of three digits or nowhere.
    pub fn parse_formatted(text: &str, currency: Currency) -> Result<Self, MoneyError> {
        let malformed = || MoneyError::Malformed(excerpt(text));
        let amount = match text.trim().split_once(' ') {
            Some((code, amount)) if code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase()) => {
                if code != currency.code {
                    return Err(MoneyError::OtherCurrency { expected: currency, found: code.to_owned() });
                }
                amount.trim_start()
            }
            Some(_) => return Err(malformed()),
            None => text.trim(),
        };
        let is_plain = amount.bytes().all(|byte| matches!(byte, b'-' | b'.' | b',' | b'0'..=b'9'));
        if !is_plain {
            return Err(malformed());
        }
        if !amount.contains(',') {
            return Self::parse(amount, currency);
        }
        let (whole, fraction) = amount.split_once('.').map_or((amount, None), |(whole, rest)| (whole, Some(rest)));
        let mut groups = whole.strip_prefix('-').unwrap_or(whole).split(',');
        let leads_well = groups.next().is_some_and(|group| (1..=3).contains(&group.len()));
        let is_grouped = leads_well && groups.all(|group| group.len() == 3);
        if !is_grouped || fraction.is_some_and(|fraction| fraction.contains(',')) {
            return Err(malformed());
        }
        Self::parse(&amount.replace(',', ""), currency)
    }

    /// The number of minor units.
    pub const fn minor(self) -> i64 {
        self.minor
    }

    /// The currency.
    pub const fn currency(self) -> Currency {
        self.currency
    }

    /// Whether the amount is nothing.
    pub const fn is_zero(self) -> bool {
        self.minor == 0
    }

    /// Whether the amount is below nothing.
    pub const fn is_negative(self) -> bool {
        self.minor < 0
    }

    /// Appends the amount as a JSON number with the currency's own number of decimals: `12.50`, `1250`, `-0.05`.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        write_scaled(self.minor, self.currency.decimals(), out);
    }

    /// The text of [`Money::write_json`].
    pub fn to_decimal(&self) -> String {
        let mut out = Vec::with_capacity(24);
        self.write_json(&mut out);
        // A number is ASCII, so nothing is ever replaced.
        String::from_utf8_lossy(&out).into_owned()
    }

    /// The amount as people read it: `USD 1250.00`.
    pub fn formatted(&self) -> String {
        format!("{} {}", self.currency.code, self.to_decimal())
    }

    /// The sum, when both are in one currency and it fits.
    pub fn checked_add(self, other: Self) -> Result<Self, MoneyError> {
        self.combine(other, i64::checked_add)
    }

    /// The difference, when both are in one currency and it fits.
    pub fn checked_sub(self, other: Self) -> Result<Self, MoneyError> {
        self.combine(other, i64::checked_sub)
    }

    /// The amount times a whole number, when it fits.
    pub fn checked_mul(self, factor: i64) -> Result<Self, MoneyError> {
        let minor = self.minor.checked_mul(factor).ok_or(MoneyError::TooLarge)?;
        Ok(Self { minor, ..self })
    }

    fn combine(self, other: Self, operation: fn(i64, i64) -> Option<i64>) -> Result<Self, MoneyError> {
        if self.currency != other.currency {
            return Err(MoneyError::OtherCurrency { expected: self.currency, found: other.currency.code.to_owned() });
        }
        let minor = operation(self.minor, other.minor).ok_or(MoneyError::TooLarge)?;
        Ok(Self { minor, ..self })
    }

    /// The amount in ten-thousandths of the major unit, by which lists sort whatever the currencies are.
    ///
    /// The few amounts beyond 64 bits sort as the largest or the smallest number.
    pub fn sort_key(self) -> i64 {
        self.minor.saturating_mul(10_i64.pow(4_u32.saturating_sub(self.currency.decimals())))
    }
}

impl fmt::Display for Money {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.formatted())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn currency(code: &str) -> Currency {
        Currency::parse(code).unwrap()
    }

    fn money(text: &str, code: &str) -> Money {
        Money::parse(text, currency(code)).unwrap()
    }

    fn currencies() -> impl Strategy<Value = Currency> {
        proptest::sample::select(Currency::all().collect::<Vec<_>>())
    }

    #[test]
    fn currencies_are_known_by_code_and_decimals() {
        for (code, decimals) in [("USD", 2), ("EUR", 2), ("JPY", 0), ("KWD", 3), ("CLF", 4), ("UGX", 0), ("HUF", 2)] {
            assert_eq!(currency(code).decimals(), decimals, "{code}");
        }
        for wrong in ["", "usd", "US", "USDX", "XXX", "XAU", "AED AFN", "D A"] {
            assert_eq!(Currency::parse(wrong), None, "{wrong}");
        }
        let codes: std::collections::BTreeSet<&str> = Currency::all().map(Currency::code).collect();
        assert_eq!(codes.len(), Currency::all().count());
        assert!(codes.iter().all(|code| code.len() == 3));
        assert_eq!(serde_json::from_str::<Currency>("\"NZD\"").unwrap(), currency("NZD"));
        assert!(serde_json::from_str::<Currency>("\"Nzd\"").unwrap_err().to_string().contains("`Nzd`"));
    }

    #[test]
    fn amounts_are_written_with_the_decimals_of_their_currency() {
        for (text, code, shown) in [
            ("12.5", "USD", "12.50"),
            ("1e2", "USD", "100.00"),
            ("1250", "JPY", "1250"),
            ("1250.00", "JPY", "1250"),
            ("-0.05", "USD", "-0.05"),
            ("0.5", "KWD", "0.500"),
            ("-1.0001", "CLF", "-1.0001"),
        ] {
            assert_eq!(money(text, code).to_decimal(), shown, "{text} {code}");
        }
        assert_eq!(money("1250", "USD").formatted(), "USD 1250.00");
        assert_eq!(money("1250", "JPY").to_string(), "JPY 1250");
    }

    #[test]
    fn an_amount_that_is_not_exact_is_an_error() {
        let usd = currency("USD");
        let error = Money::parse("12.505", usd).unwrap_err();
        assert_eq!(error.to_string(), "an amount in USD has at most 2 decimals");
        assert!(Money::parse("0.5", currency("JPY")).is_err());
        assert_eq!(Money::parse("92233720368547758.08", usd), Err(MoneyError::TooLarge));
        assert_eq!(Money::parse("$5", usd), Err(MoneyError::Malformed("$5".into())));
    }

    #[test]
    fn formatted_amounts_are_read() {
        let usd = currency("USD");
        for (text, minor) in [
            ("USD 1250.00", 125_000),
            (" USD  1250.00 ", 125_000),
            ("1250.00", 125_000),
            ("1,250.00", 125_000),
            ("USD -1,234,567.8", -123_456_780),
            ("-5", -500),
        ] {
            assert_eq!(Money::parse_formatted(text, usd), Ok(Money::new(minor, usd)), "{text}");
        }
        for wrong in
            ["", "USD", "1,25.00", ",250", "1,250,", "1250,000", "1.250,00", "1.2,500", "1e2", "$ 5", "5 USD", "1,,000"]
        {
            assert!(Money::parse_formatted(wrong, usd).is_err(), "{wrong}");
        }
        let error = Money::parse_formatted("EUR 5.00", usd).unwrap_err();
        assert_eq!(error.to_string(), "the amount is in EUR, not in USD");
    }

    #[test]
    fn arithmetic_is_checked() {
        let largest = Money::new(i64::MAX, currency("USD"));
        assert_eq!(largest.checked_add(money("0.01", "USD")), Err(MoneyError::TooLarge));
        assert_eq!(largest.checked_mul(2), Err(MoneyError::TooLarge));
        assert_eq!(money("1", "USD").checked_sub(money("1.01", "USD")), Ok(money("-0.01", "USD")));
        assert_eq!(money("1.10", "USD").checked_mul(3), Ok(money("3.30", "USD")));
        assert!(matches!(money("1", "USD").checked_add(money("1", "EUR")), Err(MoneyError::OtherCurrency { .. })));
    }

    #[test]
    fn amounts_sort_across_currencies() {
        assert_eq!(money("12.50", "USD").sort_key(), 125_000);
        assert_eq!(money("12.5", "KWD").sort_key(), 125_000);
        assert_eq!(money("12", "JPY").sort_key(), 120_000);
        assert_eq!(Money::new(i64::MAX, currency("USD")).sort_key(), i64::MAX);
    }

    proptest! {
        #[test]
        fn every_amount_reads_back(minor: i64, currency in currencies()) {
            let amount = Money::new(minor, currency);
            prop_assert_eq!(Money::parse(&amount.to_decimal(), currency), Ok(amount));
            prop_assert_eq!(Money::parse_formatted(&amount.formatted(), currency), Ok(amount));
        }

        #[test]
        fn adding_and_taking_away_is_nothing(left in -1_000_000_000_i64..1_000_000_000, right in -1_000_000_000_i64..1_000_000_000, currency in currencies()) {
            let (left, right) = (Money::new(left, currency), Money::new(right, currency));
            prop_assert_eq!(left.checked_add(right).unwrap().checked_sub(right), Ok(left));
            prop_assert_eq!(left.minor() < right.minor(), left.sort_key() < right.sort_key());
        }
    }
}
