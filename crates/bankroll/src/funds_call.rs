//! Commands that are clients of the Funds API: whose key signs, how a request is sent, and what it says if it fails.

use std::path::{Path, PathBuf};

use anyhow::Context;
use bankroll_roles::{
    AuthKey, AuthKeyError, OWNER_KEY_FILE,
    requests::{FundsCall, FundsCallError, FundsClient},
};
use bankroll_terminal::NotFound;
use clap::Args;
use serde_json::Value;

use crate::location::LocationArgs;

/// Whose request it is, where only an owner may ask.
#[derive(Debug, Args)]
pub struct OwnerArgs {
    /// The owner's key file [default: owner.key in the folder]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    pub location: LocationArgs,
}

/// The key of a change, for a second try.
#[derive(Debug, Args)]
pub struct RetryArgs {
    /// The idempotency key: the same one again has no second effect [default: a new one]
    #[arg(long, value_name = "KEY", value_parser = idempotency_key)]
    id: Option<String>,
}

impl OwnerArgs {
    pub fn connect(&self) -> anyhow::Result<FundsClient> {
        let path = self.key.clone().unwrap_or_else(|| self.location.base().join(OWNER_KEY_FILE));
        connect(&self.location, &path).map_err(|error| match error.downcast_ref() {
            // `init` makes it, and not `keys auth`, which the other message names.
            Some(AuthKeyError::Missing { .. }) if self.key.is_none() => {
                NotFound(format!("the owner's key is not in {}; name its file: --key FILE", path.display())).into()
            }
            _ => error,
        })
    }
}

/// A client that signs with the key in this file.
pub fn connect(location: &LocationArgs, key: &Path) -> anyhow::Result<FundsClient> {
    let loaded = location.load()?;
    if loaded.config.api.url.is_empty() {
        // First: a folder without books is a wrong folder, not a missing key.
        location.reader()?;
    }
    Ok(FundsClient::connect(&loaded, AuthKey::read(key)?)?)
}

/// Asks once, and releases the books.
pub fn ask(client: FundsClient, path: &str) -> anyhow::Result<Value> {
    let answer = client.call(FundsCall { method: "GET", path, idempotency_key: None, body: None });
    client.close();
    Ok(answer?)
}

/// Sends a change once, and releases the books. If its outcome is unknown, the error says how to find out.
pub fn change(
    client: FundsClient,
    method: &'static str,
    path: &str,
    body: Option<&Value>,
    retry: &RetryArgs,
) -> anyhow::Result<Value> {
    let key = retry.id.clone().map_or_else(FundsClient::new_key, Ok)?;
    let answer = client.call(FundsCall { method, path, idempotency_key: Some(&key), body });
    client.close();
    answer.map_err(|error| explained(error, &key))
}

fn explained(error: FundsCallError, key: &str) -> anyhow::Error {
    let is_unknown = error.is_unknown();
    let error = anyhow::Error::from(error);
    if is_unknown {
        error.context(format!("it is unknown whether this took effect; send it again with --id {key} to find out"))
    } else {
        error
    }
}

/// A name as a part of a path.
pub fn in_path(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    name.bytes().fold(String::new(), |path, byte| {
        if plain(byte) { path + &char::from(byte).to_string() } else { format!("{path}%{byte:02X}") }
    })
}

/// The texts of a field of an answer.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The entries of an answer.
pub fn list<'a>(answer: &'a Value, field: &str) -> anyhow::Result<&'a Vec<Value>> {
    answer[field].as_array().with_context(|| format!("the answer of the Funds API has no {field}"))
}

fn idempotency_key(text: &str) -> Result<String, String> {
    let is_printable = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
    if (1..=200).contains(&text.len()) && is_printable {
        Ok(text.into())
    } else {
        Err("a key is 1 to 200 printable ASCII characters".into())
    }
}
