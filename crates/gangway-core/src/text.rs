//! Characters that can deceive a reader or control a terminal.

/// Whether a character is invisible, changes how those around it are read, or controls a terminal: C0 and C1 controls,
/// bidirectional controls, format and private-use characters. Joiners are allowed, since some languages cannot be
/// written without them.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Sanitizes a text for a terminal: hidden characters except line breaks and tabs become U+FFFD.
#[must_use]
pub fn for_terminal(text: &str) -> String {
    text.replace(
        |c: char| is_hidden(c) && !matches!(c, '\n' | '\t'),
        "\u{fffd}",
    )
}

/// Escapes the hidden characters of JSON text without changing its value.
#[must_use]
pub fn escaped_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    let mut units = [0; 2];
    for c in json.chars() {
        // Line breaks occur between tokens; inside strings such controls are escaped already.
        if c < ' ' || !is_hidden(c) {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut units) {
            escaped.push_str(&format!("\\u{unit:04x}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_interprets_or_that_reorders_text_is_left() {
        let text = "a\tb\n\u{1b}[2J\r\u{9b}1m\u{202e}gnp.exe é 日本 می‌خواهم";
        let expected = "a\tb\n\u{fffd}[2J\u{fffd}\u{fffd}1m\u{fffd}gnp.exe é 日本 می‌خواهم";
        assert_eq!(for_terminal(text), expected);
    }

    #[test]
    fn escaped_json_has_the_same_value_and_no_hidden_characters() {
        let value = serde_json::json!({ "a": "\u{9b}1m\u{202e}x\u{e0041}é\u{7f}\u{1b}" });
        let escaped = escaped_json(&value.to_string());
        assert!(!escaped.contains(is_hidden), "{escaped}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&escaped).unwrap(),
            value
        );
    }
}
