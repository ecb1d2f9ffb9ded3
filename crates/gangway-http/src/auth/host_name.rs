//! The host that a request is for.

use axum::http::{HeaderMap, header};

/// The host of a request, in lower case and without port; `None` unless there is exactly one.
pub fn host(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(header::HOST).iter();
    let host = values.next()?.to_str().ok()?;
    // Two Host headers could name one host and mean another.
    let single = values.next().is_none();
    single.then(|| without_port(host).to_lowercase())
}

fn without_port(host: &str) -> &str {
    let after_address = host.rfind(']').unwrap_or(0);
    match host.rfind(':') {
        Some(colon) if colon > after_address => {
            let digits = host[colon + 1..].bytes().all(|byte| byte.is_ascii_digit());
            // Not a port, so not a valid host either.
            if digits { &host[..colon] } else { host }
        }
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_not_part_of_a_host_name() {
        for (host, name) in [
            ("localhost:3000", "localhost"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
            ("a.b", "a.b"),
        ] {
            assert_eq!(without_port(host), name);
        }
    }
}
