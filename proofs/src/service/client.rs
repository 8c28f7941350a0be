//! A client that sends exactly what it is told: no header of its own but the ones that a proof leaves at their defaults.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use ureq::http::Request;
use ureq::{Agent, http};

/// The media type of answers in JSON.
pub(crate) const JSON: &str = "application/vnd.service.v2.3+json";
/// The media type of answers in XML.
pub(crate) const XML: &str = "application/vnd.service.v2.3+xml";

/// Keeps connections open and sends the same address, key and format with every request unless told otherwise.
#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
    base: String,
    defaults: Vec<(String, String)>,
}

/// One answer, whole.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The HTTP status.
    pub(crate) status: u16,
    /// Every header in the order in which it came, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body's bytes.
    pub(crate) body: Vec<u8>,
}

impl Client {
    /// A client of the service at this address that sends neither a key nor an `Accept` yet.
    pub(crate) fn bare(base: &str) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(Duration::from_mins(1)))
            .max_idle_connections_per_host(64)
            .proxy(None)
            .accept("")
            .build();
        Self { agent: config.new_agent(), base: base.to_owned(), defaults: Vec::new() }
    }

    /// The same, with this header on every request; an earlier value of it is replaced.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.without(name);
        client.defaults.push((name.to_owned(), value.to_owned()));
        client
    }

    /// The same, without this header.
    pub(crate) fn without(&self, name: &str) -> Self {
        let mut client = self.clone();
        client.defaults.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        client
    }

    /// The same with connections of its own, for a thread of its own.
    pub(crate) fn apart(&self) -> Self {
        Self { defaults: self.defaults.clone(), ..Self::bare(&self.base) }
    }

    /// Reads.
    pub(crate) fn get(&self, path: &str) -> Result<Answer> {
        self.send("GET", path, &[], None)
    }

    /// Writes a JSON document.
    pub(crate) fn put(&self, path: &str, body: &Value) -> Result<Answer> {
        self.put_if(path, body, None)
    }

    /// Writes a JSON document if the record is still the one with this tag.
    pub(crate) fn put_if(&self, path: &str, body: &Value, tag: Option<&str>) -> Result<Answer> {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(tag.map(|tag| ("if-match", tag)));
        self.send("PUT", path, &headers, Some(body.to_string().as_bytes()))
    }

    /// Sends a JSON document.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.send("POST", path, &[("content-type", "application/json")], Some(body.to_string().as_bytes()))
    }

    /// Deletes.
    pub(crate) fn delete(&self, path: &str) -> Result<Answer> {
        self.send("DELETE", path, &[], None)
    }

    /// Sends a request of any method with further headers, which replace the client's own.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Result<Answer> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in &self.defaults {
            if !headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                request = request.header(name, value);
            }
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = match body {
            Some(body) => self.agent.run(request.body(body)?),
            None => self.agent.run(request.body(())?),
        };
        Answer::read(response.with_context(|| format!("{method} {path}"))?)
    }
}

impl Answer {
    fn read(response: http::Response<ureq::Body>) -> Result<Self> {
        let (parts, mut body) = response.into_parts();
        let shown = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        Ok(Self {
            status: parts.status.as_u16(),
            headers: parts.headers.iter().map(|(name, value)| (name.as_str().to_owned(), shown(value))).collect(),
            body: body.with_config().limit(1 << 30).read_to_vec()?,
        })
    }

    /// The first value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// A header that is a whole number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.header(name)?.parse().ok()
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body).with_context(|| format!("no JSON: {}", self.text()))
    }

    /// The body as text, for a failure report.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// This answer if it has the status, an error that shows it if not.
    pub(crate) fn expect_status(self, status: u16) -> Result<Self> {
        if self.status != status {
            bail!("{status} was expected, {} came: {}", self.status, self.text());
        }
        Ok(self)
    }

    /// Whether all three rate-limit headers are there and are whole numbers.
    pub(crate) fn has_rate_limit_headers(&self) -> bool {
        ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]
            .iter()
            .all(|name| self.number(name).is_some())
    }

    /// Whether any rate-limit header is there.
    pub(crate) fn has_any_rate_limit_header(&self) -> bool {
        self.headers.iter().any(|(name, _)| name.starts_with("x-ratelimit-"))
    }

    /// Whether the body is the error envelope with this answer's own status and a message.
    pub(crate) fn is_envelope(&self) -> bool {
        self.json().is_ok_and(|body| {
            body["status_code"] == self.status && body["message"].as_str().is_some_and(|message| !message.is_empty())
        })
    }
}
