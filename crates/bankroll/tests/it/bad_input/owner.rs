//! What the owner changes: keys with an end, capital, servers. No row gets as far as the ledger.

use super::row::Row;

pub const ROWS: &[Row] = &[
    Row(
        "registry server-keys update 0x1111111111111111111111111111111111111111",
        2,
        "the following required arguments were not provided",
    ),
    Row(
        "registry server-keys update 0x1111111111111111111111111111111111111111 --valid-until soon",
        2,
        "a time is 2026-11-15T08:30:00Z",
    ),
    Row(
        "registry server-keys update 0x1111111111111111111111111111111111111111 --spend-limit much",
        2,
        "--spend-limit <UNITS>",
    ),
    Row(
        "registry server-keys update 0x1111111111111111111111111111111111111111 --no-end --valid-until 2026-11-15T08:30:00Z",
        2,
        "cannot be used with",
    ),
    Row(
        "registry server-keys update 0x1111111111111111111111111111111111111111 --no-end --dir nope",
        3,
        "there is no ledger in nope",
    ),
    Row(
        "registry server-keys update 0x1111111111111111111111111111111111111111 --no-end --config nope.toml",
        3,
        "there is no configuration file nope.toml",
    ),
    Row(
        "registry server-keys update 0x1111111111111111111111111111111111111111 --no-end --set =5",
        2,
        "write it KEY=VALUE",
    ),
    Row(
        "registry server-keys update 0x1111111111111111111111111111111111111111 --no-end --key nope --dir made",
        3,
        "there is no key file nope",
    ),
    Row(
        "registry server-keys update 0x1111111111111111111111111111111111111111 --no-end --id '' --dir made",
        2,
        "--id <KEY>",
    ),
    Row("registry treasury remove 0x1111111111111111111111111111111111111111", 2, "--chain <CHAIN>"),
    Row(
        "registry treasury remove 0x1111111111111111111111111111111111111111 --chain eip155:1 --dir nope",
        3,
        "there is no ledger in nope",
    ),
    Row(
        "registry treasury remove 0x1111111111111111111111111111111111111111 --chain eip155:1 --config nope.toml",
        3,
        "there is no configuration file nope.toml",
    ),
    Row(
        "registry treasury remove 0x1111111111111111111111111111111111111111 --chain eip155:1 --set =5",
        2,
        "write it KEY=VALUE",
    ),
    Row(
        "registry treasury remove 0x1111111111111111111111111111111111111111 --chain eip155:1 --key nope --dir made",
        3,
        "there is no key file nope",
    ),
    Row(
        "registry treasury remove 0x1111111111111111111111111111111111111111 --chain eip155:1 --id '' --dir made",
        2,
        "--id <KEY>",
    ),
    Row("servers set arena", 2, "the following required arguments were not provided"),
    Row("servers set arena --labels x --player-addresses on", 2, "cannot be used with"),
    Row("servers set arena --player-addresses maybe", 2, "[possible values: on, off]"),
    Row("servers set arena --developer x", 2, "an address is 0x and 40 hexadecimal digits"),
    Row("servers set arena --labels x --dir nope", 3, "there is no ledger in nope"),
    Row("servers set arena --labels x --config nope.toml", 3, "there is no configuration file nope.toml"),
    Row("servers set arena --labels x --set =5", 2, "write it KEY=VALUE"),
    Row("servers set arena --labels x --key nope --dir made", 3, "there is no key file nope"),
    Row("servers set arena --labels x --id '' --dir made", 2, "--id <KEY>"),
];
