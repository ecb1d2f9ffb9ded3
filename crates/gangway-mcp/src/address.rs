//! Which IP addresses are on the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is public, so that it cannot be this machine or its network.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(v4: Ipv4Addr) -> bool {
    let [a, b, c, _] = v4.octets();
    let special = v4.is_private()
        || v4.is_loopback()
        || v4.is_link_local()
        || v4.is_broadcast()
        || v4.is_multicast()
        || v4.is_documentation()
        // "This network".
        || a == 0
        // Carrier-grade NAT, also used by metadata services of clouds.
        || (a == 100 && (64..128).contains(&b))
        // Protocol assignments, the deprecated 6to4 relays, and benchmarks.
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b))
        // Azure's metadata service, in a public range.
        || v4.octets() == [168, 63, 129, 16]
        // Reserved.
        || a >= 240;
    !special
}

fn is_public_v6(v6: Ipv6Addr) -> bool {
    let s = v6.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    // IPv4 addresses embedded in IPv6 are judged by the IPv4 address. Mapped addresses are refused outright: there is
    // no legitimate use.
    if s[0] == 0x2002 {
        return embedded(s[1], s[2]);
    }
    if s[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return embedded(s[6], s[7]);
    }
    // ISATAP: an IPv4 address under any prefix.
    if s[4] & 0xfdff == 0 && s[5] == 0x5efe && !embedded(s[6], s[7]) {
        return false;
    }
    // Only 2000::/3 is assigned; loopback, mapped, unique local, link-local, multicast and others lie outside.
    let handed_out = s[0] & 0xe000 == 0x2000;
    // Protocol assignments with Teredo, documentation (two ranges).
    let special = (s[0] == 0x2001 && (s[1] < 0x200 || s[1] == 0xdb8)) || s[0] == 0x3fff;
    handed_out && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_on_the_public_internet_are_public() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "172.15.0.1",
            "172.32.0.1",
            "192.169.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "2606:4700:4700::1111",
            "2a00:1450:4001::1",
            "2002:101:101::1",
            "64:ff9b::808:808",
            "2a00:1450::5efe:808:808",
            "168.63.129.17",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        for text in [
            "0.0.0.0",
            "127.0.0.1",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.100.100.200",
            "198.18.0.1",
            "192.0.0.192",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:1.1.1.1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2002:7f00:1::",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "168.63.129.16",
            "2a00:1450::5efe:7f00:1",
            "2a00:1450::200:5efe:a00:1",
            "100::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }
}
