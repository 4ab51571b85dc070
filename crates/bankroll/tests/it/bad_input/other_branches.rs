//! Rows that turn green when other work is merged; no other row depends on it.

use super::row::Row;

pub const ROWS: &[Row] = &[
    // Files without books and damaged files have their own exit codes.
    Row("accounts list --dir zero", 3, "zero/books.db has no books in it"),
    Row("accounts list --dir cut", 4, "is damaged"),
    Row("accounts list --dir other", 3, "other/books.db has no books in it"),
    Row("accounts list --dir noise", 4, "is damaged"),
    Row("statement arena/world/1 --dir cut", 4, "is damaged"),
    Row("explain a --dir noise", 4, "is damaged"),
    Row("audit --dir zero", 3, "zero/books.db has no books in it"),
    Row("audit --dir cut", 4, "is damaged"),
    Row("audit --dir noise", 4, "is damaged"),
    Row("audit --dir other", 3, "other/books.db has no books in it"),
    Row("doctor --dir noise", 4, "\u{2717} books"),
    Row("doctor --dir cut", 4, "\u{2717} books"),
    Row("serve --dir other", 1, "application_id"),
    Row("nodes init --dir nope", 3, "nope"),
    // Questions with an answer that misleads.
    Row("search --wallet b --scope arena --dir good", 2, "--scope"),
    Row("search --tx nothex --dir good", 2, "nothex"),
    Row("search --key '' --dir good", 2, "--key"),
    Row("search --key nothing --dir good", 3, "no match"),
    Row("balance arena/world/1 --at 12345 --dir good", 2, "not 5"),
    Row("statement arena/world/1 --from 2026-11-16 --to 2026-11-15 --dir good", 2, "--from"),
    // Commands that are not here yet.
    Row("deposits list --state nothing --dir good", 2, "the states are seen, final"),
    Row("deposits list --player '\u{c4}' --dir good", 2, "a name is 1 to 128 characters"),
    Row("deposits list --limit 0 --dir good", 2, "'--limit <N>'"),
    Row("deposits list --after nothing --dir good", 3, "there is no such deposit"),
    Row("deposits list --config nope.toml", 3, "there is no configuration file nope.toml"),
    Row("deposits list --set =5", 2, "write it KEY=VALUE"),
    Row("deposits show nothing --dir good", 3, "there is no deposit nothing"),
    Row("deposits show nothing --config nope.toml", 3, "there is no configuration file nope.toml"),
    Row("deposits show nothing --set =5", 2, "write it KEY=VALUE"),
    Row("withdrawals list --state nothing --dir good", 2, "the states are awaiting_approval, waiting"),
    Row("withdrawals list --player '\u{c4}' --dir good", 2, "a name is 1 to 128 characters"),
    Row("withdrawals list --limit x --dir good", 2, "'--limit <N>'"),
    Row("withdrawals list --after nothing --dir good", 3, "there is no such payout"),
    Row("withdrawals list --config nope.toml", 3, "there is no configuration file nope.toml"),
    Row("withdrawals list --set =5", 2, "write it KEY=VALUE"),
    Row("withdrawals show nothing --dir good", 3, "there is no payout nothing"),
    Row("withdrawals show nothing --config nope.toml", 3, "there is no configuration file nope.toml"),
    Row("withdrawals show nothing --set =5", 2, "write it KEY=VALUE"),
    // The folder is made before the address is read.
    Row("demo --postgres nonsense", 1, "postgres://"),
    Row("demo --postgres postgres://nobody@127.0.0.1:1/x --exit", 1, "Postgres"),
];
