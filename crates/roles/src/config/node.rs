//! `[node]`: which node this is among several, and what it does.

use std::{net::SocketAddr, path::PathBuf, str::FromStr};

use bankroll_nodes::{NodeName, NodeRoles};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::log::LogLevel;

pub const ROLES_KEY: &str = "node.roles";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeConfig {
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    pub name: NodeName,
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    pub roles: NodeRoles,
    pub listen: String,
    /// Where other nodes reach it; empty for `listen`.
    pub address: String,
    pub certificates: PathBuf,
    pub log_level: LogLevel,
}

impl Default for NodeConfig {
    fn default() -> Self {
        Self {
            name: NodeName::from_str("node-1").expect("a name"),
            roles: NodeRoles::ALL,
            listen: "127.0.0.1:7450".into(),
            address: String::new(),
            certificates: "nodes".into(),
            log_level: LogLevel::default(),
        }
    }
}

impl NodeConfig {
    /// Values that cannot work, each with what can.
    pub(super) fn problems(&self, in_database: bool) -> Vec<(&'static str, String)> {
        let alone = (!in_database && self.roles != NodeRoles::ALL).then(|| {
            let what = "books in a folder are one process with all roles; several nodes need books.database";
            (ROLES_KEY, format!("\"{}\": {what}", self.roles))
        });
        let addresses = [("node.listen", &self.listen, false), ("node.address", &self.address, true)];
        let wrong = addresses
            .into_iter()
            .filter(|(_, address, optional)| !(is_host_and_port(address) || *optional && address.is_empty()));
        let wrong = wrong.map(|(key, given, _)| (key, format!("\"{given}\" is not of the form host:port")));
        let listens_everywhere = self.listen.parse::<SocketAddr>().is_ok_and(|listen| listen.ip().is_unspecified());
        let nowhere = (in_database && listens_everywhere && self.address.is_empty()).then(|| {
            let what =
                "set the address at which other nodes reach this one: it listens on every address of the machine";
            ("node.address", what.to_owned())
        });
        alone.into_iter().chain(wrong).chain(nowhere).collect()
    }
}

pub(super) fn is_host_and_port(address: &str) -> bool {
    address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

fn as_text<S: Serializer>(value: &impl ToString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_string())
}

fn from_text<'de, D: Deserializer<'de>, T: FromStr<Err: std::fmt::Display>>(deserializer: D) -> Result<T, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}
