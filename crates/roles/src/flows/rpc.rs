//! The URLs of a chain's RPC nodes: used whole, shown without what may be a key.

use std::{collections::BTreeSet, fmt, net::IpAddr};

use serde::{Deserialize, Serialize, Serializer};

/// Several are separated by commas; empty for no chain.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct RpcUrls(String);

impl RpcUrls {
    pub(crate) fn urls(&self) -> Vec<String> {
        self.0.split(',').map(str::trim).filter(|url| !url.is_empty()).map(str::to_owned).collect()
    }

    /// How many different hosts: two URLs of one host are one provider, whose word counts once.
    pub(crate) fn providers(&self) -> usize {
        self.hosts().into_iter().collect::<BTreeSet<_>>().len()
    }

    /// The host of each URL.
    pub(crate) fn hosts(&self) -> Vec<String> {
        self.urls().iter().map(|url| authority_of(url).to_ascii_lowercase()).collect()
    }

    /// The hosts that are reached without encryption, beyond this machine.
    pub(crate) fn in_plain_text(&self) -> Vec<String> {
        let is_plain = |url: &String| url.starts_with("http://") || url.starts_with("ws://");
        let hosts = self.urls().into_iter().filter(is_plain).map(|url| authority_of(&url).to_owned());
        hosts.filter(|host| !is_loopback(host)).collect()
    }
}

impl Serialize for RpcUrls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&without_keys(&self.0))
    }
}

impl fmt::Debug for RpcUrls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_keys(&self.0))
    }
}

/// Host and port, without a login.
fn authority_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn is_loopback(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(v6),
        None => authority.split(':').next().unwrap_or(authority),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Providers put their keys into the path, the parameters or the login: the host is all that is shown.
pub fn without_keys(urls: &str) -> String {
    let host_only = |url: &str| {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let (authority, path) = rest.find(['/', '?', '#']).map_or((rest, ""), |at| rest.split_at(at));
        let (login, host) = authority.rsplit_once('@').map_or(("", authority), |(_, host)| ("***@", host));
        let path = if path.is_empty() || path == "/" { path } else { "/***" };
        if scheme.is_empty() { "***".to_owned() } else { format!("{scheme}://{login}{host}{path}") }
    };
    let shown: Vec<String> = urls.split(',').map(str::trim).filter(|url| !url.is_empty()).map(host_only).collect();
    shown.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_one_host_are_one_provider() {
        let check = |urls: &str, providers| assert_eq!(RpcUrls(urls.into()).providers(), providers, "{urls}");
        check("", 0);
        check("https://a.example/key1,https://me:pw@A.example/key2", 1);
        check("https://a.example/key, https://b.example/key", 2);
        check("http://127.0.0.1:8545,http://127.0.0.1:8546", 2);
    }

    #[test]
    fn plain_text_is_for_this_machine() {
        let check = |urls: &str, hosts: &[&str]| assert_eq!(RpcUrls(urls.into()).in_plain_text(), hosts, "{urls}");
        check("http://127.0.0.1:8545,http://localhost/x,http://[::1]:8545,wss://a.example,https://b.example", &[]);
        check("http://node.example:8545/k3y, ws://me:pw@10.0.0.5/k3y", &["node.example:8545", "10.0.0.5"]);
        check("http://127.0.0.1.example", &["127.0.0.1.example"]);
        check("http://localhost@node.example", &["node.example"]);
    }

    #[test]
    fn a_key_is_never_shown() {
        let check = |url: &str, shown: &str| assert_eq!(without_keys(url), shown);
        check("", "");
        check("http://127.0.0.1:8545", "http://127.0.0.1:8545");
        check("https://node.example/v2/s3cret", "https://node.example/***");
        check("https://node.example?key=s3cret", "https://node.example/***");
        check("https://me:s3cret@node.example/, http://b/", "https://***@node.example/,http://b/");
        check("s3cret", "***");
        assert_eq!(format!("{:?}", RpcUrls("https://a/key".into())), "https://a/***");
        let way = super::super::RpcEndpoint::Http(RpcUrls("https://a/key".into()));
        assert_eq!(format!("{way:?}"), "Http(https://a/***)");
    }
}
