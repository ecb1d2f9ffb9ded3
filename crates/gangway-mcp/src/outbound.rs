//! Outbound connections and their restrictions.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
    time::Duration,
};

use futures_util::future::BoxFuture;
use reqwest::{Url, dns};
use tower::{BoxError, filter::FilterLayer};

use crate::{address::is_public, spec::UrlPolicy};

/// The connect timeout.
const CONNECT: Duration = Duration::from_secs(10);

pub trait Resolve: Send + Sync {
    fn resolve(&self, name: String) -> BoxFuture<'_, io::Result<Vec<IpAddr>>>;

    /// Called before each connection; an error prevents it.
    fn connecting(&self) -> io::Result<()> {
        Ok(())
    }

    /// Where to connect for a resolved and checked address; tests redirect it.
    fn found_at(&self, address: IpAddr) -> IpAddr {
        address
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: String) -> BoxFuture<'_, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            // These always mean this machine, but not every system resolves them.
            let lower = name.trim_end_matches('.').to_ascii_lowercase();
            if lower == "localhost" || lower.ends_with(".localhost") {
                return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
            }
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("invalid URL: {0}")]
    NoUrl(String),
    #[error("the URL must begin with http:// or https:// and contain no password")]
    Kind,
    #[error("the URL leads to an address that is not on the public internet")]
    Private,
}

/// Checks a URL as written. Names are checked when they are resolved.
pub(crate) fn check(url: &str, policy: UrlPolicy) -> Result<Url, UrlError> {
    let url = Url::parse(url).map_err(|error| UrlError::NoUrl(error.to_string()))?;
    let host = url.host_str().unwrap_or_default();
    if !["http", "https"].contains(&url.scheme()) || host.is_empty() {
        return Err(UrlError::Kind);
    }
    if policy == UrlPolicy::PublicOnly {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Kind);
        }
        // The parser has normalized all spellings of an address.
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if bare.parse::<IpAddr>().is_ok_and(|ip| !is_public(ip)) {
            return Err(UrlError::Private);
        }
    }
    Ok(url)
}

/// A URL from a page, and its policy: the public internet, and for a page that is served from this machine also other
/// local ports, except Gangway's own.
pub fn for_page(url: &str, origin: &str, own: &[u16]) -> Result<(String, UrlPolicy), UrlError> {
    let parsed = check(url, UrlPolicy::Any)?;
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(UrlError::Kind);
    }
    if is_near(&parsed) {
        let page = Url::parse(origin).ok();
        let same = parsed.origin().ascii_serialization() == origin;
        let ours = parsed
            .port_or_known_default()
            .is_some_and(|port| own.contains(&port));
        // A name of this machine is as private as its address.
        return match same || (!ours && page.is_some_and(|page| is_near(&page))) {
            true => Ok((parsed.into(), UrlPolicy::Any)),
            false => Err(UrlError::Private),
        };
    }
    let parsed = check(url, UrlPolicy::PublicOnly)?;
    Ok((parsed.into(), UrlPolicy::PublicOnly))
}

fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let bare = bare.trim_end_matches('.');
    bare == "localhost"
        || bare.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Returns only checked addresses to the connector, so that DNS rebinding has no effect.
struct Checked(Arc<dyn Resolve>);

impl dns::Resolve for Checked {
    fn resolve(&self, name: dns::Name) -> dns::Resolving {
        let resolver = self.0.clone();
        Box::pin(async move {
            let found = resolver.resolve(name.as_str().to_owned()).await?;
            if found.is_empty() || !found.iter().all(|ip| is_public(*ip)) {
                return Err(UrlError::Private.into());
            }
            let found = found
                .into_iter()
                .map(|ip| (resolver.found_at(ip), 0).into());
            let addresses: dns::Addrs = Box::new(found.collect::<Vec<_>>().into_iter());
            Ok(addresses)
        })
    }
}

struct UncheckedResolver(Arc<dyn Resolve>);

impl dns::Resolve for UncheckedResolver {
    fn resolve(&self, name: dns::Name) -> dns::Resolving {
        let resolver = self.0.clone();
        Box::pin(async move {
            let found = resolver.resolve(name.as_str().to_owned()).await?;
            let addresses: dns::Addrs = Box::new(found.into_iter().map(|ip| (ip, 0).into()));
            Ok(addresses)
        })
    }
}

pub(crate) fn client(
    policy: UrlPolicy,
    resolver: Arc<dyn Resolve>,
) -> Result<reqwest::Client, String> {
    // Fails when it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let watcher = resolver.clone();
    let builder = reqwest::Client::builder()
        .connector_layer(FilterLayer::new(move |connection| {
            watcher.connecting()?;
            Ok::<_, BoxError>(connection)
        }))
        .connect_timeout(CONNECT)
        // A redirect could lead anywhere, and a message must not be sent twice.
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .user_agent(concat!("gangway/", env!("CARGO_PKG_VERSION")));
    let builder = match policy {
        UrlPolicy::Any => builder.dns_resolver(Arc::new(UncheckedResolver(resolver))),
        // A proxy would resolve names itself, unchecked.
        UrlPolicy::PublicOnly => builder.no_proxy().dns_resolver(Arc::new(Checked(resolver))),
    };
    builder.build().map_err(|error| error.to_string())
}

/// The error without the URL, which may contain a secret.
pub(crate) fn describe(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_private_address_is_refused() {
        // P17: no connection is made to any of these.
        let hosts = "127.0.0.1 127.1 127.0.1 127.255.255.254 0 0.0.0.0 2130706433 0x7f000001 0x7f.1 0x7F.0.0.1 \
            017700000001 0177.0.0.1 0177.1 0x7f.0x0.0x0.0x1 127.000.000.001 00000177.1 10.0.0.1 10.1 167772161 \
            0xa000001 012.0.0.1 172.16.0.1 172.31.255.255 0xac100001 192.168.0.1 192.168.257 3232235521 0xc0a80001 \
            169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518 100.64.0.1 100.100.100.200 \
            198.18.0.1 224.0.0.1 239.255.255.255 255.255.255.255 240.0.0.1 192.0.0.192 [::1] [::] [0:0:0:0:0:0:0:1] \
            [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:10.0.0.1] [::127.0.0.1] [fc00::1] [fd00:ec2::254] [fe80::1] \
            [ff02::1] [64:ff9b::127.0.0.1] [2002:7f00:1::] [2001:db8::1] [64:ff9b::a9fe:a9fe] \
            127.0.0.1. 127。0。0。1 １２７.０.０.１ ⑫7.0.0.1 %31%32%37.0.0.1 0x7f.0.0.1.";
        let hosts: Vec<&str> = hosts.split_whitespace().collect();
        assert!(hosts.len() >= 60, "{}", hosts.len());
        for host in hosts {
            for url in [
                format!("http://{host}/mcp"),
                format!("https://{host}:8080/"),
            ] {
                let refused = check(&url, UrlPolicy::PublicOnly);
                assert_eq!(refused, Err(UrlError::Private), "{url}");
            }
        }
        for url in [
            "https://example.com/mcp",
            "http://1.1.1.1/",
            "https://[2606:4700::1]/",
        ] {
            assert!(check(url, UrlPolicy::PublicOnly).is_ok(), "{url}");
        }
    }

    #[test]
    fn only_http_urls_without_a_password_are_taken_from_a_page() {
        for url in [
            "file:///etc/passwd",
            "ftp://example.com/",
            "gopher://1.1.1.1/",
            "https://a:b@example.com/",
            "data:text/plain,x",
            "http:///x y",
            "",
            "example.com",
            "http://",
            "http://256.256.256.256/",
            "http://1.2.3.4.5/",
        ] {
            assert!(check(url, UrlPolicy::PublicOnly).is_err(), "{url}");
        }
        assert!(check("http://127.0.0.1:3000/mcp", UrlPolicy::Any).is_ok());
    }
}
