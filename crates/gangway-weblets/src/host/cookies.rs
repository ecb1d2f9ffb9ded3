//! Cookies of an app's host.

use axum::http::{HeaderMap, header};
use gangway_core::AppName;

use crate::Weblets;

/// Cookie lifetime in seconds: 400 days, the browsers' maximum and longer than any launch.
const KNOWN_FOR: u64 = 400 * 24 * 3600;

/// Cookies of one name that are checked.
const COOKIES: usize = 4;

/// All cookies of this name; in a frame there may be a partitioned one beside the browser's.
pub(super) fn cookies(headers: &HeaderMap, name: &str) -> Vec<String> {
    let all = headers.get_all(header::COOKIE).iter();
    let pairs = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let values = pairs.filter(|(found, _)| *found == name);
    values
        .map(|(_, value)| value.to_owned())
        .take(COOKIES)
        .collect()
}

pub(super) fn set_cookie(
    weblets: &Weblets,
    name: &str,
    of: &AppName,
    value: &str,
    headers: &HeaderMap,
) -> String {
    let path = format!("{}/", weblets.http.addresses.prefix(of));
    let framed = headers
        .get("sec-fetch-dest")
        .is_some_and(|dest| dest == "iframe");
    let kind = match (framed, weblets.http.addresses.is_secure()) {
        // Browsers reject unpartitioned cookies in frames of other sites.
        (true, _) => "; SameSite=None; Secure; Partitioned",
        (false, true) => "; SameSite=Lax; Secure",
        (false, false) => "; SameSite=Lax",
    };
    format!("{name}={value}; Path={path}; Max-Age={KNOWN_FOR}; HttpOnly{kind}")
}
