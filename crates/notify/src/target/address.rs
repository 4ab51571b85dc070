//! Which addresses are on the public internet: the registries of special-purpose addresses of IANA (RFC 6890 and what
//! came after it), as a list of what is refused for IPv4, and of what is left for IPv6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of IPv4 that are not, or not certainly, another party on the internet.
const REFUSED_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),        // this network, unspecified
    ([10, 0, 0, 0], 8),       // private
    ([100, 64, 0, 0], 10),    // shared by carriers; metadata of some clouds
    ([127, 0, 0, 0], 8),      // loopback
    ([168, 63, 129, 16], 32), // a cloud's own services, reachable from its machines alone
    ([169, 254, 0, 0], 16),   // link-local; metadata of most clouds
    ([172, 16, 0, 0], 12),    // private
    ([192, 0, 0, 0], 24),     // protocol assignments; metadata of one cloud
    ([192, 0, 2, 0], 24),     // documentation
    ([192, 88, 99, 0], 24),   // relays of 6to4
    ([192, 168, 0, 0], 16),   // private
    ([198, 18, 0, 0], 15),    // benchmarks
    ([198, 51, 100, 0], 24),  // documentation
    ([203, 0, 113, 0], 24),   // documentation
    ([224, 0, 0, 0], 4),      // multicast
    ([240, 0, 0, 0], 4),      // reserved, broadcast
];

/// Of IPv6 only global unicast is left: 2000::/3. Loopback, unspecified, mapped and compatible addresses, NAT64, unique
/// local, link-local and multicast are all outside of it.
const GLOBAL_V6: (u128, u32) = (0x2000 << 112, 3);

/// Networks within it that lead elsewhere, or nowhere.
const REFUSED_V6: &[(u128, u32)] = &[
    (0x2001 << 112, 23),     // protocol assignments: Teredo, benchmarks, ORCHID
    (0x2001_0db8 << 96, 32), // documentation
    (0x2002 << 112, 16),     // 6to4: an IPv4 address within
    (0x3fff << 112, 20),     // documentation
];

pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    let is_within = |(network, length): &([u8; 4], u32)| {
        let shift = 32_u32.saturating_sub(*length);
        bits.checked_shr(shift) == u32::from_be_bytes(*network).checked_shr(shift)
    };
    !REFUSED_V4.iter().any(is_within)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let bits = address.to_bits();
    let is_within = |(network, length): &(u128, u32)| {
        let shift = 128_u32.saturating_sub(*length);
        bits.checked_shr(shift) == network.checked_shr(shift)
    };
    is_within(&GLOBAL_V6) && !REFUSED_V6.iter().any(is_within)
}
