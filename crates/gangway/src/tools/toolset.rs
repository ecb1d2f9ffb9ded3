//! Everything an agent of a session can call: tools of servers and Gangway's own.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use gangway_core::{Caller, OWN, SessionId, Source, Tool, ToolError, ToolName, Toolbox};
use gangway_mcp::{Host, read_result};
use gangway_relay::PageTools;
use gangway_webagent::browser::{BROWSER, Browser};
use serde_json::Value;

use super::{applets::Applets, apps::AppTools};

/// The tools of a session.
pub struct Toolset {
    host: Arc<Host>,
    applets: Arc<Applets>,
    apps: Arc<AppTools>,
    pages: Option<Arc<PageTools>>,
    browser: Arc<Browser>,
}

impl Toolset {
    /// All kinds.
    #[must_use]
    pub fn new(
        host: Arc<Host>,
        applets: Arc<Applets>,
        apps: Arc<AppTools>,
        pages: Option<Arc<PageTools>>,
        browser: Arc<Browser>,
    ) -> Self {
        Self {
            host,
            applets,
            apps,
            pages,
            browser,
        }
    }

    /// Whether this is the tool of a page. A server of the same name, which a person added, stays what it is.
    #[must_use]
    pub fn is_of_page(host: &Host, tool: &ToolName) -> bool {
        PageTools::has(tool) && !is_server(host, tool.server())
    }

    /// Whether this is a tool for the tab in front. A server of the same name, which a person added, stays what it is.
    #[must_use]
    pub fn is_of_browser(host: &Host, tool: &ToolName) -> bool {
        tool.server() == BROWSER && !is_server(host, BROWSER)
    }

    /// The tools for the tab in front, where no server has their name.
    #[must_use]
    pub fn of_browser(host: &Host, browser: &Browser) -> Vec<Arc<Tool>> {
        match is_server(host, BROWSER) {
            true => Vec::new(),
            false => browser.tools(),
        }
    }

    /// The same without tools of pages whose name a server has.
    #[must_use]
    pub fn told_apart(host: &Host, mut tools: Vec<Arc<Tool>>) -> Vec<Arc<Tool>> {
        tools.retain(|tool| Self::is_of_page(host, &tool.name));
        tools
    }

    async fn of_pages(&self, session: SessionId) -> Vec<Arc<Tool>> {
        match &self.pages {
            Some(pages) => Self::told_apart(&self.host, pages.of_chat(session).await),
            None => Vec::new(),
        }
    }

    /// More of a result that was cut for this caller.
    pub fn read_on(
        &self,
        caller: &str,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        read_result::call(tool, arguments, |handle, offset| {
            self.host.rest(caller, handle, offset)
        })
    }
}

fn is_server(host: &Host, name: &str) -> bool {
    let known = host.status();
    known.iter().any(|server| server.id.as_str() == name)
}

impl Toolbox for Toolset {
    fn tools<'a>(&'a self, session: SessionId, sentence: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(async move {
            let mut tools = self.host.tools();
            if self.applets.in_use(session).await {
                tools.extend(Applets::tools());
            } else if sentence.to_lowercase().contains("applet") {
                tools.extend(Applets::first_tools());
            }
            tools.extend(self.apps.fitting(session, sentence).await);
            tools.extend(self.of_pages(session).await);
            tools.extend(Self::of_browser(&self.host, &self.browser));
            tools
        })
    }

    fn reader(&self) -> Option<Arc<Tool>> {
        Some(read_result::tool())
    }

    fn offered_after<'a>(
        &'a self,
        session: SessionId,
        called: &'a [ToolName],
    ) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(async move {
            let of_page = |tool: &ToolName| Self::is_of_page(&self.host, tool);
            if !called.iter().any(of_page) {
                return Vec::new();
            }
            self.of_pages(session).await
        })
    }

    fn call(
        &self,
        session: SessionId,
        tool: ToolName,
        arguments: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            if read_result::is_read_result(&tool) {
                return self.read_on(&session.to_string(), &tool, arguments);
            }
            if tool.server() == OWN {
                let caller = Caller {
                    session: Some(session),
                    source: Source::Agent {
                        name: "builtin".to_owned(),
                    },
                    version: None,
                };
                return match AppTools::has(&tool) {
                    true => self.apps.call(&caller, &tool, arguments).await,
                    false => self.applets.call(&caller, &tool, arguments).await,
                };
            }
            if Self::is_of_page(&self.host, &tool) {
                let Some(pages) = &self.pages else {
                    return Err(ToolError::NotFound(tool));
                };
                let shown = pages.call(Some(session), &tool, arguments).await?;
                let cut = self.host.bound(&session.to_string(), &shown);
                return Ok(cut.unwrap_or(shown));
            }
            if Self::is_of_browser(&self.host, &tool) {
                let shown = self.browser.call(&tool, arguments).await?;
                let cut = self.host.bound(&session.to_string(), &shown);
                return Ok(cut.unwrap_or(shown));
            }
            Toolbox::call(&*self.host, session, tool, arguments).await
        })
    }
}
