//! Opens what is to be read, and finds out what it is.

use std::fs::File;
#[cfg(unix)]
use std::fs::Metadata;
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

/// Refuses to write a file over while it is read.
pub fn spare(input: &Path, output: &Path) -> Result<()> {
    if is_standard(output) || !is_same(input, output).unwrap_or(false) {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "{} would be written over while it is read: name another file to write",
        output.display()
    )))
}

/// Also by another name, or as standard input.
#[cfg(unix)]
fn is_same(input: &Path, output: &Path) -> io::Result<bool> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;

    let read = match is_standard(input) {
        true => File::from(io::stdin().as_fd().try_clone_to_owned()?).metadata()?,
        false => input.metadata()?,
    };
    let written = output.metadata()?;
    let place = |of: &Metadata| (of.dev(), of.ino());
    Ok(written.is_file() && place(&read) == place(&written))
}

#[cfg(not(unix))]
fn is_same(input: &Path, output: &Path) -> io::Result<bool> {
    Ok(input.canonicalize()? == output.canonicalize()?)
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
        if metadata.is_dir() {
            return Err(Error::Input {
                path: path.to_owned(),
                problem:
                    "this is a folder: name a file; a Parquet dataset is read by `nvtxw info` only"
                        .to_owned(),
            });
        }
        Box::new(file)
    };
    let mut raw = buffered(bar.wrap_read(raw));
    let start = raw
        .fill_buf()
        .map_err(|error| Error::io("read", path, error))?;
    Ok(if start.starts_with(GZIP) {
        Box::new(buffered(MultiGzDecoder::new(raw)))
    } else if start.starts_with(ZSTD) {
        Box::new(buffered(Zstd::new(raw)))
    } else {
        Box::new(raw)
    })
}

/// The first buffer has at least so many bytes, if there are: a pipe may give one byte at a time, and the beginning tells what
/// is read.
const HEAD: usize = 1 << 12;

fn buffered<R: Read>(read: R) -> BufReader<Headed<R>> {
    BufReader::with_capacity(
        1 << 16,
        Headed {
            read,
            is_begun: false,
            error: None,
        },
    )
}

struct Headed<R> {
    read: R,
    is_begun: bool,
    /// What ended the first reading, to be told behind what came before.
    error: Option<io::Error>,
}

impl<R: Read> Read for Headed<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.is_begun {
            return self.read.read(buf);
        }
        self.is_begun = true;
        let mut len = 0;
        while len < HEAD.min(buf.len()) {
            match self.read.read(&mut buf[len..]) {
                Ok(0) => break,
                Ok(more) => len += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if len == 0 => return Err(error),
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        Ok(len)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, and an error behind the last one.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let (first, rest) = self.0.split_first().ok_or(io::ErrorKind::TimedOut)?;
            self.0 = rest;
            buf[0] = *first;
            Ok(1)
        }
    }

    #[test]
    fn what_a_pipe_gives_bit_by_bit_is_known_by_its_beginning() {
        let bytes = [7; HEAD + 10];
        let mut read = buffered(Slow(&bytes));
        assert_eq!(read.fill_buf().unwrap().len(), HEAD);
        let mut all = Vec::new();
        let error = read.read_to_end(&mut all).unwrap_err();
        assert_eq!(
            (error.kind(), &all[..]),
            (io::ErrorKind::TimedOut, &bytes[..])
        );

        let mut read = buffered(Slow(b"NVTXWCAP"));
        assert_eq!(read.fill_buf().unwrap(), b"NVTXWCAP");
        let error = read.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
