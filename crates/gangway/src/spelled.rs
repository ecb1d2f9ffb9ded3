//! Words as addresses and headers carry them.

use base64::{Engine, prelude::BASE64_STANDARD};

/// Words as part of a URL.
pub(crate) fn in_url(words: &str) -> String {
    let byte = |byte: u8| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    words.bytes().map(byte).collect()
}

/// What part of a URL spells, if it is text.
pub(crate) fn from_url(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut spelled = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        };
        spelled.push(byte);
    }
    String::from_utf8(spelled).ok()
}

/// A name as a header of MCP can carry it.
pub(crate) fn in_header(name: &str) -> String {
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
        assert_eq!(from_url(&in_url("a/../b?x=1#é")).unwrap(), "a/../b?x=1#é");
        assert_eq!(from_url("%2"), None);
    }

    #[test]
    fn a_header_holds_what_it_can_and_the_rest_in_base64() {
        assert_eq!(in_header("file:///a b"), "file:///a b");
        assert_eq!(in_header("é\n"), "=?base64?w6kK?=");
    }
}
