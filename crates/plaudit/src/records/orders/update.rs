//! What the body of `PUT /order/{slug}` changes (contract, section 6). Pure.

use super::record::{BillingChanges, Order, PaymentStatus, note};
use crate::program::Context;
use kernel::input::{self, Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::text::Timestamp;

/// What an update says of an order.
#[derive(Clone, Debug)]
pub struct Changes {
    billing: BillingChanges,
    payment_status: Option<PaymentStatus>,
    note: Option<String>,
}

impl Changes {
    /// Reads the body, which is closed.
    pub fn read(body: &JsonObject<'_>, context: &Context) -> Result<Self, Violations> {
        let mut members = Members::closed(body);
        let changes = Self {
            billing: BillingChanges::read_from(&mut members, false, context),
            payment_status: members.optional("payment_status", input::one_of(PaymentStatus::CHOICES)),
            note: members.optional("note", note),
        };
        members.finish().or(Some(changes))
    }

    /// The order after the update. The inner error says why it cannot be as it is stated.
    pub fn apply(self, before: &Order, now: Timestamp) -> Result<Result<Order, String>, Violations> {
        let changes_status = self.payment_status.is_some_and(|status| status != before.payment.payment_status);
        if before.credits.is_some() && changes_status {
            return Ok(Err("A credit note takes no payments.".to_owned()));
        }
        let mut after = match self.payment_status {
            None => before.clone(),
            Some(PaymentStatus::Paid) => before.stated_paid(now)?,
            Some(PaymentStatus::AwaitingPayment) => match before.stated_unpaid(now)? {
                Ok(after) => after,
                Err(why) => return Ok(Err(why)),
            },
        };
        self.billing.apply(&mut after.billing);
        if let Some(note) = self.note {
            after.note = note;
        }
        Ok(Ok(after))
    }
}
