//! Which addresses belong to the public internet.
//!
//! Read from IANA's registries of special addresses. When in doubt an address is not public: then
//! a person has to write it down, which is little work.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether the address belongs to the public internet.
pub(super) fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_global_v4(address),
        IpAddr::V6(address) => is_global_v6(address),
    }
}

fn is_global_v4(address: Ipv4Addr) -> bool {
    !match address.octets() {
        [0 | 10 | 127, ..] => true,
        [100, second, ..] => second & 0xc0 == 64, // carrier-grade NAT
        [169, 254, ..] => true,                   // link-local, and where clouds keep credentials
        [172, second, ..] => second & 0xf0 == 16,
        [192, 168, ..] | [192, 0, 0 | 2, _] | [192, 88, 99, _] => true,
        [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => true,
        [first, ..] => first >= 224, // multicast, reserved, broadcast
    }
}

/// Only `2000::/3` is given out. An address that wraps an IPv4 address is as public as that one.
fn is_global_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let wrapped = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_global_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => wrapped(high, low), // NAT64
        [0x2002, high, low, ..] => wrapped(high, low),               // 6to4
        [0x2001, 0..=0x1ff, ..] => false,                            // Teredo and other protocols
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,      // documentation
        [first, ..] => first & 0xe000 == 0x2000,
    }
}
