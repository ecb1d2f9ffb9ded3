//! JSON as a string literal in an inline script.

/// Appends JSON as a string literal; escapes everything that could end the string, the script or the line.
pub(super) fn push_text(script: &mut String, json: &str) {
    let special = |c: char| matches!(c, '\'' | '\\' | '<' | '\u{2028}' | '\u{2029}');
    script.push('\'');
    let mut from = 0;
    for (at, found) in json.match_indices(special) {
        script.push_str(&json[from..at]);
        from = at + found.len();
        script.push_str(match found {
            "'" => "\\'",
            "\\" => "\\\\",
            "<" => "\\u003c",
            "\u{2028}" => "\\u2028",
            _ => "\\u2029",
        });
    }
    script.push_str(&json[from..]);
    script.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_data_ends_the_script_or_the_text_in_it() {
        let data = serde_json::json!({ "a": "</script><script>alert('1')</script><!-- \u{2028}\u{2029}é\n\"\\\u{0}" });
        let json = data.to_string();
        let mut script = String::new();
        push_text(&mut script, &json);
        let text = script
            .strip_prefix('\'')
            .and_then(|rest| rest.strip_suffix('\''));
        let text = text.unwrap();
        assert!(
            !text.contains(['<', '\u{2028}', '\u{2029}', '\n', '\0']),
            "{text}"
        );
        assert!(
            !text.replace("\\\\", "").replace("\\'", "").contains('\''),
            "{text}"
        );
        // Single quotes in the script are double quotes in JSON.
        let read = text.replace('"', "\\\"").replace("\\'", "'");
        assert_eq!(
            serde_json::from_str::<String>(&format!("\"{read}\"")).unwrap(),
            json
        );
    }
}
