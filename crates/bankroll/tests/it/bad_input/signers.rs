//! `bankroll signer`: passwords, key files, rules and memories.

use super::row::Row;

pub const ROWS: &[Row] = &[
    Row("signer", 2, "Usage: bankroll signer [OPTIONS] <COMMAND>"),
    Row("signer nothing", 2, "unrecognized subcommand 'nothing'"),
    Row(
        "signer init --dir signer --password-file secret",
        1,
        "signer/signer.toml exists already; nothing was changed. See it with",
    ),
    Row("signer init --dir new", 2, "no password: give --password-file FILE, or set BANKROLL_SIGNER_PASSWORD"),
    Row("signer init --dir new --password-file nope", 3, "there is no password file nope"),
    Row("signer init --dir new --password-file empty", 2, "the password file empty is a folder"),
    Row(
        "signer init --dir new --password-file secret-empty",
        2,
        "the password file secret-empty is empty; write the password into it",
    ),
    Row("signer init --dir file --password-file secret", 2, "file is a file; --dir names a folder"),
    Row("signer init --dir file/below --password-file secret", 1, "cannot access file/below/signer.toml"),
    Row(
        "signer init --dir new --chain 0 --password-file secret",
        2,
        "a chain id is a whole number from 1 to 4294967295",
    ),
    Row(
        "signer init --dir new --chain x --password-file secret",
        2,
        "a chain id is a whole number from 1 to 4294967295",
    ),
    Row(
        "signer init --dir new --chain -1 --password-file secret",
        2,
        "a chain id is a whole number from 1 to 4294967295",
    ),
    Row(
        "signer init --dir new --chain 18446744073709551616 --password-file secret",
        2,
        "a chain id is a whole number from 1 to 4294967295",
    ),
    Row(
        "BANKROLL_SIGNER_PASSWORD= signer init --dir new",
        2,
        "no password: give --password-file FILE, or set BANKROLL_SIGNER_PASSWORD",
    ),
    Row("signer run --dir nope --password-file secret", 3, "there is no nope/signer.toml"),
    Row("signer run --dir empty --password-file secret", 3, "there is no empty/signer.toml"),
    Row("signer run --dir file --password-file secret", 2, "file is a file; --dir names the signer's folder"),
    Row("signer run --dir signer", 2, "no password: give --password-file FILE, or set BANKROLL_SIGNER_PASSWORD"),
    Row("signer run --dir signer --password-file nope", 3, "there is no password file nope"),
    Row(
        "signer run --dir signer --password-file secret-empty",
        2,
        "the password file secret-empty is empty; write the password into it",
    ),
    Row(
        "signer run --dir signer --password-file secret-wrong",
        2,
        "cannot open signer/wallet.json: give the password that it was created with, in --password-file",
    ),
    Row("signer run --dir signer --password-file secret --new-memory", 1, "leave out --new-memory:"),
    Row(
        "signer run --dir signer --password-file secret --new-wallet x",
        2,
        "an address is 0x and 40 hexadecimal digits",
    ),
    Row(
        "signer run --dir signers/no-memory --password-file secret",
        3,
        "there is no memory at signers/no-memory/memory.db: a signer without the history of its keys could sign twice. If these keys have never signed anything, start it with --new-memory",
    ),
    Row(
        "signer run --dir signers/letter --password-file secret",
        4,
        "the memory signers/letter/memory.db is damaged: file is not a database",
    ),
    Row(
        "signer run --dir signers/cut --password-file secret",
        4,
        "the memory signers/cut/memory.db is damaged: database disk image is malformed",
    ),
    Row(
        "signer run --dir signers/no-key --password-file secret",
        3,
        "there is no key file signers/no-key/wallet.json; put a copy of it back",
    ),
    Row(
        "signer run --dir signers/bad-key --password-file secret",
        2,
        "cannot open signers/bad-key/wallet.json: put a copy of the key file back",
    ),
    Row(
        "signer run --dir signers/broken --password-file secret",
        2,
        "signers/broken/signer.toml: TOML parse error at line 1, column 9: invalid table header, expected `.`, `]`",
    ),
    Row("signer show --dir nope", 3, "there is no nope/signer.toml"),
    Row("signer show --dir file", 2, "file is a file; --dir names the signer's folder"),
    Row("signer show --dir signer --entries x", 2, "the number of entries is a whole number from 0 to 1000000"),
    Row("signer show --dir signer --entries -1", 2, "the number of entries is a whole number from 0 to 1000000"),
    Row(
        "signer show --dir signers/no-memory",
        3,
        "there is no memory at signers/no-memory/memory.db: a signer without the history of its keys could sign twice. If these keys have never signed anything, start it with --new-memory",
    ),
    Row(
        "signer show --dir signers/letter",
        4,
        "the memory signers/letter/memory.db is damaged: file is not a database",
    ),
    Row(
        "signer show --dir signers/cut",
        4,
        "the memory signers/cut/memory.db is damaged: database disk image is malformed",
    ),
    Row(
        "signer show --dir signers/broken",
        2,
        "signers/broken/signer.toml: TOML parse error at line 1, column 9: invalid table header, expected `.`, `]`",
    ),
    Row("signer show --dir signers/bytes", 2, "signers/bytes/signer.toml: it is not text in UTF-8"),
    Row(
        "signer show --dir signers/unknown",
        2,
        "signers/unknown/signer.toml: TOML parse error at line 6, column 1: unknown key `window_second`, expected one of `socket`, `client_uid`, `memory`, `window_seconds`, `wallets`, `chains`",
    ),
    Row(
        "signer show --dir signers/types",
        2,
        "signers/types/signer.toml: TOML parse error at line 6, column 18: found string \"a day\", expected a whole number of at least 0",
    ),
    Row(
        "signer show --dir signers/negative",
        2,
        "signers/negative/signer.toml: TOML parse error at line 19, column 11: found integer `-1`, expected a whole number of at least 0",
    ),
    Row(
        "signer show --dir signers/zero",
        2,
        "signers/zero/signer.toml: 0 is not the id of a chain; the id is a whole number of at least 1",
    ),
    Row("signer show --dir signers/table", 2, "found map, expected a list"),
    Row(
        "signer show --dir signers/amount",
        2,
        "signers/amount/signer.toml: TOML parse error at line 24, column 14: an amount is a whole number of base units in decimal digits, without sign, spaces or leading zeros",
    ),
    Row(
        "signer show --dir signers/manner",
        2,
        "signers/manner/signer.toml: TOML parse error at line 16, column 16: unknown value `eip4844`, expected `eip1559` or `legacy`",
    ),
    Row("signer address --dir nope", 3, "there is no nope/signer.toml"),
    Row("signer address --dir file", 2, "file is a file; --dir names the signer's folder"),
    Row("signer address --dir signers/broken", 2, "TOML parse error at line 1, column 9"),
];
