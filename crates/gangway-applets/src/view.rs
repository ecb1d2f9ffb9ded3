//! An applet as a page of its session: what agents read of it.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use gangway_core::{Event, Hub, PageKind, SessionId, Slug, Source, ToolError, tool_error};
use gangway_pages::{NewPage, PageEvents, PageView, from_log};
use serde_json::{Value, json};

/// The page of an applet in a session.
pub(crate) fn page_of(session: SessionId, applet: &Slug, title: Option<String>) -> NewPage {
    NewPage {
        kind: PageKind::Applet,
        name: applet.to_string(),
        session: Some(session),
        origin: format!("applet:{applet}"),
        title: title.unwrap_or_else(|| applet.to_string()),
    }
}

pub(crate) struct View {
    pub(crate) hub: Arc<Hub>,
    pub(crate) session: SessionId,
    pub(crate) applet: Slug,
}

impl PageView for View {
    /// The state that the applet shares with agents.
    fn state(&self) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let state = self.hub.state(self.session, &self.applet).await;
            let state = state.map_err(tool_error)?.unwrap_or_default();
            Ok(json!({ "applet": self.applet, "version": state.version, "data": state.data }))
        })
    }

    fn events(
        &self,
        after: Option<u64>,
        wait: Duration,
    ) -> BoxFuture<'_, Result<PageEvents, ToolError>> {
        Box::pin(async move {
            let is_own = |source: &Source| matches!(source, Source::Applet { slug } if slug == self.applet.as_str());
            from_log(&self.hub, self.session, after, wait, |event| match event {
                Event::StateChanged {
                    applet,
                    version,
                    patch,
                    source,
                } if *applet == self.applet && is_own(source) => {
                    Some(json!({ "type": "state", "version": version, "data": patch }))
                }
                Event::MessageStarted { prompt, source, .. } if is_own(source) => {
                    Some(json!({ "type": "message", "prompt": prompt }))
                }
                _ => None,
            })
            .await
        })
    }
}
