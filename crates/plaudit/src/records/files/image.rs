//! The size of an image, from its header.

/// Width and height in pixels of an image of a common kind.
pub(super) fn size(mime: &str, bytes: &[u8]) -> Option<(u32, u32)> {
    match mime {
        "image/png" if bytes.get(12..16)? == b"IHDR" => Some((big(bytes.get(16..20)?), big(bytes.get(20..24)?))),
        "image/gif" => Some((little(bytes.get(6..8)?), little(bytes.get(8..10)?))),
        "image/jpeg" => jpeg(bytes),
        "image/webp" => webp(bytes),
        _ => None,
    }
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

/// The size stands in the first frame header (SOF0 to SOF15, of which three numbers mean something else).
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.get(2..)?;
    loop {
        let [0xff, marker, after @ ..] = rest else { return None };
        match marker {
            // Any number of 0xFF may stand before a marker.
            0xff => rest = rest.get(1..)?,
            // These have no length.
            0x01 | 0xd0..=0xd8 => rest = after,
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((big(after.get(5..7)?), big(after.get(3..5)?)));
            }
            // The image data, or the end of the image.
            0xd9 | 0xda => return None,
            _ => rest = after.get(usize::try_from(big(after.get(..2)?)).ok()?..)?,
        }
    }
}

/// The size stands in the first chunk, in a way of its own for each of three kinds (RFC 9649).
fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let data = bytes.get(20..)?;
    match bytes.get(12..16)? {
        b"VP8 " if data.get(3..6)? == [0x9d, 0x01, 0x2a] => {
            Some((little(data.get(6..8)?) & 0x3fff, little(data.get(8..10)?) & 0x3fff))
        }
        b"VP8L" if data.first()? == &0x2f => {
            let bits = little(data.get(1..5)?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(data.get(4..7)?) + 1, little(data.get(7..10)?) + 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn a_png_tells_its_size_in_its_first_chunk() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\0\x03";
        assert_eq!(size("image/png", png), Some((258, 3)));
        assert_eq!(size("image/png", &png[..20]), None);
    }

    #[test]
    fn a_jpeg_tells_its_size_in_its_frame_header() {
        let jpeg = b"\xff\xd8\xff\xe0\0\x04xx\xff\xff\xc4\0\x03x\xff\xc2\0\x11\x08\0\x10\x01\0\x03";
        assert_eq!(size("image/jpeg", jpeg), Some((256, 16)));
        assert_eq!(size("image/jpeg", b"\xff\xd8\xff\xda\0\x04"), None);
        assert_eq!(size("image/jpeg", b"\xff\xd8\xff\xe0\0\0\xff\xe0\0\0"), None);
    }

    #[test]
    fn the_three_kinds_of_webp_tell_their_sizes() {
        let webp = |kind: &[u8], data: &[u8]| {
            let mut bytes = b"RIFF\0\0\0\0WEBP".to_vec();
            bytes.extend_from_slice(kind);
            bytes.extend_from_slice(&[0; 4]);
            bytes.extend_from_slice(data);
            bytes
        };
        let lossy = webp(b"VP8 ", &[0, 0, 0, 0x9d, 0x01, 0x2a, 0x40, 0x01, 0xf0, 0x00]);
        assert_eq!(size("image/webp", &lossy), Some((320, 240)));
        let lossless = webp(b"VP8L", &[0x2f, 0x3f, 0xc1, 0x3b, 0x00]);
        assert_eq!(size("image/webp", &lossless), Some((320, 240)));
        let extended = webp(b"VP8X", &[0, 0, 0, 0, 0x3f, 0x01, 0x00, 0xef, 0x00, 0x00]);
        assert_eq!(size("image/webp", &extended), Some((320, 240)));
        assert_eq!(size("image/webp", &webp(b"ALPH", &[0; 10])), None);
    }
}
