//! Every key, and the form of its value, whatever the other keys say.

use std::{borrow::Cow, ops::RangeInclusive};

use bankroll_ledger::Amount;
use bankroll_terminal::in_range;
use figment::value::{Num, Value};

use super::{
    DATABASE_KEY, RPC_KEY, WS_KEY,
    chain::{CHAIN, CHAINS},
    node::ROLES_KEY,
    notify::PRIVATE_KEY,
    problems::suggestion,
};

/// What a value must look like.
enum ValueForm {
    /// May be empty.
    Text,
    /// What it names, with an example; not empty.
    Name(&'static str),
    OneOf(&'static [&'static str]),
    Whole(RangeInclusive<u64>),
    /// True or false.
    Flag,
    /// In base units, at least this many.
    Amount(u128),
}

const FORMS: [(&str, ValueForm); 60] = [
    ("books.folder", ValueForm::Name("a folder, as in \".\"")),
    (DATABASE_KEY, ValueForm::Text),
    ("books.durability", ValueForm::OneOf(&["full", "may_lose_recent_commits"])),
    ("books.lease_ms", ValueForm::Whole(500..=300_000)),
    ("books.queue_max", ValueForm::Whole(1_024..=1_048_576)),
    ("books.accounts_in_memory_max", ValueForm::Whole(1_024..=16_777_216)),
    ("books.keys_in_memory_max", ValueForm::Whole(1_024..=16_777_216)),
    ("books.scrub_percent", ValueForm::Whole(0..=100)),
    ("books.scrub_pause_s", ValueForm::Whole(1..=604_800)),
    ("books.metrics", ValueForm::Text),
    ("node.name", ValueForm::Text),
    (ROLES_KEY, ValueForm::Text),
    ("node.listen", ValueForm::Text),
    ("node.address", ValueForm::Text),
    ("node.certificates", ValueForm::Name("a folder, as in \"nodes\"")),
    ("node.log_level", ValueForm::OneOf(&["error", "warning", "info", "debug"])),
    ("api.url", ValueForm::Text),
    ("api.listen", ValueForm::Text),
    ("api.metrics", ValueForm::Text),
    ("api.tls_certificate", ValueForm::Text),
    ("api.tls_key", ValueForm::Text),
    ("api.behind_proxy", ValueForm::Flag),
    ("api.origins", ValueForm::Text),
    ("api.audience", ValueForm::Text),
    ("api.domain", ValueForm::Text),
    ("api.body_max", ValueForm::Whole(1_024..=1_048_576)),
    ("api.requests_per_s", ValueForm::Whole(1..=1_000_000)),
    ("api.sign_ins_per_s", ValueForm::Whole(1..=1_000_000)),
    ("api.connections_max", ValueForm::Whole(16..=65_536)),
    (PRIVATE_KEY, ValueForm::Flag),
    ("notify.poll_ms", ValueForm::Whole(10..=60_000)),
    ("notify.in_flight_max", ValueForm::Whole(1..=4_096)),
    ("notify.keep_days", ValueForm::Whole(1..=3_650)),
    (RPC_KEY, ValueForm::Text),
    (WS_KEY, ValueForm::Text),
    ("chain.id", ValueForm::Whole(1..=4_294_967_295)),
    ("chain.genesis", ValueForm::Text),
    ("chain.symbol", ValueForm::Text),
    ("chain.confirmations", ValueForm::Whole(0..=10_000)),
    ("chain.finality", ValueForm::OneOf(&["auto", "finalized", "safe", "depth"])),
    ("chain.window", ValueForm::Whole(0..=1_000_000)),
    ("chain.block_time_ms", ValueForm::Whole(0..=600_000)),
    ("chain.tracer", ValueForm::OneOf(&["auto", "trace_block", "call_tracer", "none"])),
    ("chain.fees", ValueForm::OneOf(&["auto", "market", "legacy"])),
    ("chain.agreement", ValueForm::Whole(1..=16)),
    ("chain.agreement_above", ValueForm::Amount(0)),
    ("chain.start", ValueForm::Whole(0..=u64::MAX)),
    ("chain.wallet", ValueForm::Text),
    ("chain.wallet_name", ValueForm::Text),
    ("chain.treasury", ValueForm::Text),
    ("chain.signer", ValueForm::Text),
    ("chain.poll_ms", ValueForm::Whole(1..=600_000)),
    ("chain.resend_ms", ValueForm::Whole(100..=86_400_000)),
    ("chain.in_flight_max", ValueForm::Whole(1..=1_000)),
    ("chain.max_fee_per_gas", ValueForm::Amount(1)),
    ("chain.pay_at_once", ValueForm::Amount(0)),
    ("server.name", ValueForm::Text),
    ("server.buy_in", ValueForm::Amount(1)),
    ("server.developer_bps", ValueForm::Whole(0..=10_000)),
    ("server.world_bps", ValueForm::Whole(0..=10_000)),
];

/// Every key of a configuration without further chains, in the order in which they are shown.
pub const KEYS: [&str; FORMS.len()] = {
    let mut keys = [""; FORMS.len()];
    let mut place = 0;
    while place < FORMS.len() {
        keys[place] = FORMS[place].0;
        place += 1;
    }
    keys
};

pub(super) const SECTIONS: [&str; 7] = ["books", "node", "api", "notify", "chain", CHAINS, "server"];

/// Every key, with those of further chains after those of the first.
pub(super) fn all<'a>(chains: impl Iterator<Item = &'a str>) -> Vec<String> {
    let of_chain = || KEYS.iter().filter_map(|key| key.strip_prefix("chain."));
    let further: Vec<String> =
        chains.flat_map(|name| of_chain().map(move |key| format!("{CHAINS}.{name}.{key}"))).collect();
    let after = KEYS.iter().rposition(|key| key.starts_with("chain.")).map_or(KEYS.len(), |last| last + 1);
    let (before, rest) = KEYS.split_at(after);
    let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    owned(before).into_iter().chain(further).chain(owned(rest)).collect()
}

/// The key that has the same form: `chain.rpc` for `chains.polygon.rpc`.
pub(super) fn form_key(key: &str) -> Cow<'_, str> {
    let further = key.strip_prefix(CHAINS).and_then(|rest| rest.strip_prefix('.'));
    match further.and_then(|rest| rest.split_once('.')) {
        Some((_, name)) => format!("{CHAIN}.{name}").into(),
        None => key.into(),
    }
}

/// Whether a key has keys below it.
pub(super) fn is_section(path: &str) -> bool {
    let of_chains = path.strip_prefix(CHAINS).and_then(|rest| rest.strip_prefix('.'));
    SECTIONS.contains(&path) || of_chains.is_some_and(|name| !name.contains('.'))
}

/// Whether a value is written in quotes.
pub(super) fn is_text(key: &str) -> bool {
    let form = FORMS.iter().find(|(name, _)| *name == form_key(key));
    form.is_some_and(|(_, form)| !matches!(form, ValueForm::Whole(_) | ValueForm::Flag))
}

/// What is wrong with the name of a further chain: it must be possible in a variable's name, too.
pub(super) fn chain_name_problem(name: &str) -> Option<String> {
    let is_legal = |name: &str| {
        let legal = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.len() <= 40
            && name.chars().all(legal)
            && !name.contains("__")
            && !name.ends_with('_')
    };
    let what = "name a chain with up to 40 lower-case letters, digits and single underscores, as in [chains.polygon]";
    (!is_legal(name)).then(|| what.to_owned())
}

/// What is wrong with the form of a key's value.
pub(super) fn problem(key: &str, value: &Value) -> Option<String> {
    let (_, form) = FORMS.iter().find(|(name, _)| *name == form_key(key))?;
    let text = || match value {
        Value::String(_, text) => Some(text.clone()),
        Value::Char(_, letter) => Some(letter.to_string()),
        _ => None,
    };
    let not_text = || match value {
        Value::Array(..) | Value::Dict(..) => format!("{} is not a text", shown(value)),
        _ => format!("{} is not a text; write it in quotes", shown(value)),
    };
    match form {
        ValueForm::Text => text().is_none().then(not_text),
        ValueForm::Name(what) => match text() {
            None => Some(not_text()),
            Some(text) => text.trim().is_empty().then(|| format!("set this to {what}")),
        },
        ValueForm::OneOf(words) => {
            let given = text().unwrap_or_else(|| shown(value));
            let quoted = || words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
            (!words.contains(&given.as_str()))
                .then(|| format!("{} is not one of {}{}", shown(value), quoted(), suggestion(&given, words)))
        }
        ValueForm::Whole(range) => {
            let number = whole_number(value).and_then(|number| u64::try_from(number).ok());
            (!number.is_some_and(|number| range.contains(&number)))
                .then(|| format!("{} is not a whole number {}", shown(value), in_range(range)))
        }
        ValueForm::Flag => {
            (!matches!(value, Value::Bool(..))).then(|| format!("{} is not true or false", shown(value)))
        }
        ValueForm::Amount(least) => match text().map(|text| text.parse::<Amount>()) {
            Some(Err(error)) => Some(format!("{}: {error}", shown(value))),
            Some(Ok(amount)) => too_small(amount.units(), *least),
            None => match whole_number(value) {
                Some(units) => too_small(units, *least),
                None => Some(format!("{} is not an amount: give base units (wei), in digits", shown(value))),
            },
        },
    }
}

/// What is wrong with a section that is no table of keys. The value is not shown: it may be a misplaced secret.
pub(super) fn section_problem(section: &str, value: &Value) -> Option<String> {
    let found = match value {
        Value::Dict(..) => return None,
        Value::Num(..) => "a number",
        Value::String(..) | Value::Char(..) => "a text",
        Value::Bool(..) => "true or false",
        Value::Array(..) => "a list",
        Value::Empty(..) => "nothing",
    };
    let section = if section == CHAINS { "chains.NAME" } else { section };
    Some(format!("found {found} instead of keys; write [{section}], and its keys below"))
}

/// A number that is whole and not negative, of whatever width its source gives it.
fn whole_number(value: &Value) -> Option<u128> {
    value.to_u128().or_else(|| value.to_i128().and_then(|number| u128::try_from(number).ok()))
}

fn too_small(units: u128, least: u128) -> Option<String> {
    (units < least).then(|| format!("{units} is too small: it must be more than 0"))
}

/// A value as it may appear in a message: never long.
fn shown(value: &Value) -> String {
    match value {
        Value::String(_, text) if text.chars().count() > 80 => {
            format!("{:?}", format!("{}...", text.chars().take(80).collect::<String>()))
        }
        Value::String(_, text) => format!("{text:?}"),
        Value::Char(_, letter) => format!("\"{letter}\""),
        Value::Bool(_, given) => given.to_string(),
        Value::Num(_, number) => number_shown(*number),
        Value::Empty(..) => "nothing".into(),
        Value::Dict(..) => "a table of keys".into(),
        Value::Array(..) => "a list".into(),
    }
}

fn number_shown(number: Num) -> String {
    let whole = number.to_u128().map(|number| number.to_string());
    let whole = whole.or_else(|| number.to_i128().map(|number| number.to_string()));
    whole.or_else(|| number.to_f64().map(|number| number.to_string())).unwrap_or_else(|| "a number".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, value: impl Into<Value>, expected: Option<&str>) {
        assert_eq!(problem(key, &value.into()).as_deref(), expected, "{key}");
    }

    #[test]
    fn a_value_of_another_form_is_answered_with_what_is_expected() {
        check("books.queue_max", 4_096_i64, None);
        check("books.queue_max", 4_096_u64, None);
        check("books.queue_max", 1, Some("1 is not a whole number from 1024 to 1048576"));
        check("books.queue_max", -1, Some("-1 is not a whole number from 1024 to 1048576"));
        check("books.queue_max", 1.5, Some("1.5 is not a whole number from 1024 to 1048576"));
        check("books.queue_max", "many", Some("\"many\" is not a whole number from 1024 to 1048576"));
        check("chain.start", -1, Some("-1 is not a whole number of at least 0"));
        check("server.name", 5, Some("5 is not a text; write it in quotes"));
        check("chain.rpc", vec!["http://user:secret@host"], Some("a list is not a text"));
        check("books.folder", "", Some("set this to a folder, as in \".\""));
        check("chains.polygon.start", -1, Some("-1 is not a whole number of at least 0"));
        check("books.durability", true, Some("true is not one of \"full\", \"may_lose_recent_commits\""));
    }

    #[test]
    fn amounts_are_digits_as_text_or_number() {
        check("server.buy_in", "10000000000000000", None);
        check("server.buy_in", 7, None);
        check("server.buy_in", 0, Some("0 is too small: it must be more than 0"));
        check("chain.pay_at_once", 0, None);
        check("server.buy_in", -7, Some("-7 is not an amount: give base units (wei), in digits"));
        check("server.buy_in", 0.5, Some("0.5 is not an amount: give base units (wei), in digits"));
    }

    #[test]
    fn further_chains_have_the_keys_of_the_first() {
        let all = all(["bsc", "polygon"].into_iter());
        let of =
            |start: &str| all.iter().filter_map(|key| key.strip_prefix(start)).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(of("chains.bsc."), of("chain."));
        assert_eq!(of("chains.polygon."), of("chain."));
        assert_eq!(all.len(), KEYS.len() + 2 * of("chain.").len());
        assert_eq!(form_key("chains.polygon.rpc"), "chain.rpc");
        assert_eq!(form_key("chains.polygon"), "chains.polygon");
        assert!(is_section("chains.polygon") && is_section("chains") && !is_section("chains.polygon.rpc"));
    }

    #[test]
    fn a_chains_name_is_one_that_a_variable_can_have() {
        for name in ["polygon", "bsc_testnet", "l2"] {
            assert_eq!(chain_name_problem(name), None, "{name}");
        }
        for name in ["", "Polygon", "a__b", "a_", "_a", "1inch", "a-b", "a.b", "ä"] {
            assert!(chain_name_problem(name).is_some(), "{name}");
        }
    }
}
