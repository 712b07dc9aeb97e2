//! Unpacks the pages of a Parquet file within limits on what the file may claim.

use bytes::Bytes;
use dermis_geometry::limits::{MAX_PARQUET_BYTES, MAX_PARQUET_VALUES};
use parquet::basic::Compression;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The values and unpacked bytes of all pages of a file so far.
#[derive(Clone, Default)]
pub struct Budget(Arc<(AtomicUsize, AtomicUsize)>);

impl Budget {
    fn take(&self, values: u32, bytes: usize) -> Result<(), ParquetError> {
        let values = self.0.0.fetch_add(values as usize, Relaxed).saturating_add(values as usize);
        let bytes = self.0.1.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if values > MAX_PARQUET_VALUES || bytes > MAX_PARQUET_BYTES {
            let text = format!(
                "it claims more than {MAX_PARQUET_VALUES} values or {MAX_PARQUET_BYTES} bytes; split it into several files"
            );
            return Err(ParquetError::General(text));
        }
        Ok(())
    }
}

/// The pages of a column chunk, unpacked. `inner` returns them as they are stored.
pub struct Pages<R> {
    inner: R,
    compression: Compression,
    budget: Budget,
}

impl<R: PageReader> Pages<R> {
    pub fn new(inner: R, compression: Compression, budget: Budget) -> Self {
        Self { inner, compression, budget }
    }

    fn unpacked(&self, mut page: Page) -> Result<Page, ParquetError> {
        let values = page.num_values();
        // Levels precede the values; a page of version 2 stores them as they are.
        let (buf, levels, packed) = match &mut page {
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed, .. } => {
                (buf, *def_levels_byte_len as usize + *rep_levels_byte_len as usize, *is_compressed)
            }
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => (buf, 0, true),
        };
        if packed && self.compression != Compression::UNCOMPRESSED && buf.len() > levels {
            let mut bytes = buf[..levels].to_vec();
            bytes.extend(unpack(&buf[levels..], self.compression)?);
            *buf = Bytes::from(bytes);
        }
        self.budget.take(values, buf.len())?;
        Ok(page)
    }
}

fn unpack(bytes: &[u8], compression: Compression) -> Result<Vec<u8>, ParquetError> {
    let damaged = |error: &dyn std::fmt::Display| ParquetError::General(format!("a page cannot be unpacked: {error}"));
    let limited = |reader: &mut dyn Read| {
        let mut unpacked = Vec::new();
        reader.take(MAX_PARQUET_BYTES as u64 + 1).read_to_end(&mut unpacked).map_err(|error| damaged(&error))?;
        Ok(unpacked)
    };
    match compression {
        Compression::SNAPPY => {
            let length = snap::raw::decompress_len(bytes).map_err(|error| damaged(&error))?;
            // Three bytes of Snappy stand for at most 64.
            if length > bytes.len().saturating_mul(32) {
                return Err(damaged(&"its length is wrong"));
            }
            snap::raw::Decoder::new().decompress_vec(bytes).map_err(|error| damaged(&error))
        }
        Compression::ZSTD(_) => {
            limited(&mut ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|error| damaged(&error))?)
        }
        Compression::GZIP(_) => limited(&mut flate2::read::MultiGzDecoder::new(bytes)),
        other => Err(ParquetError::General(format!(
            "a column is compressed by {other}; write it with snappy, zstd, gzip or no compression"
        ))),
    }
}

impl<R: PageReader> Iterator for Pages<R> {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: PageReader> PageReader for Pages<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        self.inner.get_next_page()?.map(|page| self.unpacked(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.inner.skip_next_page()
    }
}
