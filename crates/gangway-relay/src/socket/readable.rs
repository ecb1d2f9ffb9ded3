//! Validates JSON that is forwarded unparsed: the page, the agents and the study log must be able to parse it.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

/// With fewer brackets and digits, JSON can neither be too deep nor have a number that is too long.
const FEW: usize = 100;

/// Whether JSON is certainly valid for every parser, by a quick scan of its bytes. True for most messages, which saves
/// parsing them.
pub fn is_plain(text: &str) -> bool {
    // Without an early exit, so that it vectorizes.
    let bytes = text.as_bytes();
    let brackets = bytes.iter().filter(|b| matches!(b, b'[' | b'{')).count();
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    let odd = pairs.fold(false, |odd, (a, b)| {
        let escape = (*a == b'\\') & (*b == b'u');
        let exponent = a.is_ascii_digit() & (*b | 0x20 == b'e');
        odd | escape | exponent
    });
    brackets < FEW && digits < FEW * 3 && !odd
}

/// JSON without anything that common parsers reject: lone surrogates, numbers out of range, excessive nesting. The
/// value is discarded.
pub struct Readable;

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Readable;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_str<E>(self, _: &str) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_unit<E>(self) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Readable, A::Error> {
        while items.next_element::<Readable>()?.is_some() {}
        Ok(Readable)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Readable, A::Error> {
        while fields.next_entry::<Readable, Readable>()?.is_some() {}
        Ok(Readable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_of_json_would_refuse_is_found_wherever_it_stands() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        for bad in [
            r#"{"a":"\ud800"}"#.to_owned(),
            r#"{"\udfff":1}"#.into(),
            r#"[1e999]"#.into(),
            r#"{"a":-0.1E+999}"#.into(),
            "9".repeat(400),
            deep(128),
            deep(1000),
        ] {
            assert!(serde_json::from_str::<Readable>(&bad).is_err(), "{bad}");
            assert!(!is_plain(&bad), "{bad}");
            assert!(serde_json::from_str::<serde_json::Value>(&bad).is_err());
        }
        assert!(serde_json::from_str::<Readable>("[1").is_err());
        let message = r#"{"a":[1,-2,3.5e,null,true,"ä\n\"{}"]}"#;
        assert!(!is_plain(message) && is_plain(&message.replace("5e", "5")));
        for good in [
            r#"{"a":[1,-2,3.5,null,true,"ä\ud83d\ude00",{}]}"#.to_owned(),
            "18446744073709551616".into(),
            deep(100),
        ] {
            assert!(serde_json::from_str::<Readable>(&good).is_ok(), "{good}");
        }
    }
}
