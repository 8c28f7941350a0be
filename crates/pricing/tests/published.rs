//! Worked examples of tax authorities.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use pricing::quote;
use support::{item, taxes, terms};

/// What one item comes to: what it costs without taxes, each tax, and the total.
fn calculated(code: &str, inclusive: bool, percentages: &[&str], unit: i64) -> (i64, Vec<i64>, i64) {
    let order = quote(&[item(0, unit)], &terms(code, taxes(inclusive, percentages))).unwrap();
    (order.sums.base, order.sums.taxes, order.sums.total)
}

/// HM Revenue & Customs, "Calculating VAT for VAT-inclusive and VAT-exclusive prices" (hmrc.gov.uk/vat/forms-rates/rates/calculating.htm):
/// 20 % and 5 % of a price of 100 pounds.
#[test]
fn vat_is_added_as_hmrc_adds_it() {
    assert_eq!(calculated("GBP", false, &["20"], 10_000), (10_000, vec![2_000], 12_000));
    assert_eq!(calculated("GBP", false, &["5"], 10_000), (10_000, vec![500], 10_500));
}

/// The VAT fractions of HM Revenue & Customs, VAT Notice 700: 1/6 at 20 %, 1/21 at 5 %, and 7/47 at 17.5 % until 2011.
#[test]
fn vat_is_taken_out_by_the_vat_fraction() {
    assert_eq!(calculated("GBP", true, &["20"], 12_000), (10_000, vec![2_000], 12_000));
    assert_eq!(calculated("GBP", true, &["5"], 10_500), (10_000, vec![500], 10_500));
    assert_eq!(calculated("GBP", true, &["17.5"], 11_750), (10_000, vec![1_750], 11_750));
    for unit in [1, 2, 3, 5, 99, 100, 9_999, 123_457] {
        // A sixth, rounded half up.
        let sixth = (unit + 3) / 6;
        assert_eq!(calculated("GBP", true, &["20"], unit), (unit - sixth, vec![sixth], unit));
    }
}

/// HM Revenue & Customs, VATREC12030: less than half a penny of VAT is rounded down, and half a penny or more up; and VAT Notice 700,
/// 17.5, of the VAT of a line: 86.76p is 87p.
#[test]
fn the_vat_of_a_line_is_rounded_to_the_nearest_penny() {
    assert_eq!(calculated("GBP", false, &["5"], 9), (9, vec![0], 9));
    assert_eq!(calculated("GBP", false, &["5"], 10), (10, vec![1], 11));
    assert_eq!(calculated("GBP", false, &["12"], 723), (723, vec![87], 810));
}

/// Revenu Québec, "Calculating the Taxes" (revenuquebec.ca): 100.00 with GST of 5.00 and QST of 9.98, which is half a cent up: 114.98.
#[test]
fn gst_and_qst_are_added_as_revenu_quebec_adds_them() {
    assert_eq!(calculated("CAD", false, &["5", "9.975"], 10_000), (10_000, vec![500, 998], 11_498));
    assert_eq!(calculated("CAD", true, &["5", "9.975"], 11_498), (10_000, vec![500, 998], 11_498));
}

/// Inland Revenue of New Zealand, "Calculating GST" (ird.govt.nz, 16 August 2010): 1,500.00 with GST of 225.00, and 3/23 of 1,725.00.
#[test]
fn gst_is_calculated_as_inland_revenue_calculates_it() {
    assert_eq!(calculated("NZD", false, &["15"], 150_000), (150_000, vec![22_500], 172_500));
    assert_eq!(calculated("NZD", true, &["15"], 172_500), (150_000, vec![22_500], 172_500));
}

/// 10 % of 1.05 in the minor units of currencies with 0, 2, 3 and 4 decimals.
#[test]
fn amounts_are_rounded_to_the_decimals_of_their_currency() {
    for (code, unit, tax) in [("JPY", 105, 11), ("EUR", 105, 11), ("KWD", 1_055, 106), ("CLF", 10_555, 1_056)] {
        assert_eq!(calculated(code, false, &["10"], unit), (unit, vec![tax], unit + tax), "{code}");
    }
}
