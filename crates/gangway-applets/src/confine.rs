//! Keeps an applet from the network: headers of its document, and HTML without elements that connect or navigate.
//!
//! No browser closes everything by headers, so `confine.js` does in the page what `without_ways_out` does here.

use axum::http::{HeaderName, HeaderValue, header};

/// Elements that embed another document, connect or navigate, with harmless replacements: void elements for void
/// elements.
const CLOSED: [(&str, &str); 9] = [
    ("iframe", "blocked-iframe"),
    ("object", "blocked-object"),
    ("fencedframe", "blocked-fencedframe"),
    ("portal", "blocked-portal"),
    ("frame", "wbr"),
    ("embed", "wbr"),
    ("link", "wbr"),
    ("meta", "wbr"),
    ("base", "wbr"),
];

/// Browser features that reach beyond the frame.
const FEATURES: [&str; 12] = [
    "bluetooth",
    "camera",
    "display-capture",
    "geolocation",
    "hid",
    "identity-credentials-get",
    "microphone",
    "midi",
    "payment",
    "publickey-credentials-get",
    "serial",
    "usb",
];

/// Replaces elements that connect or navigate by harmless ones.
pub(super) fn without_ways_out(html: &str) -> String {
    let mut clean = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        let (before, tag) = rest.split_at(open + 1);
        clean.push_str(before);
        let end = tag
            .find(|c: char| c <= ' ' || c == '/' || c == '>')
            .unwrap_or(tag.len());
        let (name, after) = tag.split_at(end);
        let closed = CLOSED.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        match closed {
            Some((_, instead)) => {
                clean.push_str(instead);
                rest = after;
            }
            None => rest = tag,
        }
    }
    clean.push_str(rest);
    clean
}

/// The headers of an applet's document, which may load the library and URLs that begin with `files`.
pub(super) fn headers(host: Option<&str>, files: &str) -> Vec<(HeaderName, HeaderValue)> {
    // In a frame without an origin, not every browser accepts `'self'` for the server; the guard has checked the host.
    let places: Vec<String> = ["http", "https"]
        .iter()
        .flat_map(|scheme| host.map(|host| format!("{scheme}://{host}")))
        .collect();
    let sources = |paths: &[&str]| -> String {
        let all = places
            .iter()
            .flat_map(|place| paths.iter().map(move |path| format!("{place}{path}")));
        all.collect::<Vec<_>>().join(" ")
    };
    let files = format!("{files}/");
    let (own, scripts, styles) = (
        sources(&[&files]),
        sources(&[&files, "/applet.js", "/applet.global.js"]),
        sources(&[&files, "/applet.css"]),
    );
    let policy = format!(
        "sandbox allow-scripts allow-forms allow-modals allow-downloads; default-src 'none'; \
         script-src 'unsafe-inline' blob: {scripts}; worker-src blob:; style-src 'unsafe-inline' {styles}; \
         img-src data: blob: {own}; font-src data: {own}; media-src data: blob: {own}; connect-src 'none'; frame-src 'none'; \
         form-action 'none'; base-uri 'none'; frame-ancestors 'self'; \
         require-trusted-types-for 'script'; trusted-types default"
    );
    // Covers WebRTC, DNS prefetch and preconnect in browsers that support it.
    let reachable: Vec<String> = places
        .iter()
        .flat_map(|place| {
            let frame = files.replace("/files/", "/*");
            [frame, "/applet.*".to_owned()].map(|path| format!("\"{place}{path}\""))
        })
        .collect();
    let features = FEATURES.map(|feature| format!("{feature}=()")).join(", ");
    let named = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (
            HeaderName::from_static("connection-allowlist"),
            format!("({})", reachable.join(" ")),
        ),
        (HeaderName::from_static("permissions-policy"), features),
        (header::X_DNS_PREFETCH_CONTROL, "off".to_owned()),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN".to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    let made = named
        .into_iter()
        .filter_map(|(name, value)| Some((name, HeaderValue::from_str(&value).ok()?)));
    made.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_lead_out_are_replaced_however_they_are_written() {
        for (html, clean) in [
            ("<p>a < b</p>", "<p>a < b</p>"),
            ("<iframes><linked>", "<iframes><linked>"),
            (
                "<iframe srcdoc=x></iframe>",
                "<blocked-iframe srcdoc=x></iframe>",
            ),
            ("<IFrame/src=x>", "<blocked-iframe/src=x>"),
            ("<link\nrel=preconnect>", "<wbr\nrel=preconnect>"),
            (
                "<meta\u{c}http-equiv=refresh>",
                "<wbr\u{c}http-equiv=refresh>",
            ),
            ("<<base href=x>", "<<wbr href=x>"),
            ("<embed", "<wbr"),
            ("<object><p>é</p>", "<blocked-object><p>é</p>"),
        ] {
            assert_eq!(without_ways_out(html), clean);
        }
    }
}
