//! What pages may offer, and what becomes of calls of their tools.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod calling;
mod offering;
mod reading;

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, ready};
use gangway_core::{Caller, PageKind, SessionId, Source, ToolError, ToolName, ToolSource};
use gangway_pages::{
    Connected, NewPage, OfferedTool, PageEvents, PageTools, PageView, Pages, SocketPages,
};
use serde_json::{Value, json};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub struct Blank;

impl PageView for Blank {
    fn state(&self) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(ready(Ok(json!({}))))
    }

    fn events(&self, _: Option<u64>, _: Duration) -> BoxFuture<'_, Result<PageEvents, ToolError>> {
        Box::pin(ready(Ok(PageEvents::default())))
    }
}

/// Open pages, and agents that use them.
pub struct World {
    pub pages: Arc<Pages>,
    pub sockets: Arc<SocketPages>,
    pub tools: Arc<PageTools>,
    pub session: SessionId,
}

impl World {
    pub fn open() -> Self {
        let pages = Pages::new(gangway_core::Notes::default());
        let sockets = SocketPages::new(
            Arc::clone(&pages),
            Duration::from_secs(30),
            TaskTracker::new(),
            CancellationToken::new(),
        );
        Self {
            tools: Arc::new(PageTools::new(Arc::clone(&pages))),
            pages,
            sockets,
            session: SessionId::new(),
        }
    }

    pub fn page(&self, name: &str) -> NewPage {
        NewPage {
            kind: PageKind::App,
            name: name.to_owned(),
            session: Some(self.session),
            origin: format!("app:{name}"),
            title: name.to_owned(),
        }
    }

    /// A page that may reconnect under this key.
    pub fn connect(&self, name: &str, key: &str) -> Connected {
        let view = || Box::new(Blank) as Box<dyn PageView>;
        let key = Some(key.to_owned());
        self.sockets.connect(key, self.page(name), view).unwrap()
    }

    pub fn agent(&self) -> Caller {
        Caller {
            session: Some(self.session),
            source: Source::Agent {
                name: "builtin".to_owned(),
            },
            version: None,
        }
    }

    /// The names of all tools that agents of the session have.
    pub async fn offered(&self) -> Vec<String> {
        let tools = self.tools.tools(self.session, "").await;
        tools.iter().map(|tool| tool.name.to_string()).collect()
    }

    /// Calls a tool in the background.
    pub fn call(
        &self,
        tool: &str,
        arguments: Value,
    ) -> tokio::task::JoinHandle<Result<Value, ToolError>> {
        let (tools, caller) = (Arc::clone(&self.tools), self.agent());
        let tool: ToolName = tool.parse().unwrap();
        tokio::spawn(async move { tools.call(&caller, &tool, arguments).await })
    }
}

pub fn tool(name: &str) -> OfferedTool {
    described(json!({ "name": name }))
}

pub fn described(tool: Value) -> OfferedTool {
    serde_json::from_value(tool).unwrap()
}
