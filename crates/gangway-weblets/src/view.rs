//! A launched app as a page of its session: what agents read of it.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use gangway_core::{AppEvent, Event, Hub, Launch, LaunchId, PageKind, ToolError, tool_error};
use gangway_pages::{NewPage, PageEvents, PageView, from_log};
use serde_json::{Value, json};

/// The page of a launch.
pub(crate) fn page_of(launch: &Launch, about: Option<&gangway_apps::App>) -> NewPage {
    NewPage {
        kind: PageKind::App,
        name: launch.app.to_string(),
        session: Some(launch.session),
        origin: format!("app:{}", launch.app),
        title: about.map_or_else(
            || launch.app.to_string(),
            |about| about.manifest.title.clone(),
        ),
    }
}

pub(crate) struct View {
    pub(crate) hub: Arc<Hub>,
    pub(crate) launch: LaunchId,
}

impl PageView for View {
    /// What it was launched with.
    fn state(&self) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let launch = self.hub.launch(self.launch).await.map_err(tool_error)?;
            Ok(json!({
                "launchId": launch.id, "app": launch.app, "data": launch.data, "config": launch.config,
            }))
        })
    }

    fn events(
        &self,
        after: Option<u64>,
        wait: Duration,
    ) -> BoxFuture<'_, Result<PageEvents, ToolError>> {
        Box::pin(async move {
            let launch = self.hub.launch(self.launch).await.map_err(tool_error)?;
            from_log(
                &self.hub,
                launch.session,
                after,
                wait,
                |event| match event {
                    Event::App {
                        launch, app_event, ..
                    } if *launch == self.launch => said(app_event),
                    _ => None,
                },
            )
            .await
        })
    }
}

/// What the app said, as an event of its page.
fn said(app_event: &AppEvent) -> Option<Value> {
    match app_event {
        AppEvent::Emitted { event, payload, .. } => {
            Some(json!({ "type": "event", "event": event, "payload": payload }))
        }
        AppEvent::Requested {
            request,
            action,
            params,
        } => Some(json!({
            "type": "request", "requestId": request, "action": action, "params": params,
        })),
        _ => None,
    }
}
