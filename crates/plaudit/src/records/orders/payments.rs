//! The payments of an order (contract, section 11).
//!
//! - A payment is known by its provider and by what that calls it: no two of an order have both alike. A pending one succeeds or
//!   fails; the same statement again changes nothing, and any other is refused.
//! - Those that succeeded add up. An order is paid once they reach what is left of its total after its credit notes, and at once where nothing is due.
//! - A `manual` payment stands for what a manager states. Where that is taken back, so is a manual payment of as much.
//! - An order that a program file says to be paid, without payments, stays so until a manager states otherwise.

use super::record::{Order, PaymentStatus, money};
use crate::program::choices;
use kernel::document::Object;
use kernel::input::{self, Members, Violations};
use kernel::json::Json;
use kernel::text::{Currency, Money, MoneyError, Timestamp};

/// The most characters of a provider and of a reference.
const NAME_LENGTH: usize = 255;
/// The most payments of an order.
pub const PAYMENTS: usize = 1_000;
/// The provider of what a manager states.
const MANUAL: &str = "manual";

choices! {
    /// Where a payment stands.
    pub enum TransactionStatus {
        /// It is not known yet whether it succeeds.
        Pending "pending",
        /// It succeeded.
        Success "success",
        /// It failed.
        Failed "failed",
    }
}

/// A payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Who took it.
    pub provider: String,
    /// What the provider calls it.
    pub reference: String,
    /// Where it stands.
    pub status: TransactionStatus,
    /// How much it is; below nothing where it was paid back.
    pub amount: Money,
    /// When it was stated to stand so.
    pub date: Timestamp,
}

impl Transaction {
    /// Reads the members of a payment in the currency of its order.
    pub fn read(members: &mut Members<'_>, currency: Currency) -> Option<Self> {
        let provider = members.required("provider", input::filled_text(NAME_LENGTH));
        let reference = members.required("reference", input::filled_text(NAME_LENGTH));
        let status = members.required("status", input::one_of(TransactionStatus::CHOICES));
        let amount = members.required("amount", money(currency));
        let date = members.required("date", input::time);
        Some(Self { provider: provider?, reference: reference?, status: status?, amount: amount?, date: date? })
    }

    /// Reads the members of a payment that is stated from outside.
    pub fn stated(members: &mut Members<'_>, currency: Currency) -> Option<Self> {
        if members.get("provider").and_then(Json::as_str) == Some(MANUAL) {
            members.fault("provider", "must not be manual, which stands for what managers state");
        }
        if let Some(Ok(amount)) = members.get("amount").map(money(currency))
            && amount.minor() <= 0
        {
            members.fault("amount", "must be above 0");
        }
        Self::read(members, currency)
    }

    fn is_known_as(&self, other: &Self) -> bool {
        (&self.provider, &self.reference) == (&other.provider, &other.reference)
    }

    fn is_manual(&self) -> bool {
        self.provider == MANUAL
    }
}

/// Reads the member `payments` of the program file.
pub(super) fn read(members: &mut Members<'_>, currency: Option<Currency>) -> Option<Vec<Transaction>> {
    // Without a currency, which is a fault of its own, there are no amounts to judge.
    let Some(currency) = currency else {
        let _ = members.get("payments");
        return None;
    };
    if !members.has("payments") {
        return Some(Vec::new());
    }
    let read = members.objects("payments", PAYMENTS, |members| Transaction::read(members, currency))?;
    let read: Vec<Transaction> = read.into_iter().collect::<Option<_>>()?;
    for (at, payment) in read.iter().enumerate() {
        if read[..at].iter().any(|other| other.is_known_as(payment)) {
            members.fault("payments", format!("has two of {} that are called {}", payment.provider, payment.reference));
        }
    }
    Some(read)
}

/// Writes the member `payments`.
pub(super) fn write(payments: &[Transaction], object: &mut Object<'_>) {
    object.list("payments", |list| {
        for payment in payments {
            list.object(|object| {
                object.text("provider", &payment.provider);
                object.text("reference", &payment.reference);
                object.text("status", payment.status.name());
                object.money("amount", payment.amount);
                object.time("date", payment.date);
            });
        }
    });
}

impl Order {
    /// What succeeded of these payments.
    fn paid(&self, counts: impl Fn(&Transaction) -> bool) -> Result<Money, MoneyError> {
        let succeeded = self.payments.iter().filter(|payment| payment.status == TransactionStatus::Success);
        let zero = Money::zero(self.currency);
        succeeded.filter(|payment| counts(payment)).try_fold(zero, |sum, payment| sum.checked_add(payment.amount))
    }

    /// The order with a payment as it is stated; as it is where that is known already.
    pub fn with_payment(&self, stated: &Transaction) -> Result<Self, Violations> {
        let mut violations = Violations::default();
        let mut after = self.clone();
        let is_full = after.payments.len() >= PAYMENTS;
        match after.payments.iter_mut().find(|payment| payment.is_known_as(stated)) {
            Some(known) if known == stated => {}
            Some(known) => {
                let has_moved = stated.status != TransactionStatus::Pending;
                if known.status != TransactionStatus::Pending || !has_moved {
                    let status = known.status.name();
                    violations.add("reference", format!("is a payment that is stated already, as {status}"));
                }
                if known.amount != stated.amount {
                    let amount = known.amount.to_decimal();
                    violations.add("amount", format!("must be {amount}, as it was stated first"));
                }
                known.clone_from(stated);
            }
            None if is_full => {
                violations.add("reference", format!("is new, but the order has {PAYMENTS} payments"));
            }
            None => after.payments.push(stated.clone()),
        }
        violations.or(Some(()))?;
        if after.payments != self.payments {
            after.note_transaction(stated);
            after.update_payment_status().map_err(|error| fault("amount", &error))?;
        }
        Ok(after)
    }

    /// The order as a manager states that it is paid: the rest is a manual payment.
    pub fn stated_paid(&self, now: Timestamp) -> Result<Self, Violations> {
        let mut after = self.clone();
        if after.payment.payment_status != PaymentStatus::Paid {
            let paid = after.paid(|_| true).and_then(|paid| after.left().checked_sub(paid));
            let rest = paid.map_err(|error| fault("payment_status", &error))?;
            if rest.minor() > 0 {
                after.add_manual(rest, now)?;
            }
            after.payment.payment_status = PaymentStatus::Paid;
        }
        Ok(after)
    }

    /// The order as a manager states that it is not paid: manual payments are taken back. The outer error says why that cannot be.
    pub fn stated_unpaid(&self, now: Timestamp) -> Result<Result<Self, String>, Violations> {
        let mut after = self.clone();
        if after.payment.payment_status == PaymentStatus::AwaitingPayment {
            return Ok(Ok(after));
        }
        let sum = |counts: fn(&Transaction) -> bool| self.paid(counts).map_err(|error| fault("payment_status", &error));
        if sum(|payment| !payment.is_manual())?.minor() >= after.left().minor() {
            let why = if after.left().minor() > 0 { "Payments cover the order." } else { "Nothing is due." };
            return Ok(Err(why.to_owned()));
        }
        let manual = sum(Transaction::is_manual)?;
        let taken_back = Money::zero(self.currency).checked_sub(manual);
        let taken_back = taken_back.map_err(|error| fault("payment_status", &error))?;
        if taken_back.minor() != 0 {
            after.add_manual(taken_back, now)?;
        }
        after.payment.payment_status = PaymentStatus::AwaitingPayment;
        Ok(Ok(after))
    }

    /// Whether anything was paid on it, be it that it was paid back.
    pub fn has_payments(&self) -> bool {
        self.payments.iter().any(|payment| payment.status == TransactionStatus::Success)
    }

    /// Why the order cannot go into the trash when it is asked for.
    pub fn check_deletable(&self) -> Result<(), &'static str> {
        if self.credited.is_empty() { self.check_unpaid() } else { Err("Credit notes name the order.") }
    }

    /// Why the order cannot go into the trash when its entry is withdrawn.
    pub fn check_unpaid(&self) -> Result<(), &'static str> {
        let is_pending = |payment: &Transaction| payment.status == TransactionStatus::Pending;
        let has_paid = self.paid(|_| true).map_or(true, |paid| paid.minor() != 0);
        if self.credits.is_some() {
            Err("A credit note stays.")
        } else if self.payment.payment_status == PaymentStatus::Paid {
            Err("The order is paid.")
        } else if has_paid || self.payments.iter().any(is_pending) {
            Err("Something was paid on the order, or a payment is pending.")
        } else {
            Ok(())
        }
    }

    fn add_manual(&mut self, amount: Money, now: Timestamp) -> Result<(), Violations> {
        if self.payments.len() >= PAYMENTS {
            let mut violations = Violations::default();
            violations.add("payment_status", format!("needs one payment more, but the order has {PAYMENTS}"));
            return Err(violations);
        }
        let number = 1 + self.payments.iter().filter(|payment| payment.is_manual()).count();
        let (provider, reference) = (MANUAL.to_owned(), number.to_string());
        let payment = Transaction { provider, reference, status: TransactionStatus::Success, amount, date: now };
        self.note_transaction(&payment);
        self.payments.push(payment);
        Ok(())
    }

    /// The members about a transaction are about the last one that succeeded, or else about the one that was stated last.
    fn note_transaction(&mut self, stated: &Transaction) {
        let has_succeeded = |payment: &Transaction| payment.status == TransactionStatus::Success;
        if !has_succeeded(stated) && self.payments.iter().any(has_succeeded) {
            return;
        }
        self.transaction_date = Some(stated.date);
        self.payment.transaction_provider.clone_from(&stated.provider);
        self.payment.transaction_reference.clone_from(&stated.reference);
        stated.status.name().clone_into(&mut self.payment.transaction_status);
    }

    /// An order is paid once its payments reach what is left of its total.
    pub(crate) fn update_payment_status(&mut self) -> Result<(), MoneyError> {
        if self.paid(|_| true)?.minor() >= self.left().minor() {
            self.payment.payment_status = PaymentStatus::Paid;
        }
        Ok(())
    }
}

fn fault(member: &str, error: &MoneyError) -> Violations {
    let mut violations = Violations::default();
    violations.add(member, error.to_string());
    violations
}
