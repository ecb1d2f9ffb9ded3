//! Fills inputs into an offer.

use std::{collections::BTreeMap, fmt};

use super::{
    offer::{InputSpec, InstallOption},
    template::{LONGEST, SECRET, Template},
};
use crate::package::Package;

#[derive(Clone, PartialEq)]
pub struct Filled {
    pub package: Option<Package>,
    /// The program of the package that is the server, if not the one of the same name.
    pub command: Option<String>,
    pub args: Vec<String>,
    /// Added to its environment.
    pub env: BTreeMap<String, String>,
    /// The URL of a remote server.
    pub url: Option<String>,
    /// Sent with every request.
    pub headers: BTreeMap<String, String>,
    /// The secrets by input name. Elsewhere `${secret:NAME}` refers to them.
    pub secrets: BTreeMap<String, String>,
}

impl Filled {
    /// A package without inputs.
    #[must_use]
    pub fn package(package: Package) -> Self {
        Self {
            package: Some(package),
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            url: None,
            headers: BTreeMap::new(),
            secrets: BTreeMap::new(),
        }
    }
}

impl fmt::Debug for Filled {
    // Values may be secret even when not declared so.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Filled({:?})", self.package)
    }
}

/// Invalid inputs. Values are not repeated: they may be secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadInput {
    #[error("missing inputs: {}", .0.join(", "))]
    Missing(Vec<String>),
    #[error("unknown input {name:?}; known inputs: {known}")]
    Unknown { name: String, known: String },
    #[error("{name} must be one of {choices}")]
    Choice { name: String, choices: String },
    #[error(
        "{0} is invalid: it must have at most 16384 bytes, no control characters and no secret reference"
    )]
    Text(String),
}

impl InstallOption {
    #[must_use]
    pub fn package(&self) -> Option<&Package> {
        self.recipe.package.as_ref()
    }

    /// Fills in the inputs; `name` returns the name under which a secret is stored.
    pub fn fill(
        &self,
        given: &BTreeMap<String, String>,
        name: impl Fn(&str) -> String,
    ) -> Result<Filled, BadInput> {
        let values = self.values(given)?;
        let mut shown: BTreeMap<&str, String> = BTreeMap::new();
        let mut secrets = BTreeMap::new();
        for (wanted, value) in values {
            if wanted.secret {
                secrets.insert(wanted.name.clone(), value);
                let reference = format!("{SECRET}{}}}", name(&wanted.name));
                shown.insert(&wanted.name, reference);
            } else {
                shown.insert(&wanted.name, value);
            }
        }
        let filler = Filler {
            shown: &shown,
            secrets: &secrets,
        };
        let recipe = &self.recipe;
        let mut args = Vec::new();
        for arg in &recipe.args {
            let Some(value) = filler.text(&arg.value)? else {
                continue;
            };
            match (&arg.flag, arg.is_switch) {
                (Some(flag), true) => args.extend((value == "true").then(|| flag.clone())),
                (flag, _) => args.extend(flag.iter().cloned().chain([value])),
            }
        }
        let url = match recipe.url.0.is_empty() {
            true => None,
            false => filler.text(&recipe.url)?,
        };
        Ok(Filled {
            package: recipe.package.clone(),
            command: recipe.command.clone(),
            args,
            env: filler.pairs(&recipe.env)?,
            url,
            headers: filler.pairs(&recipe.headers)?,
            secrets,
        })
    }

    /// Every input with a value, given or default.
    fn values<'a>(
        &'a self,
        given: &BTreeMap<String, String>,
    ) -> Result<Vec<(&'a InputSpec, String)>, BadInput> {
        let is_known = |name: &String| self.inputs.iter().any(|wanted| wanted.name == *name);
        if let Some(name) = given.keys().find(|name| !is_known(name)) {
            let names: Vec<_> = self.inputs.iter().map(|i| i.name.as_str()).collect();
            let known = match names.is_empty() {
                true => "none".to_owned(),
                false => names.join(", "),
            };
            let name = name.chars().take(80).collect();
            return Err(BadInput::Unknown { name, known });
        }
        let (mut values, mut missing) = (Vec::new(), Vec::new());
        for wanted in &self.inputs {
            let value = given.get(&wanted.name).filter(|value| !value.is_empty());
            match value.or(wanted.default.as_ref()) {
                Some(value) => values.push((wanted, check(wanted, value)?)),
                None if wanted.required => missing.push(wanted.name.clone()),
                None => {}
            }
        }
        match missing.is_empty() {
            true => Ok(values),
            false => Err(BadInput::Missing(missing)),
        }
    }
}

fn check(wanted: &InputSpec, value: &str) -> Result<String, BadInput> {
    let bad = value.len() > LONGEST || value.chars().any(char::is_control);
    if bad || value.contains(SECRET) {
        return Err(BadInput::Text(wanted.name.clone()));
    }
    if !wanted.choices.is_empty() && !wanted.choices.iter().any(|choice| choice == value) {
        return Err(BadInput::Choice {
            name: wanted.name.clone(),
            choices: wanted.choices.join(", "),
        });
    }
    Ok(value.to_owned())
}

struct Filler<'a> {
    shown: &'a BTreeMap<&'a str, String>,
    secrets: &'a BTreeMap<String, String>,
}

impl Filler<'_> {
    /// The text, or `None` when it has placeholders and none of them is filled.
    fn text(&self, template: &Template) -> Result<Option<String>, BadInput> {
        let (text, any) = template.fill(|name| self.shown.get(name).map(String::as_str));
        // Harmless parts must not combine to a secret reference.
        for stand_in in ["", "x"] {
            let without = |name: &str| match self.secrets.contains_key(name) {
                true => Some(stand_in),
                false => self.shown.get(name).map(String::as_str),
            };
            if template.fill(without).0.contains(SECRET) {
                return Err(BadInput::Text("the combination of the inputs".into()));
            }
        }
        let is_settled = template.inputs().next().is_none();
        Ok((any || is_settled).then_some(text))
    }

    fn pairs(&self, pairs: &[(String, Template)]) -> Result<BTreeMap<String, String>, BadInput> {
        let mut filled = BTreeMap::new();
        for (name, template) in pairs {
            if let Some(text) = self.text(template)? {
                filled.insert(name.clone(), text);
            }
        }
        Ok(filled)
    }
}
