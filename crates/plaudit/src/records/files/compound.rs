//! Containers whose type is that of what they contain: ZIP archives and OLE compound files.

use memchr::memmem;

use crate::records::files::rules::UNKNOWN;
use crate::records::files::sample::Sample;

/// Bytes of a central directory entry before its name.
const ENTRY: usize = 46;
/// Bytes of the record that ends a ZIP archive, before its comment of at most 65,535.
const END: usize = 22;

/// The type of a ZIP archive, by the names in its central directory.
pub(super) fn of_zip(sample: &Sample<'_>) -> &'static str {
    let Some(names) = zip_names(sample) else { return "application/zip" };
    if names.contains(&b"[Content_Types].xml".as_slice()) {
        for (folder, mime) in [
            (b"word/".as_slice(), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
            (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
        ] {
            if names.iter().any(|name| name.starts_with(folder)) {
                return mime;
            }
        }
    }
    "application/zip"
}

fn zip_names<'b>(sample: &Sample<'b>) -> Option<Vec<&'b [u8]>> {
    let tail = &sample.tail[sample.tail.len().saturating_sub(END + usize::from(u16::MAX))..];
    let end = &tail[memmem::rfind(tail, b"PK\x05\x06")?..];
    let count = little(end.get(10..12)?);
    let mut at = little(end.get(16..20)?);
    let mut names = Vec::new();
    for _ in 0..count {
        let entry = sample.starting_at(at)?;
        if !entry.starts_with(b"PK\x01\x02") {
            return None;
        }
        let lengths = [28..30, 30..32, 32..34].map(|range| entry.get(range).map_or(0, little));
        names.push(entry.get(ENTRY..ENTRY + lengths[0])?);
        at += ENTRY + lengths.iter().sum::<usize>();
    }
    Some(names)
}

fn little(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte))
}

/// Bytes of an entry of the directory of a compound file.
const OLE_ENTRY: usize = 128;

/// The type of an OLE compound file, by the first stream of its directory that only one type has.
pub(super) fn of_ole(sample: &Sample<'_>) -> &'static str {
    let directory = || {
        let sector = 1_usize.checked_shl(u32::try_from(little(sample.part(30..32)?)).ok()?)?;
        sample.starting_at(little(sample.part(48..52)?).checked_add(1)?.checked_mul(sector)?)
    };
    let streams = [
        ("WordDocument", "application/msword"),
        ("Workbook", "application/vnd.ms-excel"),
        ("Book", "application/vnd.ms-excel"),
        ("PowerPoint Document", "application/vnd.ms-powerpoint"),
    ];
    for entry in directory().unwrap_or_default().chunks_exact(OLE_ENTRY) {
        // The length counts two bytes a character, the null at the end included.
        let length = little(&entry[64..66]);
        let known = streams.iter().find(|(stream, _)| {
            length == 2 * (stream.len() + 1)
                && stream.bytes().zip(entry.chunks_exact(2)).all(|(byte, unit)| unit == [byte, 0])
        });
        if let Some((_, mime)) = known {
            return mime;
        }
    }
    UNKNOWN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zip(names: &[&str]) -> Vec<u8> {
        let mut bytes = b"PK\x03\x04 local headers".to_vec();
        let start = u32::try_from(bytes.len()).unwrap();
        for name in names {
            let mut entry = vec![0; ENTRY];
            entry[..4].copy_from_slice(b"PK\x01\x02");
            entry[28] = u8::try_from(name.len()).unwrap();
            bytes.extend_from_slice(&entry);
            bytes.extend_from_slice(name.as_bytes());
        }
        let mut end = vec![0; END];
        end[..4].copy_from_slice(b"PK\x05\x06");
        end[10] = u8::try_from(names.len()).unwrap();
        end[16..20].copy_from_slice(&start.to_le_bytes());
        bytes.extend_from_slice(&end);
        bytes
    }

    fn of_zip(bytes: &[u8]) -> &'static str {
        super::of_zip(&Sample::of(bytes))
    }

    fn of_ole(bytes: &[u8]) -> &'static str {
        super::of_ole(&Sample::of(bytes))
    }

    #[test]
    fn a_long_archive_is_told_by_its_end() {
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.resize(crate::records::files::HEAD + 2 * crate::records::files::TAIL, 0);
        let start = u32::try_from(bytes.len()).unwrap();
        let mut directory =
            zip(&["[Content_Types].xml", "word/document.xml"]).split_off(b"PK\x03\x04 local headers".len());
        let end = directory.len() - END;
        directory[end + 16..end + 20].copy_from_slice(&start.to_le_bytes());
        bytes.extend_from_slice(&directory);
        assert!(of_zip(&bytes).ends_with("wordprocessingml.document"));
    }

    #[test]
    fn an_office_file_is_told_by_its_folders() {
        assert!(of_zip(&zip(&["[Content_Types].xml", "word/document.xml"])).ends_with("wordprocessingml.document"));
        assert!(of_zip(&zip(&["[Content_Types].xml", "xl/workbook.xml"])).ends_with("spreadsheetml.sheet"));
        assert!(of_zip(&zip(&["[Content_Types].xml", "ppt/x.xml"])).ends_with("presentationml.presentation"));
        assert_eq!(of_zip(&zip(&["word/document.xml"])), "application/zip");
        assert_eq!(of_zip(&zip(&[])), "application/zip");
        assert_eq!(of_zip(b"PK\x03\x04"), "application/zip");
    }

    #[test]
    fn a_compound_file_is_told_by_its_streams() {
        let ole = |stream: &str| {
            let mut bytes = vec![0; 512 + 2 * OLE_ENTRY];
            bytes[..8].copy_from_slice(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1");
            bytes[30] = 9;
            let entry = 512 + OLE_ENTRY;
            for (index, byte) in stream.bytes().enumerate() {
                bytes[entry + 2 * index] = byte;
            }
            bytes[entry + 64] = u8::try_from(2 * (stream.len() + 1)).unwrap();
            bytes
        };
        assert_eq!(of_ole(&ole("WordDocument")), "application/msword");
        assert_eq!(of_ole(&ole("Workbook")), "application/vnd.ms-excel");
        assert_eq!(of_ole(&ole("WorkbookX")), UNKNOWN);
        assert_eq!(of_ole(b"\xd0\xcf\x11\xe0"), UNKNOWN);
    }
}
