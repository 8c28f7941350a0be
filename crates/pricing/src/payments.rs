//! Payments: whether an order is paid.
//!
//! - Payments that succeeded add up; pending and failed ones count for nothing.
//! - An order is paid when they reach what is left of its total after its credits, and one of nothing at once.
//! - A fully credited order pays for nothing, however much was paid.

use crate::error::PricingError;
use crate::exact;

/// What became of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentState {
    /// It may still come.
    Pending,
    /// It came.
    Success,
    /// It will not come.
    Failed,
}

/// A payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payment {
    /// What became of it.
    pub state: PaymentState,
    /// How much, in minor units; below nothing where money was paid back.
    pub amount: i64,
}

/// How an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is paid, and by so much more than was due.
    Paid {
        /// What was paid too much.
        excess: i64,
    },
    /// So much is still due.
    AwaitingPayment {
        /// What is due, above nothing.
        due: i64,
    },
    /// All of it was credited.
    Credited {
        /// What was paid and not paid back.
        excess: i64,
    },
}

/// How an order of a total, of which so much was credited (from nothing to the total), stands with these payments.
pub fn standing(total: i64, credited: i64, payments: &[Payment]) -> Result<Standing, PricingError> {
    let received = payments.iter().filter(|payment| payment.state == PaymentState::Success);
    let received = exact::sum(received.map(|payment| payment.amount))?;
    let left = exact::not_negative(total.checked_sub(exact::not_negative(credited)?).ok_or(PricingError::Overflow)?)?;
    let due = left.checked_sub(received).ok_or(PricingError::Overflow)?;
    let excess = due.checked_neg().ok_or(PricingError::Overflow)?.max(0);
    Ok(match (due, credited) {
        (_, 1..) if left == 0 => Standing::Credited { excess },
        (1.., _) => Standing::AwaitingPayment { due },
        _ => Standing::Paid { excess },
    })
}
