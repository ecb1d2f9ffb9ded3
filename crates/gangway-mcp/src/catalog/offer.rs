//! The ways to install a listed server, each with its inputs.

use std::collections::BTreeMap;

use super::{
    listed::{Argument, Input, NamedInput, RegistryPackage, RegistryServer, Remote, shown},
    names,
    refusal::{Refusal, not_installed, runtime_command, safe},
    template::Template,
};
use crate::{
    outbound,
    package::{Ecosystem, Package},
    spec::UrlPolicy,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallOptionKind {
    Npm,
    Pypi,
    Remote,
    /// Not supported.
    Other,
}

/// A way to install a server.
#[derive(Debug, Clone, PartialEq)]
pub struct InstallOption {
    /// Unique among the offers of a server.
    pub key: String,
    pub kind: InstallOptionKind,
    /// The command or URL, for people.
    pub label: String,
    /// Why it cannot be installed.
    pub refusal: Option<String>,
    pub inputs: Vec<InputSpec>,
    pub(super) recipe: Recipe,
}

/// An input of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputSpec {
    pub name: String,
    pub place: InputLocation,
    pub description: Option<String>,
    pub required: bool,
    pub secret: bool,
    pub default: Option<String>,
    /// Allowed values; empty for any.
    pub choices: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputLocation {
    Env,
    Argument,
    Header,
    Url,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Recipe {
    pub(super) package: Option<Package>,
    /// The program of the package that is the server, if not the one of the same name.
    pub(super) command: Option<String>,
    pub(super) args: Vec<Arg>,
    pub(super) env: Vec<(String, Template)>,
    pub(super) url: Template,
    pub(super) headers: Vec<(String, Template)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arg {
    pub(super) flag: Option<String>,
    pub(super) value: Template,
    /// A flag without value, present when the input is `true`.
    pub(super) is_switch: bool,
}

impl RegistryServer {
    /// The offers of a server, with a policy for URLs.
    #[must_use]
    pub fn offers(&self, policy: UrlPolicy) -> Vec<InstallOption> {
        let packages = self.packages.iter().map(package);
        let remotes = self.remotes.iter().map(|one| remote(one, policy));
        let mut offers: Vec<InstallOption> = packages.chain(remotes).collect();
        let mut seen = BTreeMap::new();
        for offer in &mut offers {
            let times: &mut usize = seen.entry(offer.key.clone()).or_default();
            *times += 1;
            if *times > 1 {
                offer.key = format!("{}#{times}", offer.key);
            }
        }
        offers
    }
}

fn package(packed: &RegistryPackage) -> InstallOption {
    let kind = match packed.registry_type.as_str() {
        "npm" => InstallOptionKind::Npm,
        "pypi" => InstallOptionKind::Pypi,
        _ => InstallOptionKind::Other,
    };
    let version = packed.version.as_deref().unwrap_or_default();
    let name = shown(&packed.identifier, 214);
    let key = match version {
        "" => format!("{}:{name}", shown(&packed.registry_type, 20)),
        _ => format!(
            "{}:{name}@{}",
            shown(&packed.registry_type, 20),
            shown(version, 64)
        ),
    };
    let mut draft = OptionDraft::default();
    let made = draft.package(packed, kind);
    let label = match &draft.recipe.package {
        Some(package) => {
            let args = draft.recipe.args.iter().flat_map(words);
            let words: Vec<String> = std::iter::once(package.command()).chain(args).collect();
            words.join(" ")
        }
        None => key.clone(),
    };
    draft.finish(key, kind, label, made)
}

fn words(arg: &Arg) -> Vec<String> {
    let value = (!arg.is_switch).then(|| arg.value.shown());
    arg.flag.clone().into_iter().chain(value).collect()
}

fn remote(remote: &Remote, policy: UrlPolicy) -> InstallOption {
    let url = shown(&remote.url, 500);
    let mut draft = OptionDraft::default();
    let made = draft.remote(remote, policy);
    draft.finish(
        format!("remote:{url}"),
        InstallOptionKind::Remote,
        url,
        made,
    )
}

#[derive(Default)]
struct OptionDraft {
    inputs: Vec<InputSpec>,
    recipe: Recipe,
}

impl OptionDraft {
    fn finish(
        self,
        key: String,
        kind: InstallOptionKind,
        label: String,
        made: Result<(), Refusal>,
    ) -> InstallOption {
        let refusal = made.err();
        // A refused offer has no inputs.
        let stored = if refusal.is_some() {
            Self::default()
        } else {
            self
        };
        InstallOption {
            key,
            kind,
            label: shown(&label, 1000),
            refusal,
            inputs: stored.inputs,
            recipe: stored.recipe,
        }
    }

    fn package(
        &mut self,
        packed: &RegistryPackage,
        kind: InstallOptionKind,
    ) -> Result<(), Refusal> {
        let (ecosystem, usual) = match kind {
            InstallOptionKind::Npm => (Ecosystem::Npm, "https://registry.npmjs.org"),
            InstallOptionKind::Pypi => (Ecosystem::Pypi, "https://pypi.org"),
            _ => return Err(not_installed(&packed.registry_type)),
        };
        if let Some(base) = &packed.registry_base_url
            && base.trim_end_matches('/') != usual
        {
            return Err(format!(
                "it is published at {}, not at {usual}",
                shown(base, 100)
            ));
        }
        if let Some(transport) = &packed.transport
            && !["", "stdio"].contains(&transport.kind.as_str())
        {
            return Err(
                "it uses HTTP on this machine; Gangway only starts servers that use stdio".into(),
            );
        }
        let package = Package::parse(ecosystem, &packed.identifier, packed.version.as_deref());
        let package = package.map_err(|error| error.to_string())?;
        self.recipe.command = runtime_command(&packed.runtime_arguments, &package)?;
        self.recipe.package = Some(package);
        for argument in &packed.package_arguments {
            self.argument(argument)?;
        }
        for variable in &packed.environment_variables {
            self.variable(variable)?;
        }
        Ok(())
    }

    fn remote(&mut self, remote: &Remote, policy: UrlPolicy) -> Result<(), Refusal> {
        if !["streamable-http", "sse"].contains(&remote.kind.as_str()) {
            return Err(format!("unknown transport {:?}", shown(&remote.kind, 40)));
        }
        safe(&remote.url)?;
        let template = Template::parse(&remote.url, names::is_input);
        // Inputs cannot be checked yet; the connection checks again.
        let (sample, _) = template.fill(|_| Some("x"));
        outbound::check(&sample, policy).map_err(|error| error.to_string())?;
        for name in template.inputs() {
            let known = remote.variables.get(name).cloned();
            let input = known.unwrap_or(Input {
                is_required: true,
                ..Input::default()
            });
            self.want(name, InputLocation::Url, &input)?;
        }
        self.recipe.url = template;
        for header in &remote.headers {
            if !names::is_header(&header.name) {
                return Err(format!(
                    "it uses the reserved header {:?}",
                    shown(&header.name, 60)
                ));
            }
            let template = self.value(&header.name, InputLocation::Header, &header.input)?;
            self.recipe.headers.push((header.name.clone(), template));
        }
        Ok(())
    }

    fn variable(&mut self, variable: &NamedInput) -> Result<(), Refusal> {
        let name = &variable.name;
        if !names::is_variable(name) {
            return Err(format!("{:?} is not a variable name", shown(name, 60)));
        }
        if !names::is_harmless_variable(name) {
            let input = &variable.input;
            if input.is_required || input.value.is_some() {
                return Err(format!("it sets {name}, which changes how programs run"));
            }
            return Ok(());
        }
        let template = self.value(name, InputLocation::Env, &variable.input)?;
        self.recipe.env.push((name.clone(), template));
        Ok(())
    }

    fn argument(&mut self, argument: &Argument) -> Result<(), Refusal> {
        let is_named = argument.kind == "named";
        let (name, hint) = (argument.name.as_deref(), argument.value_hint.as_deref());
        let flag = name.filter(|_| is_named);
        if flag.is_some_and(|flag| !names::is_flag(flag)) || (is_named && flag.is_none()) {
            return Err(format!(
                "{:?} is not a flag",
                shown(name.unwrap_or_default(), 60)
            ));
        }
        let input = &argument.input;
        let is_switch = is_named && input.format.as_deref() == Some("boolean");
        let place = self.recipe.args.len() + 1;
        let own = match flag {
            Some(flag) => flag.trim_start_matches('-').to_owned(),
            None => hint
                .or(name)
                .map_or(format!("argument-{place}"), str::to_owned),
        };
        let own = if names::is_input(&own) {
            own
        } else {
            format!("argument-{place}")
        };
        let mut input = input.clone();
        if is_switch && input.value.is_none() {
            input.choices = vec!["true".into(), "false".into()];
        }
        let value = self.value(&own, InputLocation::Argument, &input)?;
        self.recipe.args.push(Arg {
            flag: flag.map(str::to_owned),
            value,
            is_switch,
        });
        Ok(())
    }

    /// A fixed value with placeholders, or an input of this name.
    fn value(
        &mut self,
        name: &str,
        place: InputLocation,
        input: &Input,
    ) -> Result<Template, Refusal> {
        let Some(text) = &input.value else {
            self.want(name, place, input)?;
            return Ok(Template::input(name));
        };
        safe(text)?;
        let variables = &input.variables;
        let template = Template::parse(text, |name| {
            names::is_input(name) && variables.contains_key(name)
        });
        for name in template.inputs() {
            if let Some(variable) = variables.get(name) {
                let mut variable = variable.clone();
                // A placeholder in a required or secret value is so itself.
                variable.is_secret |= input.is_secret;
                variable.is_required |= input.is_required && variable.default.is_none();
                self.want(name, place, &variable)?;
            }
        }
        Ok(template)
    }

    fn want(&mut self, name: &str, place: InputLocation, input: &Input) -> Result<(), Refusal> {
        let default = input.default.as_deref().or(input.value.as_deref());
        for text in default
            .into_iter()
            .chain(input.choices.iter().map(String::as_str))
        {
            safe(text)?;
        }
        // One value for all placeholders with its name.
        if let Some(known) = self.inputs.iter_mut().find(|known| known.name == name) {
            known.required |= input.is_required;
            known.secret |= input.is_secret;
            return Ok(());
        }
        self.inputs.push(InputSpec {
            name: name.to_owned(),
            place,
            description: input.description.as_deref().map(|text| shown(text, 500)),
            required: input.is_required,
            secret: input.is_secret,
            default: default.map(str::to_owned),
            choices: input.choices.clone(),
        });
        Ok(())
    }
}
