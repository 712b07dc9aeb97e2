use super::*;

/// A table with one column of each kind and three rows.
fn one_of_each() -> Table {
    let texts = |texts: [&str; 3]| texts.map(str::to_owned).to_vec();
    let table = Table::new()
        .column("number", Values::F64(vec![0.1, -0.0, f64::INFINITY]))
        .and_then(|table| table.column("flag", Values::Bool(vec![true, false, true])))
        .and_then(|table| table.column("name", Values::Text(texts(["a", "", "π"]))))
        .and_then(|table| table.list("taxels", &[2], Values::F32(vec![0.5, 1.5, 2.5, 3.5, 4.5, 5.5])))
        .and_then(|table| table.list("grid", &[1, 2, 2], Values::I64((0..12).collect())))
        .and_then(|table| table.lists("some", vec![2, 0, 1], Values::Text(texts(["x", "y", "z"]))))
        .and_then(|table| table.images("seen", vec![vec![1], vec![], vec![2, 3]], texts(["0.png", "1.png", "2.png"])));
    table.unwrap().metadata("made", "by hand")
}

/// The bytes equal those of the golden file, which pyarrow and polars read back as the same values (see `checked.py`
/// beside it); the Python tests read the tables of data sets.
#[test]
fn the_bytes_are_those_that_others_have_read() {
    assert_eq!(one_of_each().to_bytes().unwrap(), include_bytes!("one_of_each.parquet"));
}

#[test]
fn a_long_column_is_cut_into_pages_and_a_file_into_parts() {
    let table = Table::new().list("x", &[1000], Values::F32(vec![1.0; 1_000_000])).unwrap();
    let once = table.to_bytes().unwrap();
    // Four bytes per value, five per row for levels, and a small overhead for four pages and the footer.
    assert!((4_000_000..4_000_000 + 5 * 1000 + 500).contains(&once.len()), "{}", once.len());
    let mut writer = TableWriter::new(Vec::new());
    writer.append(&table).unwrap();
    writer.append(&table).unwrap();
    let twice = writer.finish().unwrap();
    assert!(twice.len() > 2 * once.len() - 200 && twice.len() < 2 * once.len(), "{}", twice.len());
}

#[test]
fn what_is_no_table_is_refused() {
    let table = || Table::new().column("a", Values::I64(vec![1, 2])).unwrap();
    let message = |result: Result<Table, TableError>| result.unwrap_err().to_string();
    assert_eq!(message(table().column("a", Values::I64(vec![1, 2]))), "there are two columns \"a\"");
    let short = message(table().column("b", Values::Bool(vec![true])));
    assert_eq!(short, "column \"b\" has 1 rows where the table has 2");
    let odd = message(table().list("b", &[3], Values::F32(vec![0.0; 4])));
    assert_eq!(odd, "column \"b\": 4 values cannot be cut into lists of [3]");
    assert!(message(table().list("b", &[], Values::F32(vec![0.0; 2]))).contains("lists of []"));
    assert!(message(table().lists("b", vec![1, 2], Values::F32(vec![0.0; 2]))).contains("[1, 2]"));
    let mut writer = TableWriter::new(Vec::new());
    writer.append(&table()).unwrap();
    let other = writer.append(&Table::new().column("b", Values::I64(vec![1])).unwrap()).unwrap_err().to_string();
    assert_eq!(other, "the next part has the columns b where the file has a");
}

#[test]
fn a_full_disk_is_told() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    assert!(
        matches!(one_of_each().write(Full), Err(TableError::Io(error)) if error.kind() == io::ErrorKind::StorageFull)
    );
}
