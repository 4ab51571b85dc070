//! `[api]`: where the Funds API listens, by which name its callers know it, and what one caller may use of it.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::node::is_host_and_port;

/// The name of a deployment that only this machine reaches.
const LOCAL_NAME: &str = "localhost:8640";

/// `[api]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiConfig {
    /// Where commands reach a Funds API that is elsewhere; empty for the books that the configuration names.
    pub url: String,
    pub listen: String,
    /// Where `/metrics` answers; empty for nowhere.
    pub metrics: String,
    /// PEM files, both or neither. Without them a proxy ends TLS.
    pub tls_certificate: PathBuf,
    pub tls_key: PathBuf,
    /// Whether a proxy says which address a request comes from. Without one, callers could choose theirs.
    pub behind_proxy: bool,
    /// Several are separated by commas.
    pub origins: String,
    /// Part of every message that callers sign: a signature for one deployment is worth nothing at another.
    pub audience: String,
    /// What wallets show to players who sign in, and check against the page that asks.
    pub domain: String,
    pub body_max: usize,
    pub requests_per_s: u32,
    /// Registrations, sessions and sign-ins: each costs the books a check of a signature, and is asked without a proof.
    pub sign_ins_per_s: u32,
    pub connections_max: usize,
}

impl Default for ApiConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            listen: "127.0.0.1:8640".into(),
            metrics: "127.0.0.1:8641".into(),
            tls_certificate: PathBuf::new(),
            tls_key: PathBuf::new(),
            behind_proxy: false,
            origins: String::new(),
            audience: LOCAL_NAME.into(),
            domain: LOCAL_NAME.into(),
            body_max: 1 << 20,
            requests_per_s: 2_000,
            sign_ins_per_s: 5,
            connections_max: 2_048,
        }
    }
}

impl ApiConfig {
    /// The origins of web pages that may call the API from a browser.
    pub fn origins(&self) -> Vec<String> {
        words(&self.origins).map(str::to_owned).collect()
    }

    /// Where players sign in. Without TLS only on this machine: elsewhere anyone on the way could change the page that
    /// asks for the signature.
    pub fn sign_in_uris(&self) -> Vec<String> {
        let schemes: &[&str] = if is_loopback(&self.domain) { &["https", "http"] } else { &["https"] };
        schemes.iter().map(|scheme| format!("{scheme}://{}", self.domain)).collect()
    }

    /// Certificate and key, if this process ends TLS itself; relative paths are relative to `base`.
    pub fn tls(&self, base: &Path) -> Option<[PathBuf; 2]> {
        let is_set = !self.tls_certificate.as_os_str().is_empty();
        is_set.then(|| [base.join(&self.tls_certificate), base.join(&self.tls_key)])
    }

    /// Values that cannot work, each with what can.
    pub(super) fn problems(&self) -> Vec<(&'static str, String)> {
        let mut wrong = Vec::new();
        if let Some(what) = url_problem(&self.url) {
            wrong.push(("api.url", what));
        }
        for (key, given, optional) in [("api.listen", &self.listen, false), ("api.metrics", &self.metrics, true)] {
            if !(is_host_and_port(given) || optional && given.is_empty()) {
                wrong.push((key, format!("\"{given}\" is not of the form host:port")));
            }
        }
        // Port 0 is a different free port for each.
        if self.metrics == self.listen && !self.listen.ends_with(":0") {
            wrong.push((
                "api.metrics",
                "the API listens there; give the metrics another port, or leave it empty".into(),
            ));
        }
        match (self.tls_certificate.as_os_str().is_empty(), self.tls_key.as_os_str().is_empty()) {
            (false, true) => wrong.push(("api.tls_key", "set this, too: a certificate is used with its key".into())),
            (true, false) => {
                wrong.push(("api.tls_certificate", "set this, too: a key is used with its certificate".into()));
            }
            _ => {}
        }
        wrong.extend(words(&self.origins).filter_map(origin_problem).map(|what| ("api.origins", what)));
        for (key, name) in [("api.audience", &self.audience), ("api.domain", &self.domain)] {
            if let Some(what) = name_problem(name) {
                wrong.push((key, what));
            } else if name == LOCAL_NAME && !is_loopback(&self.listen) {
                let what = "set the name by which callers know this deployment: other machines reach it";
                wrong.push((key, format!("{what} at {}", self.listen)));
            }
        }
        wrong
    }
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// Tokens and signed requests are worth money: without TLS they stay on this machine.
fn url_problem(url: &str) -> Option<String> {
    let form = "write scheme and host, without a path, as in https://funds.example";
    if url.is_empty() {
        return None;
    }
    let is_host = |host: &str| !host.is_empty() && is_name(host) && !host.contains('/');
    match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(host), _) if is_host(host) => None,
        (_, Some(host)) if is_host(host) && is_loopback(host) => None,
        (_, Some(host)) if is_host(host) => Some(format!(
            "\"{url}\" leaves this machine without TLS: anyone on the way could act for you; use https://"
        )),
        _ => Some(format!("\"{url}\" is not the address of a Funds API: {form}")),
    }
}

/// A browser sends scheme, host and port, and nothing else.
fn origin_problem(origin: &str) -> Option<String> {
    if origin == "*" {
        return Some(
            "\"*\" would let every web page call the API: name each origin, as in https://play.example".into(),
        );
    }
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let is_host = |host: &str| !host.is_empty() && is_name(host) && !host.contains('/');
    let problem = "is not an origin: write scheme and host, without a path, as in https://play.example";
    (!host.is_some_and(is_host)).then(|| format!("\"{origin}\" {problem}"))
}

/// Both names are hosts with an optional port: they are in messages that people sign.
fn name_problem(name: &str) -> Option<String> {
    let form = "a host with an optional port, as in funds.example";
    if name.is_empty() {
        return Some(format!("set this to {form}"));
    }
    let is_host = is_name(name) && !name.contains('/');
    (!is_host).then(|| format!("\"{name}\" is not {form}"))
}

fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._:[]/".contains(letter))
}

fn is_loopback(listen: &str) -> bool {
    let host = listen.rsplit_once(':').map_or(listen, |(host, _)| host).trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl FnOnce(&mut ApiConfig), expected: &[(&str, &str)]) {
        let mut config = ApiConfig::default();
        change(&mut config);
        let problems = config.problems();
        let problems: Vec<(&str, &str)> = problems.iter().map(|(key, what)| (*key, what.as_str())).collect();
        assert_eq!(problems, expected);
    }

    #[test]
    fn what_cannot_work_is_said_with_what_can() {
        check(|_| {}, &[]);
        check(
            |api| api.listen = "nowhere".into(),
            &[
                ("api.listen", "\"nowhere\" is not of the form host:port"),
                (
                    "api.audience",
                    "set the name by which callers know this deployment: other machines reach it at nowhere",
                ),
                (
                    "api.domain",
                    "set the name by which callers know this deployment: other machines reach it at nowhere",
                ),
            ],
        );
        check(|api| api.metrics = String::new(), &[]);
        check(
            |api| api.metrics = api.listen.clone(),
            &[("api.metrics", "the API listens there; give the metrics another port, or leave it empty")],
        );
        check(|api| (api.listen, api.metrics) = ("127.0.0.1:0".into(), "127.0.0.1:0".into()), &[]);
        check(
            |api| api.tls_certificate = "api.pem".into(),
            &[("api.tls_key", "set this, too: a certificate is used with its key")],
        );
        check(
            |api| api.tls_key = "api.key".into(),
            &[("api.tls_certificate", "set this, too: a key is used with its certificate")],
        );
        check(
            |api| api.audience = String::new(),
            &[("api.audience", "set this to a host with an optional port, as in funds.example")],
        );
        check(
            |api| api.domain = "https://play.example/".into(),
            &[("api.domain", "\"https://play.example/\" is not a host with an optional port, as in funds.example")],
        );
    }

    #[test]
    fn an_origin_is_a_scheme_and_a_host() {
        check(|api| api.origins = "https://play.example, http://localhost:5173".into(), &[]);
        check(
            |api| api.origins = "play.example".into(),
            &[(
                "api.origins",
                "\"play.example\" is not an origin: write scheme and host, without a path, as in https://play.example",
            )],
        );
        check(
            |api| api.origins = "https://play.example/".into(),
            &[(
                "api.origins",
                "\"https://play.example/\" is not an origin: write scheme and host, without a path, as in \
             https://play.example",
            )],
        );
        check(
            |api| api.origins = "*".into(),
            &[(
                "api.origins",
                "\"*\" would let every web page call the API: name each origin, as in https://play.example",
            )],
        );
    }

    #[test]
    fn commands_leave_this_machine_with_tls_only() {
        for url in ["https://funds.example", "https://funds.example:8443", "http://127.0.0.1:8640", "http://localhost"]
        {
            check(|api| api.url = url.into(), &[]);
        }
        let plain = "\"http://funds.example\" leaves this machine without TLS: anyone on the way could act for you; \
                     use https://";
        check(|api| api.url = "http://funds.example".into(), &[("api.url", plain)]);
        for url in ["funds.example", "https://", "https://funds.example/v1", "ftp://funds.example"] {
            let what = "write scheme and host, without a path, as in https://funds.example";
            let problem = format!("\"{url}\" is not the address of a Funds API: {what}");
            check(|api| api.url = url.into(), &[("api.url", &problem)]);
        }
    }

    #[test]
    fn players_sign_in_without_tls_on_this_machine_only() {
        let uris = |domain: &str| ApiConfig { domain: domain.into(), ..ApiConfig::default() }.sign_in_uris();
        assert_eq!(uris("localhost:8640"), ["https://localhost:8640", "http://localhost:8640"]);
        assert_eq!(uris("127.0.0.1"), ["https://127.0.0.1", "http://127.0.0.1"]);
        assert_eq!(uris("play.example"), ["https://play.example"]);
        assert_eq!(uris("localhost.example:80"), ["https://localhost.example:80"]);
    }

    #[test]
    fn a_deployment_that_others_reach_has_a_name_of_its_own() {
        let name = "set the name by which callers know this deployment: other machines reach it at 0.0.0.0:443";
        check(|api| api.listen = "0.0.0.0:443".into(), &[("api.audience", name), ("api.domain", name)]);
        let named = |api: &mut ApiConfig| {
            api.listen = "0.0.0.0:443".into();
            (api.audience, api.domain) = ("funds.example".into(), "play.example".into());
        };
        check(named, &[]);
        check(|api| api.listen = "[::1]:9000".into(), &[]);
    }
}
