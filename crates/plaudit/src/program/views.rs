//! The views of a snapshot, from which lists of set-up records are answered.

use std::sync::OnceLock;

use list_view::View;
use parking_lot::RwLock;

use kernel::kind::Kind;

/// The views of a snapshot by the kinds of their records, each made when it is first asked for. A copy begins without any,
/// because something in it will be another.
#[derive(Debug)]
pub struct Views([OnceLock<Box<RwLock<View>>>; Kind::ALL.len()]);

impl Default for Views {
    fn default() -> Self {
        Self([const { OnceLock::new() }; Kind::ALL.len()])
    }
}

impl Clone for Views {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Views {
    /// The view of a kind of record, which `make` makes where it was not asked for yet.
    pub fn of(&self, kind: Kind, make: impl FnOnce() -> View) -> &RwLock<View> {
        self.0[kind as usize].get_or_init(|| Box::new(RwLock::new(make())))
    }
}
