//! Which targets a webhook may have. The rules are pure: a URL, and the addresses that its host has.
//!
//! A URL comes from a person; what it leads to is decided by a name server that may be the attacker's. So the form of
//! the URL is checked, then every address of its host, and the connection goes to a checked address and no other. The
//! parser that checks is the one that the client connects with (`http::Uri`), so that they cannot disagree; and forms
//! on which parsers are known to disagree (numbers as hosts, user info, backslashes, trailing dots) are refused.

mod address;
mod host;
mod refusal;

use std::net::IpAddr;

use ureq::http::{Uri, uri::Authority};

pub use refusal::TargetRefusal;

const URL_BYTES_MAX: usize = 2_048;
/// Ports of HTTPS. Others are those of databases, mail servers and consoles.
const PORTS: [u16; 2] = [443, 8_443];

/// What is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetPolicy {
    /// Also `http`, every port, and addresses of this machine and its network: for development.
    pub allows_private: bool,
}

/// A URL whose form is allowed. Its addresses are checked apart, each time it is used.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookTarget {
    uri: Uri,
    host: TargetHost,
    port: u16,
    policy: TargetPolicy,
}

/// What the URL names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetHost {
    Name(String),
    Address(IpAddr),
}

impl TargetPolicy {
    /// Checks the form of a URL, and its address if it names one.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn check_url(self, url: &str) -> Result<WebhookTarget, TargetRefusal> {
        if url.len() > URL_BYTES_MAX {
            return Err(TargetRefusal::TooLong);
        }
        if !url.bytes().all(|byte| byte.is_ascii_graphic())
            || url.contains(['\\', '"', '<', '>', '^', '`', '{', '|', '}'])
        {
            return Err(TargetRefusal::Malformed);
        }
        // The parser drops a fragment.
        if url.contains('#') {
            return Err(TargetRefusal::Fragment);
        }
        let uri: Uri = url.parse().map_err(|_| TargetRefusal::Malformed)?;
        let default_port = match (uri.scheme_str(), self.allows_private) {
            (Some("https"), _) => 443,
            (Some("http"), true) => 80,
            _ => return Err(TargetRefusal::Scheme),
        };
        let authority = uri.authority().ok_or(TargetRefusal::Malformed)?;
        if authority.as_str().contains('@') {
            return Err(TargetRefusal::UserInfo);
        }
        let port = self.port(authority, default_port)?;
        let host = host::parse(authority.host(), self)?;
        let target = WebhookTarget { host, port, policy: self, uri };
        if let TargetHost::Address(address) = target.host {
            target.check_addresses(&[address])?;
        }
        Ok(target)
    }

    fn port(self, authority: &Authority, default: u16) -> Result<u16, TargetRefusal> {
        let given = authority.as_str().strip_prefix(authority.host()).unwrap_or_default();
        let port = match given.strip_prefix(':') {
            None if given.is_empty() => default,
            None => return Err(TargetRefusal::Malformed),
            // One port has one form: `:0443` and `:` are others.
            Some(digits) => {
                let port: u16 = digits.parse().map_err(|_| TargetRefusal::Malformed)?;
                if port.to_string() != digits {
                    return Err(TargetRefusal::Malformed);
                }
                port
            }
        };
        let is_allowed = if self.allows_private { port != 0 } else { PORTS.contains(&port) };
        if is_allowed { Ok(port) } else { Err(TargetRefusal::Port { port }) }
    }
}

impl WebhookTarget {
    #[must_use]
    pub const fn uri(&self) -> &Uri {
        &self.uri
    }

    #[must_use]
    pub const fn host(&self) -> &TargetHost {
        &self.host
    }

    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Checks what the host resolves to. One bad address refuses all: which of them is used is not ours to choose.
    ///
    /// # Errors
    /// The first address that is not allowed; or that there is none.
    pub fn check_addresses(&self, addresses: &[IpAddr]) -> Result<(), TargetRefusal> {
        if addresses.is_empty() {
            return Err(TargetRefusal::NoAddress);
        }
        match addresses.iter().find(|address| !self.policy.allows_private && !address::is_public(**address)) {
            Some(address) => Err(TargetRefusal::PrivateAddress { address: *address }),
            None => Ok(()),
        }
    }
}

/// Scheme, host and port: the rest may be a secret of the receiver.
impl std::fmt::Debug for WebhookTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WebhookTarget({:?}, {})", self.host, self.port)
    }
}
