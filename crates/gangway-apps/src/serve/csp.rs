//! Content-Security-Policy: admits our own script and connections without loosening the rest.

use std::fmt;

/// The policies of a header; all of them apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Csp {
    policies: Vec<Vec<Directive>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Directive {
    name: String,
    sources: Vec<String>,
}

impl Csp {
    /// Parses a header's value; invalid parts are kept.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let policies = text.split(',').map(|policy| {
            let directives = policy.split(';').filter_map(|directive| {
                let mut message = directive.split_ascii_whitespace().map(str::to_owned);
                Some(Directive {
                    name: message.next()?,
                    sources: message.collect(),
                })
            });
            directives.collect()
        });
        Self {
            policies: policies
                .filter(|policy: &Vec<_>| !policy.is_empty())
                .collect(),
        }
    }

    /// Allows a script element with this nonce.
    pub fn admit_script(&mut self, nonce: &str) {
        for policy in &mut self.policies {
            let Some((at, exact)) = effective(policy, &["script-src-elem", "script-src"]) else {
                continue;
            };
            if allows_inline(&policy[at].sources) {
                // A nonce would disable 'unsafe-inline', and the page's own scripts with it.
                continue;
            }
            let nonce = format!("'nonce-{nonce}'");
            own(policy, at, exact, "script-src", |_| true).add(nonce);
        }
    }

    /// Allows the page to connect to these origins.
    pub fn admit_connections(&mut self, origins: &[String]) {
        for policy in &mut self.policies {
            let Some((at, exact)) = effective(policy, &["connect-src"]) else {
                continue;
            };
            // Script keywords mean nothing here.
            let stored =
                |source: &str| !source.starts_with('\'') || source.eq_ignore_ascii_case("'self'");
            let connect = own(policy, at, exact, "connect-src", stored);
            for origin in origins {
                connect.add(origin.clone());
            }
        }
    }
}

/// The directive that applies, and whether it has one of these names rather than being the default.
fn effective(policy: &[Directive], names: &[&str]) -> Option<(usize, bool)> {
    let find = |name: &str| {
        let is = |directive: &Directive| directive.name.eq_ignore_ascii_case(name);
        // Of two with the same name, browsers use the first.
        policy.iter().position(is)
    };
    match names.iter().find_map(|name| find(name)) {
        Some(at) => Some((at, true)),
        None => find("default-src").map(|at| (at, false)),
    }
}

/// The directive itself, or a copy of the default under its own name, so that the default is not changed.
fn own<'a>(
    policy: &'a mut Vec<Directive>,
    at: usize,
    exact: bool,
    name: &str,
    stored: impl Fn(&str) -> bool,
) -> &'a mut Directive {
    if exact {
        return &mut policy[at];
    }
    let sources = policy[at].sources.iter().filter(|source| stored(source));
    let copy = Directive {
        name: name.to_owned(),
        sources: sources.cloned().collect(),
    };
    policy.push(copy);
    let last = policy.len() - 1;
    &mut policy[last]
}

/// Whether inline scripts without a nonce are allowed.
fn allows_inline(sources: &[String]) -> bool {
    let lower: Vec<String> = sources.iter().map(|s| s.to_ascii_lowercase()).collect();
    let stricter = |source: &String| {
        ["'nonce-", "'sha256-", "'sha384-", "'sha512-"]
            .iter()
            .any(|start| source.starts_with(start))
            || source == "'strict-dynamic'"
    };
    lower.iter().any(|source| source == "'unsafe-inline'") && !lower.iter().any(stricter)
}

impl Directive {
    fn add(&mut self, source: String) {
        // 'none' is ignored beside other sources, with a warning.
        self.sources
            .retain(|source| !source.eq_ignore_ascii_case("'none'"));
        if !self.sources.contains(&source) {
            self.sources.push(source);
        }
    }
}

impl fmt::Display for Csp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, policy) in self.policies.iter().enumerate() {
            if nth > 0 {
                f.write_str(", ")?;
            }
            for (nth, directive) in policy.iter().enumerate() {
                if nth > 0 {
                    f.write_str("; ")?;
                }
                f.write_str(&directive.name)?;
                for source in &directive.sources {
                    write!(f, " {source}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> String {
        let mut csp = Csp::parse(text);
        csp.admit_script("N");
        csp.to_string()
    }

    fn connect(text: &str) -> String {
        let mut csp = Csp::parse(text);
        csp.admit_connections(&["ws://a.localhost:1".to_owned()]);
        csp.to_string()
    }

    #[test]
    fn a_nonce_goes_to_the_directive_that_decides_about_script_elements() {
        for (before, after) in [
            ("", ""),
            ("img-src 'self'", "img-src 'self'"),
            ("script-src 'self'", "script-src 'self' 'nonce-N'"),
            ("SCRIPT-SRC 'NONE'", "SCRIPT-SRC 'nonce-N'"),
            (
                "script-src 'self'; script-src-elem a.example",
                "script-src 'self'; script-src-elem a.example 'nonce-N'",
            ),
            (
                "default-src 'self'; img-src *",
                "default-src 'self'; img-src *; script-src 'self' 'nonce-N'",
            ),
            (
                "default-src 'none'",
                "default-src 'none'; script-src 'nonce-N'",
            ),
            (
                "script-src 'nonce-abc' 'strict-dynamic'; require-trusted-types-for 'script'",
                "script-src 'nonce-abc' 'strict-dynamic' 'nonce-N'; require-trusted-types-for 'script'",
            ),
        ] {
            assert_eq!(script(before), after, "{before}");
        }
    }

    #[test]
    fn a_nonce_never_switches_unsafe_inline_off() {
        for same in [
            "script-src 'self' 'unsafe-inline'",
            "default-src * 'Unsafe-Inline'",
            "script-src 'none'; script-src-elem 'unsafe-inline'",
        ] {
            assert_eq!(script(same), same);
        }
        // Already disabled by something else.
        assert_eq!(
            script("script-src 'unsafe-inline' 'sha256-abc'"),
            "script-src 'unsafe-inline' 'sha256-abc' 'nonce-N'"
        );
    }

    #[test]
    fn every_one_of_several_policies_admits_it_since_all_must() {
        assert_eq!(
            script("script-src 'self', default-src 'none';"),
            "script-src 'self' 'nonce-N', default-src 'none'; script-src 'nonce-N'"
        );
    }

    #[test]
    fn the_channel_is_added_and_nothing_else_is_loosened() {
        for (before, after) in [
            ("script-src 'self'", "script-src 'self'"),
            ("connect-src 'none'", "connect-src ws://a.localhost:1"),
            (
                "connect-src 'self' https://api.example",
                "connect-src 'self' https://api.example ws://a.localhost:1",
            ),
            (
                "default-src 'self' 'unsafe-inline' 'nonce-x' data:",
                "default-src 'self' 'unsafe-inline' 'nonce-x' data:; connect-src 'self' data: ws://a.localhost:1",
            ),
            (
                "connect-src ws://a.localhost:1",
                "connect-src ws://a.localhost:1",
            ),
        ] {
            assert_eq!(connect(before), after, "{before}");
        }
    }
}
