//! Traces: requests and jobs are told of to a collector of OpenTelemetry, by OTLP over HTTP.
//!
//! - The span is that of the log, under the names that OpenTelemetry has for HTTP servers
//!   (<https://opentelemetry.io/docs/specs/semconv/http/http-spans/>). What is logged on its way is in it.
//! - A request that names a trace (W3C Trace Context, `traceparent`) is a part of that.
//! - Spans are sent together in the background. Where the collector is away or slow they are dropped, and nobody waits.

use std::time::Duration;

use axum::http::HeaderMap;
use futures_util::future::BoxFuture;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{SpanKind, Status, TracerProvider as _};
use opentelemetry::{KeyValue, Value};
use opentelemetry_http::{Bytes, HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider, SpanData, SpanExporter as Exporter};
use tokio::runtime::Handle;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt as _};
use tracing_subscriber::registry::LookupSpan;

/// How long the collector may take to answer.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the last spans may take when the service stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The names of the log and those of OpenTelemetry.
const NAMES: &[(&str, &str)] = &[
    ("id", "plaudit.request_id"),
    ("client", "client.address"),
    ("method", "http.request.method"),
    ("route", "http.route"),
    ("path", "url.path"),
    ("account", "plaudit.account"),
    ("key", "plaudit.key"),
];

/// Where spans go.
#[derive(Debug)]
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Tells the collector at this address of so many of a hundred requests. To be called within a runtime.
    pub fn begin(url: &str, percent: u32) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        // The client asks for a provider of its own; where one is set already, it is the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(EXPORT_TIMEOUT).build()?;
        let sender = Sender { client, runtime: Handle::current() };
        let exporter = SpanExporter::builder().with_http().with_http_client(sender).with_endpoint(url).build()?;
        let resource = Resource::builder().with_service_name("plaudit");
        let resource = resource.with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let share = Sampler::TraceIdRatioBased(f64::from(percent) / 100.0);
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(Renamed(exporter))
            .with_resource(resource.build())
            .with_sampler(Sampler::ParentBased(Box::new(share)));
        Ok(Self(provider.build()))
    }

    /// What makes spans of OpenTelemetry of those of the log.
    pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> OpenTelemetryLayer<S, SdkTracer> {
        let layer = tracing_opentelemetry::layer().with_tracer(self.0.tracer("plaudit"));
        layer.with_location(false).with_threads(false).with_tracked_inactivity(false).with_target(false)
    }

    /// Sends what still waits.
    pub async fn end(self) {
        // It waits for the thread that sends, which waits for this runtime.
        let ended = tokio::task::spawn_blocking(move || self.0.shutdown_with_timeout(SHUTDOWN_TIMEOUT)).await;
        if let Ok(Err(error)) = ended {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }
}

/// The most bytes of a `tracestate` that are taken along (W3C Trace Context, section 3.3.1.5).
const TRACESTATE_LENGTH: usize = 512;

/// Makes the span of a request a part of the trace that the request names.
pub fn join(span: &Span, headers: &HeaderMap) {
    if headers.get("tracestate").is_some_and(|state| state.len() > TRACESTATE_LENGTH) {
        return;
    }
    // Without a trace, or without a collector, the span stands for itself.
    let _ = span.set_parent(TraceContextPropagator::new().extract(&HeaderExtractor(headers)));
}

/// Notes how a request was answered.
pub fn end(span: &Span, status: u16) {
    span.set_attribute("http.response.status_code", i64::from(status));
    if status >= 500 {
        span.set_status(Status::error(""));
    }
}

/// Sends spans under the names of OpenTelemetry.
#[derive(Debug)]
struct Renamed(SpanExporter);

impl Exporter for Renamed {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        batch.iter_mut().filter(|span| span.name == "request").for_each(rename);
        self.0.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

fn rename(span: &mut SpanData) {
    let [mut method, mut route] = [String::new(), String::new()];
    for attribute in &mut span.attributes {
        match (attribute.key.as_str(), &attribute.value) {
            ("method", Value::String(text)) => method = text.to_string(),
            ("route", Value::String(text)) => route = text.to_string(),
            _ => {}
        }
        if let Some((_, name)) = NAMES.iter().find(|(of_log, _)| attribute.key.as_str() == *of_log) {
            attribute.key = (*name).into();
        }
    }
    span.span_kind = SpanKind::Server;
    span.name = format!("{method} {route}").trim_end().to_owned().into();
}

/// Sends a batch within the runtime of the service: batches are made in a thread of their own.
#[derive(Debug)]
struct Sender {
    client: reqwest::Client,
    runtime: Handle,
}

impl HttpClient for Sender {
    fn send_bytes<'s, 'f>(&'s self, request: Request<Bytes>) -> BoxFuture<'f, Result<Response<Bytes>, HttpError>>
    where
        's: 'f,
        Self: 'f,
    {
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move {
            let answer = client.execute(request.try_into()?).await?;
            let status = answer.status();
            let mut response = Response::new(answer.bytes().await?);
            *response.status_mut() = status;
            Ok(response)
        });
        Box::pin(async move { sent.await? })
    }
}
