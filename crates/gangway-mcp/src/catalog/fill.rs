//! Inputs put where they belong, so that an offer becomes something to install.

use std::{collections::BTreeMap, fmt};

use super::{
    offer::{Offer, Wanted},
    template::{LONGEST, SECRET, Template},
};
use crate::package::Package;

/// Something to install.
#[derive(Clone, PartialEq)]
pub struct Filled {
    /// The package, where it is one.
    pub package: Option<Package>,
    /// The program of the package that is the server, where it is not the one of its name.
    pub command: Option<String>,
    /// What the program is given.
    pub args: Vec<String>,
    /// What is added to its environment.
    pub env: BTreeMap<String, String>,
    /// The URL, where it runs elsewhere.
    pub url: Option<String>,
    /// Sent along with every request.
    pub headers: BTreeMap<String, String>,
    /// The secrets by the names of their inputs. Everywhere else `${secret:NAME}` stands for them.
    pub secrets: BTreeMap<String, String>,
}

impl Filled {
    /// A package alone.
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
    // Values may be secret even where nobody said so.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Filled({:?})", self.package)
    }
}

/// What is wrong with inputs. No value is repeated: it may be secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadInput {
    /// Some are missing.
    #[error("these inputs are missing: {}", .0.join(", "))]
    Missing(Vec<String>),
    /// There is none of this name.
    #[error("there is no input {name:?}; there is {known}")]
    Unknown {
        /// What was given.
        name: String,
        /// What there is.
        known: String,
    },
    /// It is none of the choices.
    #[error("{name} must be one of {choices}")]
    Choice {
        /// The input.
        name: String,
        /// The choices.
        choices: String,
    },
    /// It cannot be put anywhere.
    #[error(
        "{0} cannot be used: it has control characters in it, is longer than 16384 bytes or begins to name a secret"
    )]
    Text(String),
}

impl Offer {
    /// The package, where it is one.
    #[must_use]
    pub fn package(&self) -> Option<&Package> {
        self.recipe.package.as_ref()
    }

    /// Puts inputs where they belong; `name` gives each secret the name under which it is kept.
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

    /// Every input that has a value, given or by default.
    fn values<'a>(
        &'a self,
        given: &BTreeMap<String, String>,
    ) -> Result<Vec<(&'a Wanted, String)>, BadInput> {
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

fn check(wanted: &Wanted, value: &str) -> Result<String, BadInput> {
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
    /// The text, or nothing when it has places and none of them is filled.
    fn text(&self, template: &Template) -> Result<Option<String>, BadInput> {
        let (text, any) = template.fill(|name| self.shown.get(name).map(String::as_str));
        // Harmless pieces must not make a reference to a secret together.
        for stand_in in ["", "x"] {
            let without = |name: &str| match self.secrets.contains_key(name) {
                true => Some(stand_in),
                false => self.shown.get(name).map(String::as_str),
            };
            if template.fill(without).0.contains(SECRET) {
                return Err(BadInput::Text("what the inputs make together".into()));
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
