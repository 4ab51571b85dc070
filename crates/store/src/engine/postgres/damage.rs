//! Which table a malformed page belongs to, by the server's message.
//!
//! The server names a page by the file of its relation, "invalid page in block 3 of relation base/16384/16402", or an
//! index by its name in quotes. Its words may be in any language; the path and the quotes are not.

use super::session::Session;
use crate::{DamageRemedy, DatabaseUrl, StoreError, engine::DERIVED_TABLES};

/// The damage with its place, if the server still says whose page it is.
pub(crate) fn locate_damage(url: &DatabaseUrl, what: String) -> StoreError {
    match find(url, &what) {
        Ok(Some((schema, table, is_index))) => {
            let follows_from_journal =
                schema == "books" && (DERIVED_TABLES.contains(&table.as_str()) || table.starts_with("term_"));
            let remedy = if follows_from_journal || is_index {
                DamageRemedy::Rebuild { folder: None }
            } else {
                DamageRemedy::Restore
            };
            let place = if is_index { "an index of table" } else { "table" };
            StoreError::PagesDamaged { place: format!("{place} {schema}.{table}"), what, remedy }
        }
        _ => StoreError::Damaged { what },
    }
}

/// The schema and the name of the table, and whether it is an index on it that is damaged.
fn find(url: &DatabaseUrl, what: &str) -> Result<Option<(String, String, bool)>, StoreError> {
    // The relation itself, or for an index or an overflow table the one that it belongs to.
    let sql = "WITH found AS (
                 SELECT oid, relkind FROM pg_class
                 WHERE oid = pg_filenode_relation(0, $1::text::oid)
                    OR relkind = 'i' AND relname = $2 AND relnamespace::regnamespace::text IN ('books', current_schema())
                 LIMIT 1
               ), owner AS (
                 SELECT coalesce(x.indrelid, t.oid, f.oid) AS oid, f.relkind = 'i' AS is_index
                 FROM found f LEFT JOIN pg_index x ON x.indexrelid = f.oid LEFT JOIN pg_class t ON t.reltoastrelid = f.oid
               )
               SELECT c.relnamespace::regnamespace::text, c.relname::text, o.is_index
               FROM owner o JOIN pg_class c ON c.oid = o.oid";
    let session = Session::connect(url.read()?)?;
    let (file, quoted) = (file_of(what).unwrap_or("0"), quoted_in(what).unwrap_or_default());
    let found = session.query(sql, &[&file, &quoted])?;
    Ok(found.first().map(|row| (row.get(0), row.get(1), row.get(2))))
}

/// The number of the file in `base/16384/16402`.
fn file_of(what: &str) -> Option<&str> {
    let path = what.split_whitespace().find(|word| word.trim_matches('"').starts_with("base/"))?;
    let file = path.trim_matches('"').rsplit('/').next()?.split(['_', '.']).next()?;
    (!file.is_empty() && file.bytes().all(|digit| digit.is_ascii_digit())).then_some(file)
}

fn quoted_in(what: &str) -> Option<&str> {
    what.split_once('"')?.1.split_once('"').map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_and_the_index_are_found_in_messages_of_the_server() {
        assert_eq!(file_of("invalid page in block 3 of relation base/16384/16402"), Some("16402"));
        assert_eq!(file_of("invalid page in block 3 of relation \"base/16384/16402_vm\""), Some("16402"));
        assert_eq!(file_of("index \"accounts_name_key\" contains unexpected zero page at block 1"), None);
        assert_eq!(
            quoted_in("index \"accounts_name_key\" contains unexpected zero page at block 1"),
            Some("accounts_name_key")
        );
    }
}
