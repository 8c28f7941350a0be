//! A change of an entry, as streams send it.

use axum::body::Bytes;
use parking_lot::Mutex;

use crate::records::users::Person;
use kernel::document;
use kernel::text::{Slug, Timestamp};

/// How many representations of one change are kept; further ones are made anew for each of their readers.
const CACHE_CAPACITY: usize = 4;

/// What a row of the log says of a change of an entry.
#[derive(Debug)]
pub struct Logged {
    /// The sequence number.
    pub sequence: i64,
    /// The time.
    pub at: Timestamp,
    /// `api`, `ui` or `system`.
    pub source: String,
    /// What was done.
    pub action: String,
    /// The entry.
    pub entry: Slug,
    /// The events that it causes, with commas between them.
    pub events: String,
    /// The whole entry after the change.
    pub document: String,
}

/// What the representations of one change are told apart by: format and languages, the version of the program, and
/// when addresses of files end.
pub type Representation = (String, i64, i64);

/// A change of an entry, with what it was rendered as, so that all readers share the same bytes.
#[derive(Debug)]
pub struct EntryChange {
    logged: Logged,
    people: Vec<Person>,
    rendered: Mutex<Vec<(Representation, Bytes)>>,
}

impl EntryChange {
    /// A change that nobody has asked for yet.
    #[must_use]
    pub fn new(logged: Logged, people: Vec<Person>) -> Self {
        Self { logged, people, rendered: Mutex::default() }
    }

    /// What the log says.
    #[must_use]
    pub fn logged(&self) -> &Logged {
        &self.logged
    }

    /// The people whom it shows.
    #[must_use]
    pub fn people(&self) -> &[Person] {
        &self.people
    }

    /// What the entry went through, for a client: one of three names, whatever else the change caused.
    #[must_use]
    pub fn event(&self) -> &'static str {
        match self.logged.action.as_str() {
            "created" => "entry_created",
            "trashed" => "entry_deleted",
            _ => "entry_updated",
        }
    }

    /// Whether it put the entry into the trash.
    #[must_use]
    pub fn is_deletion(&self) -> bool {
        self.logged.action == "trashed"
    }

    /// The document that a reader gets, with slots.
    #[must_use]
    pub fn document(&self) -> String {
        document::object(|object| {
            let events = self.logged.events.split(',').filter(|event| !event.is_empty());
            object.texts("events", events);
            object.integer("sequence", self.logged.sequence);
            object.time("timestamp", self.logged.at);
            object.text("source", &self.logged.source);
            object.raw("entry", &self.logged.document);
        })
    }

    /// What `render` makes of it, made once for all readers of one representation.
    pub fn rendered(&self, representation: &Representation, render: impl FnOnce(&Self) -> Bytes) -> Bytes {
        if let Some((_, bytes)) = self.rendered.lock().iter().find(|(known, _)| known == representation) {
            return bytes.clone();
        }
        let bytes = render(self);
        let mut rendered = self.rendered.lock();
        if rendered.len() < CACHE_CAPACITY {
            rendered.push((representation.clone(), bytes.clone()));
        }
        bytes
    }

    /// The bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.logged.document.len() + size_of::<Self>()
    }
}
