//! Who may speak in a session beside the person.

use std::collections::BTreeMap;

use gangway_core::{Leave, SessionId, Slug};
use gangway_http::error::ApiResult;

use crate::{
    AppletService,
    wire::{AskingToSpeak, Decision, Speaker, Speakers},
};

/// Everyone who may, may not, or was asked about.
pub(super) async fn speakers(service: &AppletService, session: SessionId) -> ApiResult<Speakers> {
    service.hub.describe(session).await?;
    let mut known: BTreeMap<Slug, (Option<Leave>, Option<AskingToSpeak>)> = BTreeMap::new();
    for slug in service.hub.applets(session).await? {
        known.entry(slug).or_default();
    }
    for (slug, leave) in service.hub.leaves(session).await? {
        known.entry(slug).or_default().0 = Some(leave);
    }
    for (slug, asking) in service.consents.waiting(session) {
        known.entry(slug).or_default().1 = Some(AskingToSpeak {
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
        if service.hub.speaks_always(slug).await? {
            known.entry(slug.clone()).or_default();
        }
    }
    let mut applets = Vec::with_capacity(known.len());
    for (slug, (leave, asking)) in known {
        let allowed = match leave {
            Some(leave) => leave == Leave::Allowed,
            None => service.hub.speaks_always(&slug).await?,
        };
        let speak = match (leave, allowed) {
            (_, true) => "allowed",
            (Some(Leave::Denied), _) => "denied",
            _ => "ask",
        };
        applets.push(Speaker {
            name: names
                .get(&slug)
                .cloned()
                .unwrap_or_else(|| slug.to_string()),
            slug: slug.to_string(),
            speak: speak.to_owned(),
            asking,
        });
    }
    Ok(Speakers { applets })
}

/// Decides about one.
pub(super) async fn decide(
    service: &AppletService,
    session: SessionId,
    applet: Slug,
    decision: Decision,
) -> ApiResult<()> {
    let open = service.hub.open(session).await?;
    let leave = match decision {
        Decision::Once => Leave::Once,
        Decision::Allow | Decision::Always => Leave::Allowed,
        Decision::Deny => Leave::Denied,
        Decision::Ask => Leave::Open,
    };
    match decision {
        Decision::Always => service.hub.set_speaks_always(&applet, true).await?,
        Decision::Ask => service.hub.set_speaks_always(&applet, false).await?,
        _ => {}
    }
    Ok(service.consents.decide(&open, applet, leave).await?)
}
