//! What a client is answered whose request cannot be read: as every other, in the envelope and with an identifier.
//!
//! hyper answers such a request by itself, with a status and no body, and ends the connection. That head is the last thing
//! that it writes, and it has no identifier, which every answer of the router has; so it is known on its way to the client.
//! It is looked for while a head is awaited alone, so that no answer is taken for one, whatever a file says that is sent.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::http::HeaderName;
use memchr::memmem;

/// The most bytes of a head of hyper's own.
const LONGEST: usize = 256;

/// Makes of a status the headers of an answer, with its identifier, and its body in JSON.
pub type Refuse = Arc<dyn Fn(u16) -> (Vec<(HeaderName, String)>, String) + Send + Sync>;

/// What is written in place of bytes that end in a head of hyper's own; nothing where they do not.
pub(super) fn replaced(bytes: &[u8], refuse: &Refuse) -> Option<Vec<u8>> {
    if !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    let tail = &bytes[bytes.len().saturating_sub(LONGEST)..];
    let begin = bytes.len() - tail.len() + memmem::rfind(tail, b"HTTP/1.1 4")?;
    let head = std::str::from_utf8(&bytes[begin..]).ok()?;
    let is_own =
        head.contains("\r\nconnection: close\r\ncontent-length: 0\r\n") && !head.contains("\r\nx-request-id: ");
    let status = head.split(' ').nth(1)?.parse().ok().filter(|_| is_own)?;
    let (headers, body) = refuse(status);
    let mut told = format!("content-type: application/vnd.service.v2.3+json\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        let _ = write!(told, "{name}: {value}\r\n");
    }
    let head = head.replacen("content-length: 0\r\n", &told, 1);
    Some([&bytes[..begin], head.as_bytes(), body.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_head_that_hyper_wrote_by_itself_is_replaced() {
        let refuse: Refuse = Arc::new(|status| {
            let headers = vec![(HeaderName::from_static("x-request-id"), "a-1".to_owned())];
            (headers, format!("{{\"status_code\":{status}}}"))
        });
        let own =
            "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
        let expected = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\
                        content-type: application/vnd.service.v2.3+json\r\ncontent-length: 19\r\nx-request-id: a-1\r\n\
                        date: x\r\n\r\n{\"status_code\":431}";
        for before in ["", "the end of another answer"] {
            let replaced = replaced(format!("{before}{own}").as_bytes(), &refuse).unwrap();
            assert_eq!(String::from_utf8(replaced).unwrap(), format!("{before}{expected}"));
        }
        let of_router = own.replace("date: x", "x-request-id: b-2");
        for other in [&of_router, "", "\r\n\r\n", &own[..own.len() - 1], &format!("{own}x")] {
            assert_eq!(replaced(other.as_bytes(), &refuse), None);
        }
    }
}
