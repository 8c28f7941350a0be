//! Pictures that people handed in, made ready for a document.
//!
//! - What cannot be read as a picture is left out: one damaged file spoils no document.
//! - The compiler holds each picture of a document as points in memory, and a document holds its file. So a large one is made smaller,
//!   to what fills a page in print.
//! - They are PNG, JPEG and GIF, which Word shows too; WebP becomes JPEG, or PNG where it can be seen through.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder as _, ImageEncoder as _, ImageFormat, ImageReader, ImageResult, Limits};
use typst::foundations::Bytes;
use typst::visualize::{ExchangeFormat, RasterImage};

/// The longest side, in pixels.
const LONGEST_SIDE: u32 = 2_000;
/// What reading one may take, in bytes.
const MEMORY: u64 = 256 << 20;
/// How well a picture that is made smaller is kept, of 100.
const QUALITY: u8 = 88;

/// A picture as it can be shown; nothing where it cannot.
pub(crate) fn ready(bytes: Vec<u8>) -> Option<Bytes> {
    let format = image::guess_format(&bytes).ok()?;
    let (width, height) = ImageReader::with_format(Cursor::new(&bytes), format).into_dimensions().ok()?;
    if format == ImageFormat::WebP || width.max(height) > LONGEST_SIDE {
        return smaller(&bytes, format).ok().map(Bytes::new);
    }
    let format = ExchangeFormat::try_from(format).ok()?;
    let bytes = Bytes::new(bytes);
    // The compiler keeps what it has read here, and does not read it again.
    RasterImage::plain(bytes.clone(), format).ok().map(|_| bytes)
}

fn smaller(bytes: &[u8], format: ImageFormat) -> ImageResult<Vec<u8>> {
    let mut limits = Limits::default();
    limits.max_alloc = Some(MEMORY);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let (orientation, profile) = (decoder.orientation()?, decoder.icc_profile()?);
    let mut picture = DynamicImage::from_decoder(decoder)?;
    if picture.width().max(picture.height()) > LONGEST_SIDE {
        picture = picture.resize(LONGEST_SIDE, LONGEST_SIDE, FilterType::Triangle);
    }
    picture.apply_orientation(orientation);
    let mut made = Cursor::new(Vec::new());
    if matches!(format, ImageFormat::Jpeg | ImageFormat::WebP) && !picture.color().has_alpha() {
        let mut encoder = JpegEncoder::new_with_quality(&mut made, QUALITY);
        if let Some(profile) = profile {
            // A profile that cannot be kept is no reason to lose the picture.
            let _ = encoder.set_icc_profile(profile);
        }
        picture.write_with_encoder(encoder)?;
    } else {
        picture.write_to(&mut made, ImageFormat::Png)?;
    }
    Ok(made.into_inner())
}

#[cfg(test)]
mod tests {
    use image::RgbImage;

    use super::*;

    fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        RgbImage::from_pixel(width, height, image::Rgb([31, 58, 95])).write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn what_is_small_stays_as_it_is() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif] {
            let bytes = encoded(30, 20, format);
            assert_eq!(ready(bytes.clone()).unwrap().as_slice(), bytes, "{format:?}");
        }
    }

    #[test]
    fn what_is_large_fills_a_page() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg] {
            let made = ready(encoded(4_800, 1_200, format)).unwrap();
            let made = ImageReader::new(Cursor::new(made.as_slice())).with_guessed_format().unwrap();
            assert_eq!(made.format(), Some(format));
            assert_eq!(made.into_dimensions().unwrap(), (2_000, 500));
        }
    }

    #[test]
    fn what_is_no_picture_is_left_out() {
        let mut cut_off = encoded(300, 200, ImageFormat::Png);
        cut_off.truncate(400);
        for bytes in
            [cut_off, b"%PDF-1.7".to_vec(), b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_vec(), Vec::new()]
        {
            assert!(ready(bytes).is_none());
        }
    }
}
