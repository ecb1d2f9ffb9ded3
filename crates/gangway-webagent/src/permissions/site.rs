//! The site of an origin, for limits that subdomains must not bypass.

use gangway_core::Origin;
use public_suffix::{DEFAULT_PROVIDER, EffectiveTLDProvider};
use url::{Host, Url};

/// All origins that one owner can create at will: those below one registrable domain, of one IPv4 address, or of one
/// IPv6 /64. Programs on this machine are sites of their own, since a web page cannot be one of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Site(String);

impl From<&Origin> for Site {
    fn from(origin: &Origin) -> Self {
        let whole = || origin.to_string();
        let url = Url::parse(origin.as_str()).ok();
        let host = url.as_ref().and_then(Url::host);
        Self(match host {
            Some(Host::Domain(name)) => {
                let name = name.strip_suffix('.').unwrap_or(name);
                if name == "localhost" || name.ends_with(".localhost") {
                    return Self(whole());
                }
                // An origin without a registrable domain is its own site.
                let domain = DEFAULT_PROVIDER.effective_tld_plus_one(name);
                domain.unwrap_or(name).to_owned()
            }
            Some(Host::Ipv4(address)) if !address.is_loopback() => address.to_string(),
            // A subscriber has at least a /64.
            Some(Host::Ipv6(address)) if !address.is_loopback() => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
            }
            _ => whole(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_a_registrable_domain_an_address_or_a_program_of_this_machine() {
        for (origin, site) in [
            ("https://shop.example", "shop.example"),
            ("https://a.b.shop.example:8443", "shop.example"),
            ("http://shop.example.", "shop.example"),
            ("https://a.shop.co.uk", "shop.co.uk"),
            // Anyone can have a page there, so each is its own site.
            ("https://alice.github.io", "alice.github.io"),
            ("https://github.io", "github.io"),
            ("https://xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("http://printer", "printer"),
            ("http://192.168.1.5:8080", "192.168.1.5"),
            ("http://[2001:db8::1]:8080", "2001:db8:0:0::/64"),
            ("http://[2001:db8::ff]", "2001:db8:0:0::/64"),
            ("http://localhost:8080", "http://localhost:8080"),
            ("http://app.localhost:3000", "http://app.localhost:3000"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ] {
            let origin: Origin = origin.parse().unwrap();
            assert_eq!(Site::from(&origin), Site(site.to_owned()), "{origin}");
        }
    }
}
