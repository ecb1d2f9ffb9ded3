//! `/ws/permissions`: the open permission requests for our pages; a request whose window is closed is withdrawn.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{State, ws::Message},
    response::Response,
};
use gangway_http::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Query,
    metrics::Counted,
    socket::{
        Ending, Frames, Incoming, Next, Peer, UpgradeResult, serve, text_message, to_json, upgrade,
    },
};
use serde::Deserialize;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::{
    WebAgent,
    permissions::{
        AskId, PromptWindow,
        wire::{PermissionAsk, PermissionsFrame},
    },
};

/// Pages that ask and take back without a pause are told of together.
const TOGETHER: Duration = Duration::from_millis(20);

/// Which question the window is for.
#[derive(Deserialize)]
pub(crate) struct Which {
    ask: Option<String>,
}

pub(crate) async fn open(
    State(agent): State<Arc<WebAgent>>,
    Query(which): Query<Which>,
    Extension(admitted): Extension<Admitted>,
    socket: UpgradeResult,
) -> ApiResult<Response> {
    let upgrade = upgrade(socket, Frames::small())?;
    let ask = which.ask.map(|id| id.parse::<AskId>()).transpose();
    let ask = ask.map_err(|error| ApiError::invalid(format!("`ask`: {error}")))?;
    Ok(upgrade.on_upgrade(move |socket| {
        let sockets = agent.http.sockets.clone();
        sockets.track_future(async move {
            let _counted = Counted::new(&agent.http.metrics.readers);
            let window = ask
                .as_ref()
                .and_then(|id| agent.permissions.prompt_window(id));
            let mut watcher = Watcher {
                questions: agent.permissions.questions.subscribe(),
                changes: agent.permissions.changes(),
                ask,
                window,
                shown: None,
                not_before: None,
                next: None,
                agent: Arc::clone(&agent),
            };
            watcher.look();
            serve(&agent.http, &admitted, socket, &mut watcher).await;
        })
    }))
}

struct Watcher {
    agent: Arc<WebAgent>,
    /// The only request that is shown, if it is the window of one.
    ask: Option<AskId>,
    window: Option<PromptWindow>,
    questions: watch::Receiver<u64>,
    changes: watch::Receiver<u64>,
    shown: Option<Vec<PermissionAsk>>,
    not_before: Option<Instant>,
    next: Option<PermissionsFrame>,
}

impl Watcher {
    /// Queues the open requests, unless they are what was shown last.
    fn look(&mut self) {
        self.questions.borrow_and_update();
        let asks = self.agent.permissions.asks(self.ask.as_ref()).asks;
        if self.shown.as_ref() != Some(&asks) {
            self.shown = Some(asks.clone());
            self.next = Some(PermissionsFrame::Asks { asks });
            self.not_before = Some(Instant::now() + TOGETHER);
        }
    }
}

impl Peer for Watcher {
    async fn ready(&mut self) -> Result<(), Ending> {
        if let Some(then) = self.not_before {
            sleep_until(then).await;
            self.not_before = None;
        }
        tokio::select! {
            // The senders live as long as the server.
            _ = self.questions.changed() => self.look(),
            _ = self.changes.changed() => self.next = Some(PermissionsFrame::Changed),
        }
        Ok(())
    }

    fn take(&mut self) -> Option<Message> {
        self.next.take().map(|frame| text_message(to_json(&frame)))
    }

    // Our pages have nothing to say here.
    fn incoming(&mut self, _message: Incoming) -> Next {
        Next::Counted
    }

    fn leave(&mut self) {
        self.window = None;
    }
}
