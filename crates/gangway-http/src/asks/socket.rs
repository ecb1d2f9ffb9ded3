//! `/ws/asks`: the open requests after each change; a request whose window is closed is dismissed.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{State, ws::Message},
    response::Response,
};
use gangway_core::{AskId, asks::AskWindow};
use serde::Deserialize;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{
    AskState,
    wire::{AskInfo, AsksFrame},
};
use crate::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Query,
    metrics::Counted,
    socket::{
        Ending, Frames, Handled, Incoming, Peer, UpgradeResult, accept, serve, text_message,
        to_json, upgrade,
    },
};

/// Requests that are opened and withdrawn without a pause are sent together.
const BATCH: Duration = Duration::from_millis(20);

/// The request that the window is for.
#[derive(Deserialize)]
pub(super) struct WindowQuery {
    ask: Option<String>,
}

pub(super) async fn open(
    State(state): State<Arc<AskState>>,
    Query(window): Query<WindowQuery>,
    Extension(admitted): Extension<Admitted>,
    socket: UpgradeResult,
) -> ApiResult<Response> {
    let upgrade = upgrade(socket, Frames::small())?;
    let ask = window.ask.map(|id| id.parse::<AskId>()).transpose();
    let ask = ask.map_err(|error| ApiError::invalid(format!("`ask`: {error}")))?;
    let http = Arc::clone(&state.http);
    Ok(accept(&http, upgrade, async move |socket| {
        let _counted = Counted::new(&state.http.metrics.readers);
        let mut reader = Reader {
            window: ask.as_ref().and_then(|id| state.asks.window(id)),
            ask,
            changes: state.asks.changes(),
            permissions: state.permissions.clone(),
            stale: true,
            sent: None,
            not_before: None,
            next: None,
            state: Arc::clone(&state),
        };
        serve(&state.http, &admitted, socket, &mut reader).await;
    }))
}

struct Reader {
    state: Arc<AskState>,
    /// The request of this window, which may be hidden from others.
    ask: Option<AskId>,
    window: Option<AskWindow>,
    changes: watch::Receiver<u64>,
    permissions: watch::Receiver<u64>,
    /// Whether the list may have changed since it was sent.
    stale: bool,
    sent: Option<Vec<AskInfo>>,
    not_before: Option<Instant>,
    next: Option<AsksFrame>,
}

impl Reader {
    /// Queues the open requests, unless they are what was sent last.
    fn look(&mut self) {
        self.changes.borrow_and_update();
        let mut asks = self.state.list();
        let own = self.ask.as_ref().and_then(|id| self.state.asks.get(id));
        let own = own.map(|ask| AskInfo::from(&*ask));
        if let Some(own) = own.filter(|own| asks.iter().all(|ask| ask.id != own.id)) {
            asks.push(own);
        }
        self.stale = false;
        if self.sent.as_ref() != Some(&asks) {
            self.sent = Some(asks.clone());
            self.next = Some(AsksFrame::Asks { asks });
            self.not_before = Some(Instant::now() + BATCH);
        }
    }
}

impl Peer for Reader {
    async fn ready(&mut self) -> Result<(), Ending> {
        if self.stale {
            self.look();
            return Ok(());
        }
        if let Some(then) = self.not_before {
            sleep_until(then).await;
            self.not_before = None;
        }
        tokio::select! {
            // The senders live as long as the server.
            _ = self.changes.changed() => self.stale = true,
            _ = self.permissions.changed() => self.next = Some(AsksFrame::Changed),
        }
        Ok(())
    }

    fn take(&mut self) -> Option<Message> {
        self.next.take().map(|frame| text_message(to_json(&frame)))
    }

    // Our pages only read here.
    fn incoming(&mut self, _message: Incoming) -> Handled {
        Handled::Counted
    }

    fn on_close(&mut self) {
        self.window = None;
    }
}
