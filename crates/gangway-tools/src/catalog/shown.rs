//! Catalog entries as displayed: with the local runtimes and installed servers.

use gangway_mcp::{
    catalog::{InputLocation, InputSpec, InstallOption, InstallOptionKind, RegistryServer},
    package::{Carrier, Ecosystem},
};

use super::wire::{CatalogInput, CatalogOption, CatalogServer, InputPlace, OptionKind};
use crate::{Tools, install::missing};

impl Tools {
    /// A catalog entry as displayed.
    pub(crate) fn shown(&self, listed: RegistryServer) -> CatalogServer {
        let offers = listed.offers(self.catalog.policy());
        let known = self.known();
        let is_from = |entry: &crate::entry::ServerEntry| {
            let installed = entry.installed.as_ref();
            installed.and_then(|installed| installed.server.as_ref()) == Some(&listed.name)
        };
        let option = |offer: InstallOption| {
            let ecosystem = match offer.kind {
                InstallOptionKind::Npm => Some(Ecosystem::Npm),
                InstallOptionKind::Pypi => Some(Ecosystem::Pypi),
                InstallOptionKind::Remote | InstallOptionKind::Other => None,
            };
            let lacks = |ecosystem: &Ecosystem| Carrier::of(*ecosystem, &self.path).is_none();
            let lacking = ecosystem.filter(lacks);
            let problem = offer.refusal.or_else(|| lacking.map(missing));
            CatalogOption {
                key: offer.key,
                kind: kind(offer.kind),
                label: offer.label,
                available: problem.is_none(),
                problem,
                inputs: offer.inputs.into_iter().map(input).collect(),
            }
        };
        CatalogServer {
            installed: known
                .entries
                .iter()
                .filter(|(_, entry)| is_from(entry))
                .map(|(id, _)| id.clone())
                .collect(),
            options: offers.into_iter().map(option).collect(),
            name: listed.name,
            title: listed.title,
            description: listed.description,
            version: listed.version,
            repository: listed.repository,
            website: listed.website,
        }
    }
}

fn kind(kind: InstallOptionKind) -> OptionKind {
    match kind {
        InstallOptionKind::Npm => OptionKind::Npm,
        InstallOptionKind::Pypi => OptionKind::Pypi,
        InstallOptionKind::Remote => OptionKind::Remote,
        InstallOptionKind::Other => OptionKind::Other,
    }
}

fn input(wanted: InputSpec) -> CatalogInput {
    CatalogInput {
        name: wanted.name,
        place: match wanted.place {
            InputLocation::Env => InputPlace::Env,
            InputLocation::Argument => InputPlace::Argument,
            InputLocation::Header => InputPlace::Header,
            InputLocation::Url => InputPlace::Url,
        },
        description: wanted.description,
        required: wanted.required,
        secret: wanted.secret,
        default: wanted.default,
        choices: (!wanted.choices.is_empty()).then_some(wanted.choices),
    }
}
