//! What the service says of webhooks and of their deliveries.

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::service::Client;

/// Makes a webhook that calls this address with `POST`, with these members besides, and gives its slug.
pub(crate) fn subscribe(client: &Client, url: &str, events: &[&str], more: &Value) -> Result<String> {
    let mut body = json!({"name": "Proof", "method": "post", "url": url, "events": events});
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    let made = client.post("/webhook", &body)?.expect_status(201).context("a webhook")?.json()?;
    Ok(made["slug"].as_str().context("the webhook has no slug")?.to_owned())
}

/// Goes over a list that is read by cursor, and gives the number of its items.
pub(crate) fn each_item(client: &Client, path: &str, mut look: impl FnMut(&Value) -> Result<()>) -> Result<usize> {
    let (mut cursor, mut count) = (String::new(), 0);
    let separator = if path.contains('?') { '&' } else { '?' };
    loop {
        let page = client.get(&format!("{path}{separator}per_page=100{cursor}"))?.expect_status(200)?.json()?;
        for item in page["data"].as_array().context("a list without data")? {
            look(item)?;
            count += 1;
        }
        match page.get("next_cursor") {
            Some(Value::Null) => return Ok(count),
            Some(Value::String(next)) if !cursor.ends_with(&format!("={next}")) => cursor = format!("&cursor={next}"),
            other => bail!("{path} goes on with {other:?}"),
        }
    }
}

/// The deliveries of a webhook, newest first.
pub(crate) fn deliveries(client: &Client, webhook: &str) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    each_item(client, &format!("/webhook/{webhook}/delivery"), |item| {
        found.push(item.clone());
        Ok(())
    })?;
    Ok(found)
}

/// Whether a delivery of a webhook is still to be made.
pub(crate) fn is_pending(client: &Client, webhook: &str) -> Result<bool> {
    Ok(each_item(client, &format!("/webhook/{webhook}/delivery?state=pending"), |_| Ok(()))? > 0)
}
