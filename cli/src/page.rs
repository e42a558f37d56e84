//! What a command prints on standard output.

use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write};

use anstream::AutoStream;
use anstyle::Style;
use nvtxw::abi::OneLine;
use serde::Serialize;

const BOLD: Style = Style::new().bold();

/// Standard output; without colours where it is no terminal. Control characters are escaped in all that it prints.
pub struct Page(BufWriter<AutoStream<StdoutLock<'static>>>);

/// Rows of cells. The last column is for texts, which may be long.
pub struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    is_left: bool,
}

impl Page {
    pub fn new() -> Self {
        Self(BufWriter::new(AutoStream::auto(io::stdout().lock())))
    }

    pub fn line(&mut self, line: impl fmt::Display) -> io::Result<()> {
        writeln!(self.0, "{}", OneLine(line))
    }

    pub fn heading(&mut self, text: impl fmt::Display) -> io::Result<()> {
        writeln!(self.0, "\n{BOLD}{}{BOLD:#}", OneLine(text))
    }

    pub fn table(&mut self, table: &Table) -> io::Result<()> {
        let columns = table.columns.len();
        let width = |column: usize| {
            let cells = table.rows.iter().map(|row| &*row[column]);
            let all = cells.chain([table.columns[column]]);
            all.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns - 1).map(width).collect();
        let mut row = |cells: &[&str]| {
            for (cell, &width) in cells.iter().zip(&widths) {
                match table.is_left {
                    true => write!(self.0, "{cell:<width$}  ")?,
                    false => write!(self.0, "{cell:>width$}  ")?,
                }
            }
            writeln!(self.0, "{}", cells[columns - 1])
        };
        row(&table.columns)?;
        for cells in &table.rows {
            row(&cells.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Prints a document as JSON.
    pub fn json(&mut self, document: &impl Serialize) -> io::Result<()> {
        let json = serde_json::to_string_pretty(document)?;
        for line in json.lines() {
            // Such characters are in strings only; JSON itself escapes those up to U+001F.
            for part in line.split_inclusive(char::is_control) {
                let mut rest = part.chars();
                match rest.next_back() {
                    Some(last) if last.is_control() => {
                        write!(self.0, "{}\\u{:04x}", rest.as_str(), u32::from(last))?;
                    }
                    _ => write!(self.0, "{part}")?,
                }
            }
            writeln!(self.0)?;
        }
        Ok(())
    }

    /// All is printed.
    pub fn end(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Table {
    /// Of numbers, which are set to the right.
    pub fn new(columns: &[&'static str]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
            is_left: false,
        }
    }

    /// Of texts, which are set to the left.
    pub fn of_texts(columns: &[&'static str]) -> Self {
        Self {
            is_left: true,
            ..Self::new(columns)
        }
    }

    /// As many cells as there are columns.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let row = cells.into_iter().map(|cell| OneLine(cell).to_string());
        let row: Vec<_> = row.collect();
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
