//! What the handlers of the binary's own routes share.

use std::sync::Arc;

use gangway_applets::AppletService;
use gangway_cinema::BoxOffice;
use gangway_core::Hub;
use gangway_http::{Http, asks::AskState};
use gangway_providers::Models;
use gangway_relay::{PageTools, Relay};
use gangway_remote::RemoteAgents;
use gangway_tools::{Tools, Toolset, approvals::Approvals};
use gangway_webagent::WebAgent;
use gangway_weblets::Weblets;
use gangway_workspaces::{Sessions, Workspaces};

use crate::config::Config;

/// What every handler can reach.
pub struct App {
    /// The settings.
    pub config: Config,
    /// The sessions.
    pub hub: Arc<Hub>,
    /// What all protocols over HTTP share.
    pub http: Arc<Http>,
    /// What waits for the person.
    pub asks: Arc<AskState>,
    /// The person's models.
    pub models: Arc<Models>,
    /// The applets, and what their pages do.
    pub applets: Arc<AppletService>,
    /// The apps there are.
    pub apps: Arc<gangway_apps::Shelf>,
    /// Apps that agents launched, and the hosts of apps.
    pub weblets: Arc<Weblets>,
    /// The person's MCP servers.
    pub tools: Arc<Tools>,
    /// Everything that agents can call.
    pub toolset: Arc<Toolset>,
    /// Which tools the chat's agent may call.
    pub approvals: Arc<Approvals>,
    /// `window.ai` and `window.agent`: the pages that are open, and what they may do.
    pub web_agent: Arc<WebAgent>,
    /// The agents that others made.
    pub remote: Arc<RemoteAgents>,
    /// The pages that external agents drive.
    pub relay: Arc<Relay>,
    /// The tools of those pages.
    pub page_tools: Arc<PageTools>,
    /// The cinema behind the booking app.
    pub box_office: Arc<BoxOffice>,
    /// Folders that sessions get when they name none.
    pub workspaces: Arc<Workspaces>,
    /// Creates and removes sessions with their folders.
    pub sessions: Sessions,
}
