//! Templates with placeholders for inputs.

/// Refers to a secret in an entry; in untrusted text it would reveal one.
pub(super) const SECRET: &str = "${secret:";

/// The longest text of an entry or an input.
pub(super) const LONGEST: usize = 16 << 10;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Template(pub(super) Vec<TemplatePart>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplatePart {
    Plain(String),
    Input(String),
}

impl Template {
    /// A single placeholder.
    pub(super) fn input(name: &str) -> Self {
        Self(vec![TemplatePart::Input(name.to_owned())])
    }

    /// Parses `{name}` where `is_input` accepts the name. Anything else in braces is literal.
    pub(super) fn parse(text: &str, is_input: impl Fn(&str) -> bool) -> Self {
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            plain.push_str(before);
            match after.split_once('}') {
                Some((name, behind)) if is_input(name) => {
                    if !plain.is_empty() {
                        pieces.push(TemplatePart::Plain(std::mem::take(&mut plain)));
                    }
                    pieces.push(TemplatePart::Input(name.to_owned()));
                    rest = behind;
                }
                _ => {
                    plain.push('{');
                    rest = after;
                }
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(TemplatePart::Plain(plain));
        }
        Self(pieces)
    }

    pub(super) fn inputs(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            TemplatePart::Input(name) => Some(name.as_str()),
            TemplatePart::Plain(_) => None,
        })
    }

    /// Fills in values; also returns whether any placeholder was filled.
    pub(super) fn fill<'a>(&self, value: impl Fn(&str) -> Option<&'a str>) -> (String, bool) {
        let (mut text, mut any) = (String::new(), false);
        for piece in &self.0 {
            match piece {
                TemplatePart::Plain(plain) => text.push_str(plain),
                TemplatePart::Input(name) => {
                    if let Some(value) = value(name) {
                        text.push_str(value);
                        any = true;
                    }
                }
            }
        }
        (text, any)
    }

    /// For people: placeholders as `<name>`.
    pub(super) fn shown(&self) -> String {
        let piece = |piece: &TemplatePart| match piece {
            TemplatePart::Plain(plain) => plain.clone(),
            TemplatePart::Input(name) => format!("<{name}>"),
        };
        self.0.iter().map(piece).collect()
    }
}

/// Whether an untrusted text may be part of a command, a variable or a header.
pub(super) fn is_safe(text: &str) -> bool {
    text.len() <= LONGEST && !text.chars().any(char::is_control) && !text.contains(SECRET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_places_that_are_known_are_filled() {
        let text = "a{x}b{y}{\"json\": {x}} {";
        let template = Template::parse(text, |name| name == "x");
        assert_eq!(template.inputs().collect::<Vec<_>>(), ["x", "x"]);
        assert_eq!(template.shown(), "a<x>b{y}{\"json\": <x>} {");
        let filled = template.fill(|_| Some("1"));
        assert_eq!(filled, ("a1b{y}{\"json\": 1} {".to_owned(), true));
        assert!(!template.fill(|_| None).1);
    }
}
