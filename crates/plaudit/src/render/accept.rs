//! The header `Accept`: which of the two formats an answer is in.

/// The format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `application/vnd.service.v2.3+json`
    Json,
    /// `application/vnd.service.v2.3+xml`
    Xml,
}

impl Format {
    /// The media type, for `Accept` as for the `Content-Type` of the answer.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/vnd.service.v2.3+json",
            Self::Xml => "application/vnd.service.v2.3+xml",
        }
    }
}

/// The header is missing or names neither media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("The Accept header must be {} or {}.", Format::Json.media_type(), Format::Xml.media_type())]
pub struct NotAcceptable;

/// The format that the header asks for.
///
/// The value is exactly one of the two media types, upper and lower case being the same, blanks around it
/// trimmed; a wildcard, a parameter or a list is refused. Of a header that comes twice the caller passes nothing.
pub fn parse(header: Option<&[u8]>) -> Result<Format, NotAcceptable> {
    let value = header.ok_or(NotAcceptable)?.trim_ascii();
    [Format::Json, Format::Xml]
        .into_iter()
        .find(|format| value.eq_ignore_ascii_case(format.media_type().as_bytes()))
        .ok_or(NotAcceptable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_media_types_are_accepted() {
        assert_eq!(parse(Some(b"application/vnd.service.v2.3+json")), Ok(Format::Json));
        assert_eq!(parse(Some(b"application/vnd.service.v2.3+xml")), Ok(Format::Xml));
        assert_eq!(parse(Some(b" \tApplication/VND.Service.v2.3+JSON ")), Ok(Format::Json));
    }

    #[test]
    fn everything_else_is_refused() {
        assert_eq!(parse(None), Err(NotAcceptable));
        for wrong in [
            "",
            "*/*",
            "application/*",
            "application/json",
            "application/vnd.service.v2.2+json",
            "application/vnd.service.v2.3+json;q=1",
            "application/vnd.service.v2.3+json, application/vnd.service.v2.3+xml",
            "application/vnd.service.v2.3+json,",
            "application/vnd.service.v2.3",
        ] {
            assert_eq!(parse(Some(wrong.as_bytes())), Err(NotAcceptable), "{wrong}");
        }
        assert_eq!(parse(Some(b"\xff")), Err(NotAcceptable));
    }

    #[test]
    fn the_message_names_both_media_types() {
        let message = NotAcceptable.to_string();
        assert!(message.contains(Format::Json.media_type()) && message.contains(Format::Xml.media_type()));
    }
}
