//! `/ws/browser`: the extension receives the actions to execute; their results are sent over REST.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{State, ws::Message},
    response::Response,
};
use gangway_http::{
    auth::Admitted,
    error::ApiResult,
    metrics::Counted,
    socket::{
        Ending, Frames, Handled, Incoming, Peer, UpgradeResult, accept, serve, text_message,
        to_json, upgrade,
    },
};

use tokio::sync::mpsc;

use crate::{
    WebAgent,
    browser::{BrowserAct, BrowserAction, BrowserConnection},
};

pub(crate) async fn open(
    State(agent): State<Arc<WebAgent>>,
    Extension(admitted): Extension<Admitted>,
    socket: UpgradeResult,
) -> ApiResult<Response> {
    let upgrade = upgrade(socket, Frames::small())?;
    let http = Arc::clone(&agent.http);
    Ok(accept(&http, upgrade, async move |socket| {
        let _counted = Counted::new(&agent.http.metrics.readers);
        let (attached, actions) = agent.browser.attach();
        let mut extension = Panel {
            attached: Some(attached),
            actions,
            next: None,
            own_origins: agent.http.guard.own_origins().collect(),
        };
        serve(&agent.http, &admitted, socket, &mut extension).await;
    }))
}

struct Panel {
    attached: Option<BrowserConnection>,
    actions: mpsc::Receiver<(String, BrowserAction)>,
    next: Option<BrowserAct>,
    own_origins: Vec<String>,
}

impl Peer for Panel {
    async fn ready(&mut self) -> Result<(), Ending> {
        // The sender is dropped with `attached` only.
        let Some((id, action)) = self.actions.recv().await else {
            return std::future::pending().await;
        };
        let own = self.own_origins.clone();
        self.next = Some(BrowserAct { id, action, own });
        Ok(())
    }

    fn take(&mut self) -> Option<Message> {
        self.next.take().map(|act| text_message(to_json(&act)))
    }

    fn incoming(&mut self, message: Incoming) -> Handled {
        match message {
            Incoming::Control => Handled::Counted,
            // Results are sent over REST.
            Incoming::Text(_) | Incoming::Binary => Handled::End(Ending::Flood),
        }
    }

    fn on_close(&mut self) {
        self.attached = None;
    }
}
