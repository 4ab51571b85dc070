//! Why a URL cannot be the target of a webhook.

use std::net::IpAddr;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetRefusal {
    #[error("a webhook's URL has at most 2,048 characters")]
    TooLong,
    #[error("this is not a URL: write https://host/path, in ASCII, without spaces")]
    Malformed,
    #[error("a webhook's URL begins with https://")]
    Scheme,
    #[error("a webhook's URL has no user name or password: deliveries are signed instead")]
    UserInfo,
    #[error("a webhook's URL has no fragment (`#...`)")]
    Fragment,
    #[error("port {port} is not allowed: use 443 or 8443")]
    Port { port: u16 },
    /// A number in any form but four decimals; a name with one label, or of a network's own.
    #[error("this host is not a public name: write a domain name as in hooks.example.com")]
    Host,
    #[error("{address} is not a public address")]
    PrivateAddress { address: IpAddr },
    #[error("the host has no address")]
    NoAddress,
}

impl TargetRefusal {
    /// A stable name.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Malformed => "malformed",
            Self::Scheme => "scheme",
            Self::UserInfo => "user_info",
            Self::Fragment => "fragment",
            Self::Port { .. } => "port",
            Self::Host => "host",
            Self::PrivateAddress { .. } => "private_address",
            Self::NoAddress => "no_address",
        }
    }
}
