//! What is HTTP and not one resource.
//!
//! - Requests of the interface go through [`pipeline`].
//! - Handlers take what they need as arguments, in the order in which a request is checked, and give back a [`Reply`] or
//!   an [`ApiError`]; neither knows a format.

mod answer;
mod caller;
pub mod connections;
pub mod download;
mod error;
mod event_stream;
mod extract;
pub mod idempotency;
pub mod list;
pub mod pipeline;
mod precondition;
pub mod reply;
pub mod server;
pub mod upload;
pub mod web_clients;

pub use axum::extract::RawQuery;

pub use caller::{Caller, Writing};
pub use error::ApiError;
pub use event_stream::{LastEventId, Opening};
pub use extract::{Body, IncludeSettings, Path, PathField, PathPart, PathTab, PathTags, PathUser, Reader, Writer};
pub use reply::{Reply, entity_tag};
pub use upload::{Upload, Uploaded};
