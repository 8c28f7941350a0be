//! A change of an entry, as streams send it.

use axum::body::Bytes;
use parking_lot::Mutex;

use crate::log::Event;
use crate::records::users::Person;
use kernel::document;
use kernel::text::{Slug, Timestamp};

/// How many representations of one change are kept; further ones are made anew for each of their readers.
const CACHE_CAPACITY: usize = 4;

/// What the representations of one change are told apart by: format and languages, the version of the program, and
/// when addresses of files end.
pub type Representation = (String, i64, i64);

/// A change of an entry as the log has it, with what it was rendered as, so that all readers share the same bytes.
#[derive(Debug)]
pub struct EntryChange {
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
    /// The events that it causes.
    pub events: Vec<Event>,
    /// The whole entry after the change.
    pub document: String,
    /// The people whom it shows.
    pub people: Vec<Person>,
    pub(super) rendered: Mutex<Vec<(Representation, Bytes)>>,
}

impl EntryChange {
    /// What the entry went through, for a client: one of three names, whatever else the change caused.
    pub fn event(&self) -> &'static str {
        match self.action.as_str() {
            "created" => "entry_created",
            "trashed" => "entry_deleted",
            _ => "entry_updated",
        }
    }

    /// Whether it put the entry into the trash.
    pub fn is_deletion(&self) -> bool {
        self.action == "trashed"
    }

    /// The document that a reader gets, with slots.
    pub fn document(&self) -> String {
        document::object(|object| {
            object.texts("events", self.events.iter().map(|event| event.name()));
            object.integer("sequence", self.sequence);
            object.time("timestamp", self.at);
            object.text("source", &self.source);
            object.raw("entry", &self.document);
        })
    }

    /// What `render` makes of it, made once for all readers of one representation; what has more bytes than `shared` is made
    /// for each of them, and is the error.
    pub fn rendered(
        &self,
        representation: &Representation,
        shared: usize,
        render: impl FnOnce(&Self) -> Vec<u8>,
    ) -> Result<Bytes, Vec<u8>> {
        if let Some((_, bytes)) = self.rendered.lock().iter().find(|(known, _)| known == representation) {
            return Ok(bytes.clone());
        }
        let bytes = render(self);
        if bytes.len() > shared {
            return Err(bytes);
        }
        let bytes = Bytes::from(bytes);
        let mut rendered = self.rendered.lock();
        if rendered.len() < CACHE_CAPACITY {
            rendered.push((representation.clone(), bytes.clone()));
        }
        Ok(bytes)
    }

    /// The bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.document.len() + size_of::<Self>()
    }
}
