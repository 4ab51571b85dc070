//! Commands that are clients of the Funds API: whose key signs, how a request is sent, and what it says if it fails.

use std::path::{Path, PathBuf};

use anyhow::Context;
use bankroll_ledger::Name;
use bankroll_roles::{
    AuthKey, AuthKeyError, OWNER_KEY_FILE,
    config::ApiConfig,
    requests::{FundsCall, FundsCallError, FundsClient, KnownServer},
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

/// Whose request it is, where an owner or a game server may ask.
#[derive(Debug, Args)]
pub struct SubjectArgs {
    /// Act as this game server, with its key (--key) [default: as the owner]
    #[arg(long, value_name = "NAME", requires = "key")]
    server: Option<Name>,
    #[command(flatten)]
    pub owner: OwnerArgs,
}

/// The game server that a command acts for or pays from.
#[derive(Debug, Args)]
pub struct GameServerArgs {
    /// The game server [default: server.name of the configuration]
    #[arg(long, value_name = "NAME")]
    server: Option<Name>,
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

impl SubjectArgs {
    pub fn connect(&self) -> anyhow::Result<FundsClient> {
        match (&self.server, &self.owner.key) {
            (Some(server), Some(key)) => connect_for(&self.owner.location, key, server),
            _ => self.owner.connect(),
        }
    }

    /// Where the webhooks of this caller are.
    pub fn webhooks_path(&self) -> String {
        match &self.server {
            Some(server) => format!("/v1/servers/{}/webhooks", in_path(server.as_str())),
            None => "/v1/webhooks".into(),
        }
    }
}

impl GameServerArgs {
    pub fn name(&self, location: &LocationArgs) -> anyhow::Result<Name> {
        Ok(match &self.server {
            Some(name) => name.clone(),
            None => location.load()?.config.server.name.parse()?,
        })
    }

    /// The server, and what the registry says about it.
    pub fn known(&self, location: &LocationArgs) -> anyhow::Result<(Name, KnownServer)> {
        let name = self.name(location)?;
        let known = KnownServer::read(&location.reader()?, &name)?;
        let missing = || NotFound(format!("there is no game server {name}; `bankroll servers list` shows all"));
        Ok((name.clone(), known.ok_or_else(missing)?))
    }
}

/// A client that signs for a game server, or for one of its players: such signatures name the server's chain.
pub fn connect_for(location: &LocationArgs, key: &Path, server: &Name) -> anyhow::Result<FundsClient> {
    // A login that may not read the registry, or a server that is not there yet: chain.id counts.
    let known = location.reader().ok().and_then(|reader| KnownServer::read(&reader, server).ok().flatten());
    let client = connect(location, key)?;
    Ok(match known {
        Some(known) => client.on_chain(known.chain),
        None => client,
    })
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

/// Signs in as a player. Returns the session, and what the service says about the player.
pub fn sign_in(client: &FundsClient, api: &ApiConfig) -> Result<(Value, Value), FundsCallError> {
    let origins = api.sign_in_uris();
    let session = client.sign_in(origins.last().map(String::as_str).unwrap_or_default())?;
    let token = session["token"].as_str().ok_or(FundsCallError::NotJson)?;
    let me = FundsCall { method: "GET", path: "/v1/me", idempotency_key: None, body: None };
    let player = client.call_with_token(token, me)?;
    Ok((session, player))
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
