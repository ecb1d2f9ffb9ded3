//! The names of installed servers' secrets.

use gangway_secrets::SecretName;

/// Their prefix, so that no other secret is mistaken for one.
pub(super) const START: &str = "mcp-";

/// The name of a server's secret, unique per server and input.
pub(super) fn name(id: &str, input: &str) -> String {
    let is_plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let upper: String = input
        .chars()
        .map(|c| c.to_ascii_uppercase())
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect();
    let hash = blake3::hash(format!("{id}\n{input}").as_bytes()).to_hex();
    // Without a hyphen after the last one, the part before it is the server's id.
    let readable = match upper == input {
        true => format!("{START}{id}-{upper}"),
        false => format!("{START}{id}-{upper}.{}", &hash[..8]),
    };
    match SecretName::parse(&readable) {
        Ok(_) => readable,
        Err(_) => format!("{START}{}", &hash[..40]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_secret_has_a_name_of_its_own() {
        assert_eq!(name("files", "API_KEY"), "mcp-files-API_KEY");
        let names = [
            name("a", "B_C"),
            name("a", "b_c"),
            name("a", "B-C"),
            name("a-b", "C"),
            name("a", "é"),
            name(&"x".repeat(64), "KEY"),
            name(&"x".repeat(64), "KEY2"),
        ];
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{names:?}");
        for name in &names {
            assert!(SecretName::parse(name).is_ok(), "{name}");
        }
    }
}
