//! What a command prints on standard output.

use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write};

use anstream::AutoStream;
use anstyle::Style;

const BOLD: Style = Style::new().bold();

/// Standard output; without colours where it is no terminal.
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
        writeln!(self.0, "{line}")
    }

    pub fn heading(&mut self, text: impl fmt::Display) -> io::Result<()> {
        writeln!(self.0, "\n{BOLD}{text}{BOLD:#}")
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
        let row: Vec<_> = cells.into_iter().collect();
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// A text of a trace on one line: control characters, which could do anything to a terminal, are escaped.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_control() {
            true => out.extend(character.escape_default()),
            false => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_traces_stay_on_their_line() {
        assert_eq!(
            shown("한강 \"a\"\t\u{1b}[31m\n\u{85}"),
            "한강 \"a\"\\t\\u{1b}[31m\\n\\u{85}"
        );
    }
}
