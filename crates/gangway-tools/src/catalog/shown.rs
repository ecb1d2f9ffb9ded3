//! Catalog entries as displayed: with the local runtimes and installed servers.

use gangway_mcp::{
    catalog::{Listed, Offer, OfferKind, Place, Wanted},
    package::{Carrier, Ecosystem},
};

use super::wire::{CatalogInput, CatalogOption, CatalogServer, InputPlace, OptionKind};
use crate::{Tools, install::missing};

impl Tools {
    /// A catalog entry as displayed.
    pub(crate) fn shown(&self, listed: Listed) -> CatalogServer {
        let offers = listed.offers(self.catalog.policy());
        let known = self.known();
        let is_from = |entry: &crate::entry::ServerEntry| {
            let installed = entry.installed.as_ref();
            installed.and_then(|installed| installed.server.as_ref()) == Some(&listed.name)
        };
        let option = |offer: Offer| {
            let ecosystem = match offer.kind {
                OfferKind::Npm => Some(Ecosystem::Npm),
                OfferKind::Pypi => Some(Ecosystem::Pypi),
                OfferKind::Remote | OfferKind::Other => None,
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

fn kind(kind: OfferKind) -> OptionKind {
    match kind {
        OfferKind::Npm => OptionKind::Npm,
        OfferKind::Pypi => OptionKind::Pypi,
        OfferKind::Remote => OptionKind::Remote,
        OfferKind::Other => OptionKind::Other,
    }
}

fn input(wanted: Wanted) -> CatalogInput {
    CatalogInput {
        name: wanted.name,
        place: match wanted.place {
            Place::Env => InputPlace::Env,
            Place::Argument => InputPlace::Argument,
            Place::Header => InputPlace::Header,
            Place::Url => InputPlace::Url,
        },
        description: wanted.description,
        required: wanted.required,
        secret: wanted.secret,
        default: wanted.default,
        choices: (!wanted.choices.is_empty()).then_some(wanted.choices),
    }
}
