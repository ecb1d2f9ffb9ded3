//! Tools that a page implements: they are called in the page, by its own runs and by agents of its session.

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, ready};
use gangway_core::{Origin, PageKind, ToolError};
use gangway_pages::{
    NewPage, OpenPage, PageCall, PageEvents, PageLink, PageView, Pages, Registered,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{SiteError, message::SiteServerMessage, outbox::Outbox};

/// The server name of a page's own tools, as the page sees it.
pub const PAGE: &str = "page";

/// Opens a site as a page. It belongs to no session until the user opens a chat in it or connects it to one.
pub(crate) fn open(
    pages: &Arc<Pages>,
    origin: &Origin,
    outbox: &Arc<Outbox>,
    over: &CancellationToken,
    timeout: Duration,
) -> Result<(Arc<Registered>, OpenPage), SiteError> {
    let (_, host) = origin
        .as_str()
        .split_once("://")
        .unwrap_or(("", origin.as_str()));
    let new = NewPage {
        kind: PageKind::Site,
        name: host.to_owned(),
        session: None,
        origin: origin.to_string(),
        title: host.to_owned(),
    };
    let link = Link {
        outbox: Arc::clone(outbox),
        over: over.clone(),
    };
    let view = View(origin.to_string());
    Registered::open(pages, new, Arc::new(link), Box::new(view), timeout, 0)
        .map_err(|error| SiteError::too_many(error.to_string()))
}

/// The outbox keeps messages until they have come, also across lost connections.
struct Link {
    outbox: Arc<Outbox>,
    /// Closes the page, which has too large a backlog.
    over: CancellationToken,
}

impl Link {
    fn send(&self, message: SiteServerMessage) {
        if !self.outbox.send(message) {
            self.over.cancel();
        }
    }
}

impl PageLink for Link {
    fn call(&self, call: PageCall) {
        self.send(SiteServerMessage::ToolCall {
            call: call.call,
            name: call.tool,
            args: Value::clone(&call.arguments),
        });
    }

    fn cancel(&self, call: u64) {
        self.send(SiteServerMessage::ToolCancel { call });
    }
}

/// A site shows agents what its tools return, and nothing else.
struct View(String);

impl PageView for View {
    fn state(&self) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(ready(Ok(json!({ "url": self.0 }))))
    }

    fn events(&self, _: Option<u64>, _: Duration) -> BoxFuture<'_, Result<PageEvents, ToolError>> {
        let message = "sites send no events; call their tools";
        Box::pin(ready(Err(ToolError::Failed(message.to_owned()))))
    }
}
