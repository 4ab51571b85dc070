//! The checksums of rows, computed again after an edit, as a forger who knows the format could: what an edit must be
//! found by then is the journal. Written apart from the store's own code, so that the two confirm each other.

use bankroll_ledger::merkle;
use bankroll_store::{BOOKS_FILE, Location};

use crate::postgres;

#[derive(Clone, Copy)]
enum Field {
    Number(&'static str),
    Optional(&'static str),
    Byte(&'static str),
    Amount(&'static str),
    Text(&'static str),
}
use Field::{Amount, Byte, Number, Optional, Text};

/// Each table, how many of its first columns are its key, and the columns under its checksum.
const TABLES: &[(&str, usize, &[Field])] = &[
    ("assets", 1, &[Number("id"), Text("chain"), Text("contract"), Byte("decimals"), Text("symbol")]),
    (
        "accounts",
        1,
        &[
            Number("id"),
            Text("name"),
            Byte("may_deposit"),
            Byte("may_withdraw"),
            Byte("may_transfer"),
            Optional("debt"),
            Number("name_hash"),
        ],
    ),
    ("balances", 1, &[Number("id"), Amount("balance"), Amount("held")]),
    (
        "holds",
        1,
        &[Number("id"), Number("account"), Amount("remaining"), Optional("expires"), Byte("settler"), Byte("state")],
    ),
    ("reversals", 1, &[Number("original"), Number("reversal")]),
    ("outbox", 2, &[Number("seq"), Number("place"), Text("kind"), Text("resource"), Text("body")]),
    (
        "key_runs",
        1,
        &[
            Number("id"),
            Number("level"),
            Number("first_seq"),
            Number("last_seq"),
            Number("entries"),
            Number("first_chunk"),
            Number("chunks"),
        ],
    ),
];

/// The checksum of a record's row.
#[must_use]
pub fn of_record(seq: u64, record: &[u8]) -> i64 {
    let leaf = merkle::leaf(record);
    let head: [u8; 8] = std::array::from_fn(|place| leaf[place]);
    (u64::from_be_bytes(head) ^ seq).cast_signed()
}

/// Makes every checksum of the books match its row, whatever the rows contain.
///
/// # Panics
/// If the books cannot be read or written.
pub fn reseal(location: &Location) {
    let mut updates = vec![match location {
        Location::Folder(_) => "DROP TRIGGER IF EXISTS journal_keeps_what_it_has".to_owned(),
        Location::Postgres(_) => "SET session_replication_role = replica; SET search_path = books".to_owned(),
    }];
    let record = if is_sqlite(location) { "hex(record)" } else { "encode(record, 'hex')" };
    for (seq, row) in pairs(location, &format!("SELECT seq, {record} || ' ' || checksum FROM journal")) {
        let (record, stored) = row.split_once(' ').expect("two fields");
        let checksum = of_record(seq.parse().expect("a place"), &bytes_of(record));
        if stored != checksum.to_string() {
            updates.push(format!("UPDATE journal SET checksum = {checksum} WHERE seq = {seq}"));
        }
    }
    for (table, keys, fields) in TABLES {
        let all: Vec<String> = fields.iter().map(|field| field.select(is_sqlite(location))).collect();
        let sql = format!("SELECT checksum, {} FROM {table}", all.join(" || ' ' || "));
        for (stored, row) in pairs(location, &sql) {
            let values: Vec<&str> = row.split(' ').collect();
            let mut bytes = table.as_bytes().to_vec();
            for (field, value) in fields.iter().zip(&values) {
                field.append(value, is_sqlite(location), &mut bytes);
            }
            let checksum = crc32fast::hash(&bytes).cast_signed();
            if stored != checksum.to_string() {
                let key = fields.iter().zip(&values).take(*keys);
                let key: Vec<String> = key.map(|(field, value)| format!("{} = {value}", field.column())).collect();
                updates.push(format!("UPDATE {table} SET checksum = {checksum} WHERE {}", key.join(" AND ")));
            }
        }
    }
    match location {
        Location::Folder(folder) => {
            let books = rusqlite::Connection::open(folder.join(BOOKS_FILE)).expect("books");
            books.execute_batch("PRAGMA ignore_check_constraints = ON").expect("a setting");
            books.execute_batch(&updates.join(";")).expect("updates that run");
        }
        Location::Postgres(url) => postgres::run(url.reveal(), &updates.join(";")),
    }
}

/// Runs SQL as an editor of the whole database could, without its triggers. Bytes are written `x'00ff'`.
///
/// # Panics
/// If it cannot be run.
pub fn edit(location: &Location, sql: &str) {
    match location {
        Location::Folder(folder) => {
            let books = rusqlite::Connection::open(folder.join(BOOKS_FILE)).expect("books");
            let mut triggers = books.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").expect("a query");
            let names = triggers.query_map([], |row| row.get::<_, String>(0)).expect("a query that runs");
            for name in names.collect::<Result<Vec<_>, _>>().expect("names") {
                books.execute_batch(&format!("DROP TRIGGER {name}")).expect("a trigger");
            }
            books.execute_batch(sql).expect("an edit that runs");
        }
        Location::Postgres(url) => {
            let sql = format!("SET session_replication_role = replica; SET search_path = books, public; {sql}");
            postgres::run(url.reveal(), &sql.replace("x'", "'\\x"));
        }
    }
}

impl Field {
    fn column(self) -> &'static str {
        let (Number(name) | Optional(name) | Byte(name) | Amount(name) | Text(name)) = self;
        name
    }

    /// As text without a space.
    fn select(self, sqlite: bool) -> String {
        match self {
            Text(name) | Amount(name) if sqlite => format!("hex({name})"),
            Text(name) => format!("encode(convert_to({name}, 'UTF8'), 'hex')"),
            Number(name) | Optional(name) | Byte(name) | Amount(name) => format!("coalesce(CAST({name} AS TEXT), '')"),
        }
    }

    fn append(self, value: &str, sqlite: bool, bytes: &mut Vec<u8>) {
        let number = |value: &str| value.parse::<i64>().expect("a number");
        match self {
            Number(_) => bytes.extend(number(value).to_be_bytes()),
            Byte(_) => bytes.push(number(value).to_be_bytes()[7]),
            Optional(_) if value.is_empty() => bytes.push(0),
            Optional(_) => {
                bytes.push(1);
                bytes.extend(number(value).to_be_bytes());
            }
            Amount(_) if sqlite => bytes.extend(bytes_of(value)),
            Amount(_) => bytes.extend(value.parse::<u128>().expect("an amount").to_be_bytes()),
            Text(_) => {
                let text = bytes_of(value);
                bytes.extend((text.len() as u64).to_be_bytes());
                bytes.extend(text);
            }
        }
    }
}

fn is_sqlite(location: &Location) -> bool {
    matches!(location, Location::Folder(_))
}

fn pairs(location: &Location, sql: &str) -> Vec<(String, String)> {
    match location {
        Location::Folder(folder) => {
            let books = rusqlite::Connection::open(folder.join(BOOKS_FILE)).expect("books");
            let sql = format!("WITH q (a, b) AS ({sql}) SELECT CAST(a AS TEXT), CAST(b AS TEXT) FROM q");
            let mut rows = books.prepare(&sql).expect("a query that runs");
            let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("a query that runs");
            rows.collect::<Result<_, _>>().expect("two texts")
        }
        Location::Postgres(url) => postgres::pairs(url, sql),
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("two digits"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("two digits")).collect()
}
