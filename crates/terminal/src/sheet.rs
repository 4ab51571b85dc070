//! CSV that is safe to open: quoted where needed, and no cell is a formula to a spreadsheet.

use std::io::Write;

use anyhow::Context;

/// Writes rows after a header.
pub struct Sheet<W: Write>(csv::Writer<W>);

impl<W: Write> Sheet<W> {
    pub fn new(out: W, header: &[&str]) -> anyhow::Result<Self> {
        let mut sheet = Self(csv::Writer::from_writer(out));
        sheet.0.write_record(header).context("cannot write")?;
        Ok(sheet)
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) -> anyhow::Result<()> {
        let cells: Vec<String> = cells.into_iter().map(harmless).collect();
        self.0.write_record(&cells).map_err(plain).context("cannot write")
    }

    pub fn finish(mut self) -> anyhow::Result<()> {
        self.0.flush().context("cannot write")
    }
}

/// The I/O error itself, so that `report` recognises a closed pipe.
fn plain(error: csv::Error) -> anyhow::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => anyhow::anyhow!("{other:?}"),
    }
}

/// Text that a caller chose (a key, a reference) may begin like a formula; amounts and times never do.
fn harmless(cell: String) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}") } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_defused_and_commas_quoted() {
        let mut out = Vec::new();
        let mut sheet = Sheet::new(&mut out, &["a", "b"]).unwrap();
        let mut row = |one: &str, two: &str| sheet.row([one.to_owned(), two.to_owned()]).unwrap();
        row("=1+1", "+1");
        row("-1", "@house/suspense/1");
        row("a,b", "say \"hi\"");
        row("5", "x=1");
        sheet.finish().unwrap();
        let expected = "a,b\n'=1+1,'+1\n'-1,'@house/suspense/1\n\"a,b\",\"say \"\"hi\"\"\"\n5,x=1\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
