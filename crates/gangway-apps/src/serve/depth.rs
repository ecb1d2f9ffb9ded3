//! Detects deeply nested scripts without parsing them: a parser takes too long for them.

/// Nested brackets; people write ten, generators some dozens.
const BRACKETS: usize = 256;

/// Angle brackets that are not closed before the statement ends.
const ANGLES: usize = 64;

/// Bytes of a string literal that are scanned.
const TEXT: usize = 4096;

/// Whether a script is nested deeper than any real one.
pub(super) fn too_deep(source: &str) -> bool {
    let bytes = source.as_bytes();
    let (mut open, mut angles, mut at) = (Vec::new(), 0usize, 0);
    while let Some(byte) = bytes.get(at).copied() {
        at += 1;
        match byte {
            b'"' | b'\'' => at += quoted(&bytes[at..], byte),
            b'/' if bytes.get(at) == Some(&b'/') => {
                let line = bytes[at..].iter().position(|byte| *byte == b'\n');
                at = line.map_or(bytes.len(), |end| at + end);
            }
            b'(' | b'[' => open.push(byte),
            b'{' => {
                open.push(byte);
                angles = 0;
            }
            b')' => close(&mut open, b'('),
            b']' => close(&mut open, b'['),
            b'}' => {
                close(&mut open, b'{');
                angles = 0;
            }
            b';' => angles = 0,
            b'<' => angles += 1,
            b'>' => angles = angles.saturating_sub(1),
            _ => {}
        }
        if open.len() > BRACKETS || angles > ANGLES {
            return true;
        }
    }
    false
}

/// Closes a bracket, with unclosed ones in it: they are part of a literal or an expression.
fn close(open: &mut Vec<u8>, bracket: u8) {
    if let Some(at) = open.iter().rposition(|one| *one == bracket) {
        open.truncate(at);
    }
}

/// The length of a string literal; 0 for a quote without an end on its line.
fn quoted(rest: &[u8], quote: u8) -> usize {
    // Bounded, so that a line of quotes does not take quadratic time.
    let rest = &rest[..rest.len().min(TEXT)];
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\n' => return 0,
            b'\\' => at += 2,
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_extreme_nesting_is_too_deep() {
        for deep in ["(a=", "[", "{", "f<", "f<\n", "a(`${", "'x'("] {
            assert!(too_deep(&deep.repeat(300)), "{deep}");
        }
        for fine in [
            "f(a[0], {b: 1});",
            "if (a < b) { c() }",
            "x = '(((((('; ",
            "// ((((\n",
            "y = /[\"(]/;\n",
            "<div><p>{x}</p></div>;",
            "a < b;",
            "'\\'(((';",
        ] {
            assert!(!too_deep(&fine.repeat(1000)), "{fine}");
        }
    }
}
