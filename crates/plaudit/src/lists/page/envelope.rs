//! What stands around the records of a page.

use crate::lists::page::ListQuery;
use kernel::document::{self, List, Object};

/// A page of a list that is walked by cursors alone: its records, and the cursor of the next page, null at the end.
pub fn walked_page(records: impl FnOnce(&mut List<'_>), next_cursor: Option<&str>) -> String {
    document::object(|object| {
        object.list("data", records);
        object.optional_text("next_cursor", next_cursor);
    })
}

/// The envelope of a page: the members of the specification's section 4.5, in its order.
///
/// The records are written between [`PageEnvelope::before`] and [`PageEnvelope::after`]; only the latter needs to know how
/// many there were.
///
/// - Beyond the last page `first_page_url` and `last_page_url` are relative, `next_page_url` is empty and
///   `prev_page_url` is the last page. Without a total (`count=none`), a page after the first without records is
///   beyond the last, and `prev_page_url` is the page before it.
/// - Without a total the members `last_page`, `last_page_url` and `total` are left out.
/// - In a walk by cursor `next_page_url` is the address with the next cursor, the member `next_cursor` is added
///   (null at the end), and the other members tell the place as if the page had been reached by its number.
#[derive(Debug, Clone, Copy)]
pub struct PageEnvelope<'a> {
    /// The absolute address in front of the path, without a slash at its end.
    pub base: &'a str,
    /// The path of the list, for example `/order`.
    pub path: &'a str,
    /// What was asked for.
    pub query: &'a ListQuery,
    /// The number of records on the page.
    pub rows: u64,
    /// The number of records on all pages; nothing with `count=none`.
    pub total: Option<u64>,
    /// Whether records follow; read only without a total and without a cursor.
    pub has_more: bool,
    /// The position of the last record when records follow; read only in a walk by cursor.
    pub next_position: Option<&'a [u8]>,
}

impl PageEnvelope<'_> {
    /// What stands before the records: an object that is not ended.
    pub fn before(query: &ListQuery) -> String {
        format!("{{\"current_page\":{}", current_page(query))
    }

    /// The members after the records, as an object.
    pub fn after(&self) -> String {
        let page = current_page(self.query);
        let last_page = self.total.map(|total| total.div_ceil(u64::from(self.query.per_page)).max(1));
        let is_beyond = match last_page {
            Some(last_page) => page > last_page,
            None => page > 1 && self.rows == 0,
        };
        let absolute = format!("{}{}", self.base.trim_end_matches('/'), self.path);
        let end = if is_beyond { self.path } else { &absolute };
        let page_of = |address: &str, page: u64| self.query.address(address, "page", &page.to_string());
        let next_cursor = self.next_cursor();
        let next = match (&next_cursor, last_page) {
            (Some(cursor), _) => self.query.address(&absolute, "cursor", cursor),
            (None, _) if self.query.cursor.is_some() => String::new(),
            (None, Some(last_page)) if page < last_page => page_of(&absolute, page + 1),
            (None, None) if self.has_more => page_of(&absolute, page + 1),
            _ => String::new(),
        };
        let previous = match last_page {
            _ if page <= 1 => String::new(),
            Some(last_page) => page_of(&absolute, last_page.min(page - 1)),
            None => page_of(&absolute, page - 1),
        };
        let before = self.query.rows_before();
        let place = |number: u64| (self.rows > 0).then(|| before.saturating_add(number));
        document::object(|object| {
            let number = |object: &mut Object<'_>, name: &str, number: Option<u64>| match number {
                Some(number) => object.raw(name, &number.to_string()),
                None => object.null(name),
            };
            object.text("first_page_url", &page_of(end, 1));
            if let Some(last_page) = last_page {
                number(object, "last_page", Some(last_page));
                object.text("last_page_url", &page_of(end, last_page));
            }
            object.text("next_page_url", &next);
            object.text("prev_page_url", &previous);
            object.text("path", &absolute);
            number(object, "per_page", Some(self.query.per_page.into()));
            number(object, "from", place(1));
            number(object, "to", place(self.rows));
            if self.total.is_some() {
                number(object, "total", self.total);
            }
            if self.query.cursor.is_some() {
                object.optional_text("next_cursor", next_cursor.as_deref());
            }
        })
    }

    /// The text of the next cursor in a walk by cursor, unless the walk is at its end.
    fn next_cursor(&self) -> Option<String> {
        let current = self.query.cursor.as_ref()?;
        let rows_before = current.rows_before.saturating_add(self.rows);
        Some(self.query.cursor_behind(self.next_position?.to_vec(), rows_before))
    }
}

/// The page that was asked for, by its number or by the records before the cursor.
fn current_page(query: &ListQuery) -> u64 {
    match &query.cursor {
        Some(cursor) => cursor.rows_before / u64::from(query.per_page) + 1,
        None => query.page,
    }
}
