//! State shared by the handlers of the binary's own routes.

use std::sync::Arc;

use gangway_applets::AppletService;
use gangway_cinema::BoxOffice;
use gangway_core::Hub;
use gangway_demo::Demo;
use gangway_http::{Http, asks::AskState};
use gangway_pages::{PageTools, Pages};
use gangway_providers::Models;
use gangway_relay::Relay;
use gangway_remote::RemoteAgents;
use gangway_tools::{Tools, Toolset, approvals::Approvals};
use gangway_webagent::WebAgent;
use gangway_weblets::Weblets;
use gangway_workspaces::{Sessions, Workspaces};

use crate::config::Config;

pub struct App {
    pub config: Config,
    pub hub: Arc<Hub>,
    pub http: Arc<Http>,
    /// What waits for the person.
    pub asks: Arc<AskState>,
    pub models: Arc<Models>,
    pub applets: Arc<AppletService>,
    pub apps: Arc<gangway_apps::AppRegistry>,
    pub weblets: Arc<Weblets>,
    pub tools: Arc<Tools>,
    /// All tools that agents can call: MCP, pages, built in.
    pub toolset: Arc<Toolset>,
    /// The user's decisions about tool calls.
    pub approvals: Arc<Approvals>,
    /// `window.ai` and `window.agent`: open pages and their grants.
    pub web_agent: Arc<WebAgent>,
    pub remote: Arc<RemoteAgents>,
    pub relay: Arc<Relay>,
    /// All open pages.
    pub pages: Arc<Pages>,
    /// Their tools.
    pub page_tools: Arc<PageTools>,
    /// The cinema of the app `movie-booking`.
    pub box_office: Arc<BoxOffice>,
    /// What `gangway demo` starts.
    pub demo: Arc<Demo>,
    /// Default folders of sessions.
    pub workspaces: Arc<Workspaces>,
    pub sessions: Sessions,
}
