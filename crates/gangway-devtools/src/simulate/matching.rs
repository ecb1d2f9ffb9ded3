//! Compares values with expected ones.

use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// Objects may have further keys.
    Part,
    /// Exact match.
    Whole,
}

/// Maximum number of reported differences.
const MOST: usize = 20;

/// Length limit of a reported value.
const SHOWN: usize = 200;

/// The differences between `given` and `wanted`; empty if it matches. A string such as `<number>` matches any value of
/// that type, and `<any>` any value.
pub(super) fn differences(wanted: &Value, given: &Value, fit: Fit) -> Vec<String> {
    let mut found = Vec::new();
    compare(wanted, given, fit, &mut String::new(), &mut found);
    found.truncate(MOST);
    found
}

/// Whether a placeholder matches; `None` if it is not a placeholder.
fn admits(wanted: &Value, given: &Value) -> Option<bool> {
    Some(match wanted.as_str()? {
        "<any>" => true,
        "<string>" => given.is_string(),
        "<number>" => given.is_number(),
        "<boolean>" => given.is_boolean(),
        "<array>" => given.is_array(),
        "<object>" => given.is_object(),
        _ => return None,
    })
}

fn compare(wanted: &Value, given: &Value, fit: Fit, path: &mut String, found: &mut Vec<String>) {
    if found.len() > MOST {
        return;
    }
    let long = path.len();
    match (wanted, given) {
        (Value::Object(wanted), Value::Object(given)) => {
            for (key, value) in wanted {
                path.push('.');
                path.push_str(key);
                match given.get(key) {
                    Some(there) => compare(value, there, fit, path, found),
                    None => found.push(format!("- {}: {}", at(path), shown(value))),
                }
                path.truncate(long);
            }
            if fit == Fit::Whole {
                for (key, value) in given.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
                    path.push('.');
                    path.push_str(key);
                    found.push(format!("+ {}: {}", at(path), shown(value)));
                    path.truncate(long);
                }
            }
        }
        (Value::Array(wanted), Value::Array(given)) => {
            for (n, value) in wanted.iter().enumerate() {
                path.push_str(&format!("[{n}]"));
                match given.get(n) {
                    Some(there) => compare(value, there, fit, path, found),
                    None => found.push(format!("- {}: {}", at(path), shown(value))),
                }
                path.truncate(long);
            }
            for (n, value) in given.iter().enumerate().skip(wanted.len()) {
                found.push(format!("+ {}[{n}]: {}", at(path), shown(value)));
            }
        }
        _ => {
            let same = admits(wanted, given).unwrap_or_else(|| equal(wanted, given));
            if !same {
                found.push(format!("- {}: {}", at(path), shown(wanted)));
                found.push(format!("+ {}: {}", at(path), shown(given)));
            }
        }
    }
}

/// YAML and JSON write the same number in more than one way.
fn equal(wanted: &Value, given: &Value) -> bool {
    match (wanted.as_f64(), given.as_f64()) {
        (Some(wanted), Some(given)) => wanted == given,
        _ => wanted == given,
    }
}

fn at(path: &str) -> &str {
    match path.trim_start_matches('.') {
        "" => "the whole value",
        path => path,
    }
}

/// Truncated for people.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_may_have_more_around_it_and_the_whole_may_not() {
        let (wanted, given) = (
            json!({"a": {"b": 1}}),
            json!({"a": {"b": 1.0, "c": 2}, "d": 3}),
        );
        assert!(differences(&wanted, &given, Fit::Part).is_empty());
        let more = differences(&wanted, &given, Fit::Whole);
        assert_eq!(more, ["+ a.c: 2", "+ d: 3"]);
    }

    #[test]
    fn differences_say_where_they_are() {
        let wanted = json!({"list": [1, {"x": "a"}], "gone": true});
        let given = json!({"list": [1, {"x": "b"}, 3]});
        let mut message = differences(&wanted, &given, Fit::Part);
        // The order of fields depends on features of serde_json.
        message.sort();
        let expected = [
            "+ list[1].x: \"b\"",
            "+ list[2]: 3",
            "- gone: true",
            "- list[1].x: \"a\"",
        ];
        assert_eq!(message, expected);
        let message = differences(&json!(1), &json!("1"), Fit::Part);
        assert_eq!(
            message,
            ["- the whole value: 1", "+ the whole value: \"1\""]
        );
    }

    #[test]
    fn a_placeholder_stands_for_any_value_of_its_kind() {
        let wanted = json!({"s": "<string>", "n": "<number>", "x": "<any>", "l": "<array>"});
        let good = json!({"s": "a", "n": 4, "x": null, "l": []});
        assert!(differences(&wanted, &good, Fit::Whole).is_empty());
        let bad = json!({"s": 1, "n": "4", "x": {}, "l": {}});
        assert_eq!(differences(&wanted, &bad, Fit::Whole).len(), 6);
        assert!(differences(&json!("<other>"), &json!("a"), Fit::Part).len() == 2);
    }

    #[test]
    fn long_values_and_long_lists_are_cut() {
        let given = json!((0..100).map(|n| "x".repeat(n * 10)).collect::<Vec<_>>());
        let message = differences(&json!([]), &given, Fit::Part);
        assert_eq!(message.len(), MOST);
        assert!(differences(&json!(1), &json!("é".repeat(900)), Fit::Part)[1].len() < 500);
    }
}
