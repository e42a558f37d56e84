//! Opens what is to be read, and finds out what it is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use indicatif::ProgressBar;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::error::{Error, Result};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Whether it stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Opens `path` and decompresses what begins like gzip or zstd, whatever its name. `bar` counts the bytes of the file.
pub fn open(path: &Path, bar: &ProgressBar) -> Result<Box<dyn BufRead + Send>> {
    let raw: Box<dyn Read + Send> = if is_standard(path) {
        Box::new(io::stdin())
    } else {
        let file = File::open(path).map_err(|error| Error::io("read", path, error))?;
        let metadata = file
            .metadata()
            .map_err(|error| Error::io("read", path, error))?;
        if metadata.is_file() {
            bar.set_length(metadata.len());
        }
        Box::new(file)
    };
    let mut raw = BufReader::with_capacity(1 << 18, bar.wrap_read(raw));
    let start = raw
        .fill_buf()
        .map_err(|error| Error::io("read", path, error))?;
    Ok(if start.starts_with(GZIP) {
        buffered(MultiGzDecoder::new(raw))
    } else if start.starts_with(ZSTD) {
        buffered(Zstd::new(raw))
    } else {
        Box::new(raw)
    })
}

fn buffered(read: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(1 << 18, read))
}

/// Decompresses zstd: one frame after the other.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
}

impl<R: BufRead> Zstd<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            decoder: FrameDecoder::new(),
        }
    }

    /// Begins the next frame, if there is one.
    fn begin(&mut self) -> io::Result<bool> {
        let checksum = self.decoder.get_checksum_from_data();
        if checksum.is_some() && checksum != self.decoder.get_calculated_checksum() {
            return Err(io::Error::other("the checksum of a zstd frame is wrong"));
        }
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(
                        &mut self.source.by_ref().take(length.into()),
                        &mut io::sink(),
                    )?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.is_finished() && self.decoder.can_collect() == 0 && !self.begin()? {
                return Ok(0);
            }
            while self.decoder.can_collect() < buf.len() && !self.decoder.is_finished() {
                let missing =
                    BlockDecodingStrategy::UptoBytes(buf.len() - self.decoder.can_collect());
                self.decoder
                    .decode_blocks(&mut self.source, missing)
                    .map_err(io::Error::other)?;
            }
            let len = self.decoder.read(buf)?;
            if len > 0 || buf.is_empty() {
                return Ok(len);
            }
        }
    }
}
