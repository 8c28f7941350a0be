//! The request of a delivery.

use bytes::Bytes;
use url::Url;

use super::store::Delivery;
use crate::outgoing::{Attempt, Client, Content, Request};
use crate::program::webhooks::{Method, Webhook};
use kernel::text::Timestamp;

/// What the address of a request by `get` says, and the id of every request.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The `webhook-id`.
    pub id: String,
    /// The event.
    pub event: &'static str,
    /// The record.
    pub slug: String,
    /// The time of the change.
    pub at: String,
}

impl Summary {
    pub(super) fn of(delivery: &Delivery) -> Self {
        let (id, slug, at) = (delivery.id.to_string(), delivery.slug.clone(), delivery.at.to_string());
        Self { id, event: delivery.event.name(), slug, at }
    }
}

/// Makes an attempt at a webhook, with its headers and signed with the keys that are valid now.
pub async fn send(client: &Client, webhook: &Webhook, summary: &Summary, body: Bytes, now: Timestamp) -> Attempt {
    // It was parsed when it was stored.
    let url = match Url::parse(&webhook.url) {
        Ok(url) => url,
        Err(error) => return Attempt::impossible(now, error.to_string()),
    };
    let query = [("event", summary.event), ("slug", summary.slug.as_str()), ("timestamp", summary.at.as_str())];
    let content = match webhook.method {
        Method::Get => Content::Query(&query),
        Method::Post => Content::Body(body),
    };
    let keys = webhook.keys(now.as_seconds());
    let headers = webhook.headers.iter().collect();
    client.attempt(Request { url: &url, content, headers, id: &summary.id, keys: &keys, now }).await
}
