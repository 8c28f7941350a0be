#![doc = include_str!("../README.md")]

mod endpoint;
mod key;
mod rotation;
mod schedule;
mod signature;

pub use endpoint::{DISABLE_AFTER, Endpoint, Outcome, Reason};
pub use key::{InvalidKey, Key};
pub use rotation::{Keys, MAX_REPLACED, REPLACED_VALID_SECONDS, Replaced};
pub use schedule::{InvalidSchedule, Next, Schedule};
pub use signature::{InvalidId, Refused, StandardHeaders, TOLERANCE_SECONDS};
pub use signature::{SIGNATURE, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP};
