//! The host of a URL: a domain name, or an address in its one canonical form.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{TargetHost, TargetPolicy, TargetRefusal};

const NAME_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;
/// Names that mean this machine, its network, or a network that is not the internet.
const OWN_NETWORK: [&str; 9] =
    ["localhost", "local", "internal", "intranet", "localdomain", "home.arpa", "onion", "test", "invalid"];

pub(super) fn parse(host: &str, policy: TargetPolicy) -> Result<TargetHost, TargetRefusal> {
    if let Some(inner) = host.strip_prefix('[') {
        // A zone (`%eth0`) is no part of an address, and does not parse.
        let address = inner.strip_suffix(']').and_then(|inner| inner.parse::<Ipv6Addr>().ok());
        return address.map(|address| TargetHost::Address(IpAddr::V6(address))).ok_or(TargetRefusal::Host);
    }
    // Four decimal numbers without leading zeros. Every other number that a C library takes for an address (2130706433,
    // 0x7f.1, 0177.0.0.1, 127.1) has a last label that begins with a digit, and is refused below.
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return Ok(TargetHost::Address(IpAddr::V4(address)));
    }
    let name = host.to_ascii_lowercase();
    let labels: Vec<&str> = name.split('.').collect();
    let is_public = labels.len() > 1 && !OWN_NETWORK.iter().any(|own| is_within(&name, own));
    let begins_with_letter =
        labels.last().is_some_and(|last| last.starts_with(|first: char| first.is_ascii_lowercase()));
    let is_name = name.len() <= NAME_BYTES_MAX
        && begins_with_letter
        && labels.iter().all(|label| is_label(label))
        && (is_public || policy.allows_private);
    if is_name { Ok(TargetHost::Name(name)) } else { Err(TargetRefusal::Host) }
}

fn is_within(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Letters, digits and inner hyphens. An empty label is that of a trailing dot.
fn is_label(label: &str) -> bool {
    (1..=LABEL_BYTES_MAX).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}
