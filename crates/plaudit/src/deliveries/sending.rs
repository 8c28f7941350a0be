//! The request of a delivery.

use bytes::Bytes;
use url::Url;

use super::store::Delivery;
use crate::outgoing::{Attempt, Client, Content, Request};
use crate::program::webhooks::{Method, Webhook};
use kernel::text::Timestamp;

/// What is told in the address of a request by `get`, and the id of every request.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The `webhook-id`.
    pub id: String,
    /// The event.
    pub event: &'static str,
    /// The record.
    pub slug: String,
    /// The time of the change.
    pub at: String,
}

impl Sent {
    pub(super) fn of(delivery: &Delivery) -> Self {
        let (id, slug, at) = (delivery.id.to_string(), delivery.slug.clone(), delivery.at.to_string());
        Self { id, event: delivery.event.name(), slug, at }
    }
}

/// Makes an attempt at a webhook, with its headers and signed with the keys that are valid now.
pub async fn send(client: &Client, webhook: &Webhook, sent: &Sent, body: Bytes, now: Timestamp) -> Attempt {
    // It was parsed when it was stored.
    let url = match Url::parse(&webhook.url) {
        Ok(url) => url,
        Err(error) => return Attempt::impossible(now, error.to_string()),
    };
    let query = [("event", sent.event), ("slug", sent.slug.as_str()), ("timestamp", sent.at.as_str())];
    let content = match webhook.method {
        Method::Get => Content::Query(&query),
        Method::Post => Content::Body(body),
    };
    let keys = webhook.keys(now.as_seconds());
    let headers = webhook.headers.iter().collect();
    client.attempt(Request { url: &url, content, headers, id: &sent.id, keys: &keys, now }).await
}
