//! Parts of responses: paths, ETags, ranges and common headers.

use std::borrow::Cow;

use axum::{
    body::{Body, HttpBody},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;

use gangway_http::cors::open_to_all;

/// Percent-decodes; `None` if the result is not UTF-8.
pub(super) fn decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let byte = match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        };
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok()
}

/// Percent-encodes a path segment.
pub(super) fn encoded(name: &str) -> String {
    let byte = |byte: u8| match byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    name.bytes().map(byte).collect()
}

/// Escapes non-ASCII characters of a script.
pub(super) fn ascii(script: &str) -> String {
    let mut plain = String::with_capacity(script.len());
    for letter in script.chars() {
        match letter.is_ascii() {
            true => plain.push(letter),
            false => {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    plain.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    plain
}

/// Escapes what would end the script element; inside string literals the escapes mean the same.
pub(super) fn unclosed(script: &str) -> Cow<'_, str> {
    let ends = |rest: &str| {
        let word = rest.get(.."</script".len());
        rest.starts_with("<!--") || word.is_some_and(|word| word.eq_ignore_ascii_case("</script"))
    };
    let mut safe = String::new();
    let mut from = 0;
    for (at, _) in script.match_indices('<') {
        if ends(&script[at..]) {
            safe.push_str(&script[from..=at]);
            safe.push('\\');
            from = at + 1;
        }
    }
    match from {
        0 => Cow::Borrowed(script),
        _ => Cow::Owned(safe + &script[from..]),
    }
}

/// Removes the body of a response, but keeps its length.
pub(super) fn headless(answer: &mut Response) {
    let body = std::mem::take(answer.body_mut());
    if let Some(size) = body.size_hint().exact() {
        let headers = answer.headers_mut();
        headers
            .entry(header::CONTENT_LENGTH)
            .or_insert(HeaderValue::from(size));
    }
}

/// Whether the client has this version.
pub(super) fn is_current(asked: &HeaderMap, tag: &str) -> bool {
    let lists = asked.get_all(header::IF_NONE_MATCH).iter();
    let mut tags = lists
        .filter_map(|list| list.to_str().ok())
        .flat_map(|list| list.split(','))
        .map(str::trim);
    tags.any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

/// The requested range; `None` for all. An error if it is not satisfiable.
pub(super) fn range(asked: &HeaderMap, tag: &str, size: u64) -> Result<Option<(u64, u64)>, ()> {
    let text = |name: HeaderName| asked.get(name).and_then(|value| value.to_str().ok());
    let Some(wanted) = text(header::RANGE).and_then(|range| range.strip_prefix("bytes=")) else {
        return Ok(None);
    };
    // The rest of another version must not be combined with this one.
    if text(header::IF_RANGE).is_some_and(|one| one != tag) {
        return Ok(None);
    }
    let Some((from, to)) = wanted.split_once('-') else {
        return Ok(None);
    };
    let (from, to) = (from.trim(), to.trim());
    // Several or invalid ranges may be answered with the whole file.
    let (Ok(from), Ok(to)) = (number(from), number(to)) else {
        return Ok(None);
    };
    let (first, last) = match (from, to) {
        (Some(from), Some(to)) if from > to => return Ok(None),
        (Some(from), to) => (from, to.unwrap_or(u64::MAX).min(size.saturating_sub(1))),
        (None, Some(0)) => return Err(()),
        (None, Some(last)) => (size.saturating_sub(last), size.saturating_sub(1)),
        (None, None) => return Ok(None),
    };
    match first < size {
        true => Ok(Some((first, last - first + 1))),
        false => Err(()),
    }
}

fn number(text: &str) -> Result<Option<u64>, ()> {
    match text.is_empty() {
        true => Ok(None),
        false if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().map(Some).map_err(|_| ())
        }
        false => Err(()),
    }
}

/// A body, or the requested range of it.
pub(super) fn part(body: Bytes, asked: &HeaderMap, tag: &str) -> Response {
    let size = body.len() as u64;
    match range(asked, tag, size) {
        Ok(None) => ([(header::ACCEPT_RANGES, "bytes")], body).into_response(),
        Ok(Some((from, length))) => {
            // Both are within the body, so they fit.
            let (from, length) = (from as usize, length as usize);
            let body = body.slice(from..from + length);
            ranged(Body::from(body), from as u64, length as u64, size)
        }
        Err(()) => unsatisfied(size),
    }
}

pub(super) fn ranged(body: Body, from: u64, length: u64, size: u64) -> Response {
    let last = from + length - 1;
    let headers = [
        (header::CONTENT_RANGE, format!("bytes {from}-{last}/{size}")),
        (header::CONTENT_LENGTH, length.to_string()),
    ];
    (StatusCode::PARTIAL_CONTENT, headers, body).into_response()
}

pub(super) fn unsatisfied(size: u64) -> Response {
    let headers = [(header::CONTENT_RANGE, format!("bytes */{size}"))];
    (StatusCode::RANGE_NOT_SATISFIABLE, headers).into_response()
}

/// A plain text response.
pub(super) fn plain(status: StatusCode, text: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (status, headers, text).into_response()
}

/// Common headers.
pub(super) fn finish(answer: &mut Response, opaque: bool) {
    let headers = answer.headers_mut();
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if opaque {
        for (name, value) in open_to_all() {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_ends_nowhere_but_at_its_end() {
        for (script, safe) in [
            ("", ""),
            ("a < b && c</d/", "a < b && c</d/"),
            ("'</script>'", "'<\\/script>'"),
            ("'</SCRipt ' + '<!--'", "'<\\/SCRipt ' + '<\\!--'"),
            (
                "<!--<!--</script</script",
                "<\\!--<\\!--<\\/script<\\/script",
            ),
            ("é</scrïpt</", "é</scrïpt</"),
        ] {
            assert_eq!(unclosed(script), safe);
        }
    }
}
