//! Who may speak in a session beside the person.

use std::collections::BTreeMap;

use gangway_core::{Consent, SessionId, Slug};
use gangway_http::error::ApiResult;

use crate::{
    AppletService,
    wire::{AppletConsent, AppletConsentList, ConsentDecision, PendingConsent},
};

/// Everyone who may, may not, or was asked about.
pub(super) async fn speakers(
    service: &AppletService,
    session: SessionId,
) -> ApiResult<AppletConsentList> {
    service.hub.describe(session).await?;
    let mut known: BTreeMap<Slug, (Option<Consent>, Option<PendingConsent>)> = BTreeMap::new();
    for slug in service.hub.applets(session).await? {
        known.entry(slug).or_default();
    }
    for (slug, consent) in service.hub.consents(session).await? {
        known.entry(slug).or_default().0 = Some(consent);
    }
    for (slug, asking) in service.consents.waiting(session) {
        known.entry(slug).or_default().1 = Some(PendingConsent {
            prompt: asking.prompt,
            asked_at: asking.since,
        });
    }
    // Apps speak by the same leave. Where an applet has the same name, it is the applet's.
    let apps = service.apps.list().await.into_iter();
    let mut names: BTreeMap<Slug, String> = apps
        .map(|app| (Slug::from(app.name.clone()), app.manifest.title.clone()))
        .collect();
    let applets = service.registry.list().await.into_iter();
    names.extend(applets.map(|applet| (applet.slug, applet.name)));
    // Those that may speak everywhere may speak here.
    for slug in names.keys() {
        if service.hub.is_always_allowed(slug).await? {
            known.entry(slug.clone()).or_default();
        }
    }
    let mut applets = Vec::with_capacity(known.len());
    for (slug, (consent, asking)) in known {
        let allowed = match consent {
            Some(consent) => consent == Consent::Allowed,
            None => service.hub.is_always_allowed(&slug).await?,
        };
        let speak = match (consent, allowed) {
            (_, true) => "allowed",
            (Some(Consent::Denied), _) => "denied",
            _ => "ask",
        };
        applets.push(AppletConsent {
            name: names
                .get(&slug)
                .cloned()
                .unwrap_or_else(|| slug.to_string()),
            slug: slug.to_string(),
            speak: speak.to_owned(),
            asking,
        });
    }
    Ok(AppletConsentList { applets })
}

/// Decides about one.
pub(super) async fn decide(
    service: &AppletService,
    session: SessionId,
    applet: Slug,
    decision: ConsentDecision,
) -> ApiResult<()> {
    let open = service.hub.open(session).await?;
    let consent = match decision {
        ConsentDecision::Once => Consent::Once,
        ConsentDecision::Allow | ConsentDecision::Always => Consent::Allowed,
        ConsentDecision::Deny => Consent::Denied,
        ConsentDecision::Ask => Consent::Open,
    };
    match decision {
        ConsentDecision::Always => service.hub.set_speaks_always(&applet, true).await?,
        ConsentDecision::Ask => service.hub.set_speaks_always(&applet, false).await?,
        _ => {}
    }
    Ok(service.consents.decide(&open, applet, consent).await?)
}
