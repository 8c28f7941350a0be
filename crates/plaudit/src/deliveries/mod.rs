//! Deliveries to webhooks.
//!
//! - An endpoint is a reader of the change log with a position and a lease. There is no queue: the lease says how far it has
//!   read, which node works for it and until when, and when it wants to be looked at again. One node works for one endpoint.
//! - The node decides in memory what is attempted when ([`endpoint`]): in order per record, few attempts at once, more with each
//!   success. So a dead endpoint delays no other, and nothing is counted in the database.
//! - An attempt is written down before it is sent, with its body, so that the log of deliveries shows every attempt even of a
//!   node that died, and a retry has the same bytes. The next delivery of a record begins when the outcome of the one before is
//!   committed, so that a receiver sees 1, 1, 2 at worst, and never 1, 2, 1.
//! - The id of a delivery is made of the number, the event and the hash of its change ([`id`]): nothing is drawn, nothing comes
//!   twice, and after a restore another history has other ids.
//! - Leases follow the set-up ([`reconcile()`]).

pub mod endpoint;
pub mod id;
mod matching;
mod owner;
pub mod payload;
mod reconcile;
mod remembered;
pub mod replay;
pub mod sending;
pub mod store;
mod turn;

pub use owner::work;
pub use reconcile::reconcile;

use std::sync::Arc;

use crate::program::Program;
use crate::program::webhooks::{Status, Webhook};
use kernel::text::Slug;

/// The webhook, unless nothing is sent to it.
fn sent_to(program: &Program, slug: Slug) -> Option<Arc<Webhook>> {
    let record = program.webhooks.live_record(slug)?;
    (record.value.status == Status::Enabled).then(|| Arc::new(record.value.clone()))
}
