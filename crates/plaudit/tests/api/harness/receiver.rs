//! An endpoint of others, in the process: answers what it is told to, and remembers what it was sent.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::yield_now;

/// What was sent.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: Method,
    pub query: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Received {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// What is answered: a status, and headers.
pub type Scripted = (u16, &'static [(&'static str, &'static str)]);

#[derive(Default)]
struct Known {
    script: VecDeque<Scripted>,
    received: Vec<Received>,
    gate: Option<Arc<Semaphore>>,
}

/// The endpoint; 204 is what it answers without a script.
#[derive(Clone)]
pub struct Receiver {
    known: Arc<Mutex<Known>>,
    pub url: String,
}

impl Receiver {
    pub async fn start() -> Self {
        let known = Arc::<Mutex<Known>>::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let router = Router::new().fallback(receive).with_state(Arc::clone(&known));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { known, url }
    }

    /// What the next requests are answered.
    pub fn script(&self, script: &[Scripted]) {
        self.known.lock().unwrap().script.extend(script);
    }

    /// What was sent since this was asked last.
    pub fn take(&self) -> Vec<Received> {
        std::mem::take(&mut self.known.lock().unwrap().received)
    }

    /// Has each answer from now on wait for a permit.
    pub fn hold(&self) -> Arc<Semaphore> {
        Arc::clone(self.known.lock().unwrap().gate.insert(Arc::new(Semaphore::new(0))))
    }

    /// Waits until so much was sent since it was taken last.
    pub async fn until(&self, number: usize) {
        while self.known.lock().unwrap().received.len() < number {
            yield_now().await;
        }
    }
}

async fn receive(
    State(known): State<Arc<Mutex<Known>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, HeaderMap, &'static str) {
    let ((status, headers), gate) = {
        let mut known = known.lock().unwrap();
        known.received.push(Received { method, query: uri.query().unwrap_or_default().to_owned(), headers, body });
        (known.script.pop_front().unwrap_or((204, &[])), known.gate.clone())
    };
    if let Some(gate) = gate {
        gate.acquire().await.unwrap().forget();
    }
    let named =
        |(name, value): &(&'static str, &'static str)| (HeaderName::from_static(name), HeaderValue::from_static(value));
    let text = if status == 204 { "" } else { "as it was told" };
    (StatusCode::from_u16(status).unwrap(), headers.iter().map(named).collect(), text)
}
