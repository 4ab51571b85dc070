//! Alerts: words that are none, ids that are none. No row gets as far as the ledger.

use super::row::Row;

pub const ROWS: &[Row] = &[
    Row("alerts", 2, "Usage: bankroll alerts [OPTIONS] <COMMAND>"),
    Row("alerts list --state new", 2, "the state of an alert is open, acknowledged or closed"),
    Row("alerts list --kind fire", 2, "no alert has this kind"),
    Row("alerts list --severity high", 2, "a severity is info, warning or critical"),
    Row("alerts list --after x", 2, "an alert is alt_ and 32 hexadecimal digits"),
    Row("alerts list --limit 0", 2, "the number of alerts is a whole number from 1 to 1000"),
    Row("alerts list --dir nope", 3, "there is no ledger in nope"),
    Row("alerts list --config nope.toml", 3, "there is no configuration file nope.toml"),
    Row("alerts list --set =5", 2, "write it KEY=VALUE"),
    Row("alerts list --key nope --dir made", 3, "there is no key file nope"),
    Row("alerts show", 2, "<ALERT>"),
    Row("alerts show alt_0A", 2, "an alert is alt_ and 32 hexadecimal digits"),
    Row("alerts show alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --dir nope", 3, "there is no ledger in nope"),
    Row("alerts show alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --config nope.toml", 3, "there is no configuration file"),
    Row("alerts show alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --set =5", 2, "write it KEY=VALUE"),
    Row("alerts show alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --key nope --dir made", 3, "there is no key file nope"),
    Row("alerts acknowledge 7", 2, "an alert is alt_ and 32 hexadecimal digits"),
    Row("alerts acknowledge alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --dir nope", 3, "there is no ledger in nope"),
    Row("alerts acknowledge alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --config nope.toml", 3, "there is no configuration"),
    Row("alerts acknowledge alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --set =5", 2, "write it KEY=VALUE"),
    Row(
        "alerts acknowledge alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --key nope --dir made",
        3,
        "there is no key file nope",
    ),
    Row("alerts acknowledge alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --id '' --dir made", 2, "--id <KEY>"),
    Row("alerts close 7", 2, "an alert is alt_ and 32 hexadecimal digits"),
    Row("alerts close alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --dir nope", 3, "there is no ledger in nope"),
    Row("alerts close alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --config nope.toml", 3, "there is no configuration file"),
    Row("alerts close alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --set =5", 2, "write it KEY=VALUE"),
    Row("alerts close alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --key nope --dir made", 3, "there is no key file nope"),
    Row("alerts close alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --id '' --dir made", 2, "--id <KEY>"),
];
