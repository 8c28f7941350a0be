//! What stands around the records of a page.

use crate::lists::page::ListQuery;
use kernel::text::write_json_string;

/// The envelope of a page: the members of the specification's section 4.5, in its order.
///
/// The records are streamed between [`PageEnvelope::write_before`] and [`PageEnvelope::write_after`], between
/// commas; only the latter needs to know how many there were.
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
    /// Appends everything before the first record.
    pub fn write_before(query: &ListQuery, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"current_page\":");
        write_number(current_page(query), out);
        out.extend_from_slice(b",\"data\":[");
    }

    /// Appends everything after the last record.
    pub fn write_after(&self, out: &mut Vec<u8>) {
        let page = current_page(self.query);
        let last_page = self.total.map(|total| total.div_ceil(u64::from(self.query.per_page)).max(1));
        let is_beyond = match last_page {
            Some(last_page) => page > last_page,
            None => page > 1 && self.rows == 0,
        };
        let absolute = format!("{}{}", self.base.trim_end_matches('/'), self.path);
        let end = if is_beyond { self.path } else { &absolute };
        let page_of = |address: &str, page: u64| self.query.address(address, "page", itoa::Buffer::new().format(page));

        out.push(b']');
        write_text("first_page_url", &page_of(end, 1), out);
        if let Some(last_page) = last_page {
            write_member("last_page", out);
            write_number(last_page, out);
            write_text("last_page_url", &page_of(end, last_page), out);
        }
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
        write_text("next_page_url", &next, out);
        write_text("prev_page_url", &previous, out);
        write_text("path", &absolute, out);
        write_member("per_page", out);
        write_number(u64::from(self.query.per_page), out);
        self.write_place(out);
        if self.query.cursor.is_some() {
            match next_cursor {
                Some(cursor) => write_text("next_cursor", &cursor, out),
                None => out.extend_from_slice(b",\"next_cursor\":null"),
            }
        }
        out.push(b'}');
    }

    /// The text of the next cursor in a walk by cursor, unless the walk is at its end.
    fn next_cursor(&self) -> Option<String> {
        let current = self.query.cursor.as_ref()?;
        let rows_before = current.rows_before.saturating_add(self.rows);
        Some(self.query.cursor_behind(self.next_position?.to_vec(), rows_before))
    }

    /// Appends `from`, `to` and `total`.
    fn write_place(&self, out: &mut Vec<u8>) {
        let before = self.query.rows_before();
        if self.rows == 0 {
            out.extend_from_slice(b",\"from\":null,\"to\":null");
        } else {
            write_member("from", out);
            write_number(before.saturating_add(1), out);
            write_member("to", out);
            write_number(before.saturating_add(self.rows), out);
        }
        if let Some(total) = self.total {
            write_member("total", out);
            write_number(total, out);
        }
    }
}

/// The page that was asked for, by its number or by the records before the cursor.
fn current_page(query: &ListQuery) -> u64 {
    match &query.cursor {
        Some(cursor) => cursor.rows_before / u64::from(query.per_page) + 1,
        None => query.page,
    }
}

fn write_member(name: &str, out: &mut Vec<u8>) {
    out.push(b',');
    write_json_string(name, out);
    out.push(b':');
}

fn write_text(name: &str, text: &str, out: &mut Vec<u8>) {
    write_member(name, out);
    write_json_string(text, out);
}

fn write_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
