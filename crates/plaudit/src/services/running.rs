//! The requests with an idempotency key that are running on this node.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;

use db::AccountId;
use kernel::text::Slug;

/// Which request it is: the account, the API key, and the caller's name for the request.
pub type RequestName = (AccountId, Slug, String);

/// The requests with a key that are running on this node.
#[derive(Clone, Debug, Default)]
pub struct RunningRequests(Arc<Mutex<HashSet<RequestName>>>);

/// Holds a key while its request runs.
#[derive(Debug)]
pub struct RunningRequest {
    running: RunningRequests,
    name: RequestName,
}

impl RunningRequests {
    /// Takes the key; `None` where a request with it is running.
    pub fn begin(&self, name: &RequestName) -> Option<RunningRequest> {
        let taken = self.0.lock().insert(name.clone());
        taken.then(|| RunningRequest { running: self.clone(), name: name.clone() })
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.running.0.lock().remove(&self.name);
    }
}
