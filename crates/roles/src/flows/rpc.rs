//! The URLs of a chain's RPC nodes: used whole, shown without what may be a key.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// Several are separated by commas; empty for no chain.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct RpcUrls(String);

impl RpcUrls {
    pub(crate) fn urls(&self) -> Vec<String> {
        self.0.split(',').map(str::trim).filter(|url| !url.is_empty()).map(str::to_owned).collect()
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
