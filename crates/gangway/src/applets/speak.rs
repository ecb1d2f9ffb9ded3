//! Who may speak in a session beside the person.

use std::{collections::BTreeMap, sync::Arc};

use gangway_core::{Command, Leave, SessionId, Slug};
use gangway_http::error::ApiResult;

use super::wire::{AskingToSpeak, Decision, Speaker, Speakers};
use crate::server::App;

/// Everyone who may, may not, or was asked about.
pub(super) async fn speakers(app: &Arc<App>, session: SessionId) -> ApiResult<Speakers> {
    app.hub.describe(session).await?;
    let mut known: BTreeMap<Slug, (Option<Leave>, Option<AskingToSpeak>)> = BTreeMap::new();
    for slug in app.hub.applets(session).await? {
        known.entry(slug).or_default();
    }
    for (slug, leave) in app.hub.leaves(session).await? {
        known.entry(slug).or_default().0 = Some(leave);
    }
    for (slug, asking) in app.applets.lines.asked(session) {
        known.entry(slug).or_default().1 = Some(AskingToSpeak {
            prompt: asking.prompt,
            asked_at: asking.since,
        });
    }
    // Apps speak by the same leave. Where an applet has the same name, it is the applet's.
    let apps = app.apps.list().await.into_iter();
    let mut names: BTreeMap<Slug, String> = apps
        .map(|app| (Slug::from(app.name.clone()), app.manifest.title.clone()))
        .collect();
    let applets = app.applets.list().await.into_iter();
    names.extend(applets.map(|applet| (applet.slug, applet.name)));
    // Those that may speak everywhere may speak here.
    for slug in names.keys() {
        if app.hub.speaks_always(slug).await? {
            known.entry(slug.clone()).or_default();
        }
    }
    let mut applets = Vec::with_capacity(known.len());
    for (slug, (leave, asking)) in known {
        let allowed = match leave {
            Some(leave) => leave == Leave::Allowed,
            None => app.hub.speaks_always(&slug).await?,
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
    app: &Arc<App>,
    session: SessionId,
    applet: Slug,
    decision: Decision,
) -> ApiResult<()> {
    let open = app.hub.open(session).await?;
    let leave = match decision {
        Decision::Once => Leave::Once,
        Decision::Allow | Decision::Always => Leave::Allowed,
        Decision::Deny => Leave::Denied,
        Decision::Ask => Leave::Open,
    };
    match decision {
        Decision::Always => app.hub.set_speaks_always(&applet, true).await?,
        Decision::Ask => app.hub.set_speaks_always(&applet, false).await?,
        _ => {}
    }
    if leave != Leave::Open {
        // Before anyone hears of it, and looks who still asks.
        app.applets.lines.answered(session, &applet);
    }
    open.submit(Command::SetLeave { applet, leave }).await?;
    Ok(())
}
