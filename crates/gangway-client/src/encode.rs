//! Encoding of names in URLs and in headers of MCP.

use base64::{Engine, prelude::BASE64_STANDARD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Percent-encodes a path segment or the value of a query parameter.
#[must_use]
pub fn in_url(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// The value of a header such as `Mcp-Name`: unchanged if it is visible ASCII, else in base64.
#[must_use]
pub fn in_header(name: &str) -> String {
    let plain = name.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && name.trim() == name;
    match plain {
        true => name.to_owned(),
        false => format!("=?base64?{}?=", BASE64_STANDARD.encode(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_ends_its_part_of_a_url() {
        assert_eq!(in_url("a/../b?x=1#é"), "a%2F%2E%2E%2Fb%3Fx%3D1%23%C3%A9");
    }

    #[test]
    fn a_header_holds_what_it_can_and_the_rest_in_base64() {
        assert_eq!(in_header("file:///a b"), "file:///a b");
        assert_eq!(in_header("é\n"), "=?base64?w6kK?=");
    }
}
