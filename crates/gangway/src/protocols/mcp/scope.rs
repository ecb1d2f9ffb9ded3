//! The scope of a request: its sender and the addressed server.

use gangway_core::Caller;
use gangway_core::{Source, ToolName, own_tool};
use gangway_http::auth::{Admitted, Reach};
use gangway_mcp::{ServerId, read_result};
use rmcp::{ErrorData, RoleServer, service::RequestContext};

use crate::app::App;

pub(super) const SESSION: &str = "mcp-session-id";

/// Characters of a client's name that are shown.
const NAME: usize = 60;

pub(super) struct Scope {
    pub(super) admitted: Admitted,
    /// The only visible server, for `/mcp/SERVER`; tool names have no prefix then.
    pub(super) server: Option<ServerId>,
    /// The name in its client info.
    pub(super) client: String,
    version: Option<String>,
    /// The MCP session of a client of an older revision.
    session: Option<String>,
}

impl Scope {
    /// Fails for a request that did not pass the guard.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Result<Self, ErrorData> {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let parts = parts.ok_or_else(|| fault("a request has no HTTP parts"))?;
        let admitted = parts.extensions.get::<Admitted>().cloned();
        let admitted = admitted.ok_or_else(|| fault("a request bypassed the guard"))?;
        let server = match parts.uri.path().strip_prefix("/mcp/") {
            None => None,
            Some(name) => Some(name.parse().map_err(|_| no_server(name))?),
        };
        let info = context.client_info();
        let shown = |text: String| -> String {
            let shown = text.chars().filter(|c| !c.is_control()).take(NAME);
            shown.collect::<String>().trim().to_owned()
        };
        let version = info.as_ref().map(|info| shown(info.version.clone()));
        let client = shown(info.map(|info| info.name).unwrap_or_default());
        let session = parts.headers.get(SESSION);
        let session = session.and_then(|id| id.to_str().ok()).map(str::to_owned);
        Ok(Self {
            version: version.filter(|version| !version.is_empty()),
            admitted,
            server,
            session,
            client: match client.is_empty() {
                true => "an MCP client".to_owned(),
                false => client,
            },
        })
    }

    /// Identifies the connection, for limits on calls, so that clients do not wait for each other. The current
    /// revision has no sessions; there a client is its key and name.
    pub(super) fn connection(&self) -> String {
        let caller = self.admitted.caller();
        match &self.session {
            Some(session) => format!("{caller} session {session}"),
            None => format!("{caller} client {}", self.client),
        }
    }

    /// Checks that the addressed server exists and the sender may use some of it.
    pub(super) fn sees(&self, app: &App) -> Result<(), ErrorData> {
        self.addressed(app, Reach::Some).map(|_| ())
    }

    /// The server to forward to. Resources and prompts need access to all of it.
    pub(super) fn through(&self, app: &App) -> Result<Option<&ServerId>, ErrorData> {
        self.addressed(app, Reach::All)
    }

    fn addressed(&self, app: &App, wanted: Reach) -> Result<Option<&ServerId>, ErrorData> {
        let Some(server) = &self.server else {
            return Ok(None);
        };
        let known = app.tools.host.status();
        let there = known.iter().any(|status| status.id == *server);
        if !there || self.admitted.reach(&app.http, server.as_str()) < wanted {
            return Err(no_server(server.as_str()));
        }
        Ok(Some(server))
    }

    /// Whether the sender may read session logs.
    pub(super) fn reads_sessions(&self, app: &App) -> bool {
        self.allows_own(app, &own_tool("read_session"))
    }

    /// Whether a tool is visible and callable.
    pub(super) fn allows(&self, app: &App, tool: &ToolName) -> bool {
        let here = self
            .server
            .as_ref()
            .is_none_or(|id| id.as_str() == tool.server());
        here && self.admitted.allows(&app.http, tool)
    }

    /// Whether a built-in tool is visible and callable.
    pub(super) fn allows_own(&self, app: &App, tool: &ToolName) -> bool {
        // Any sender may read the rest of its own truncated result.
        self.server.is_none()
            && (read_result::is_read_result(tool) || self.admitted.allows(&app.http, tool))
    }

    pub(super) fn caller(&self) -> Caller {
        Caller {
            session: None,
            source: Source::Agent {
                name: self.client.clone(),
            },
            version: self.version.clone(),
        }
    }
}

pub(super) fn fault(what: &'static str) -> ErrorData {
    tracing::error!(what, "internal error of the MCP endpoint");
    ErrorData::internal_error("internal error; see Gangway's log", None)
}

fn no_server(name: &str) -> ErrorData {
    let name: String = name.chars().take(80).collect();
    let message = format!("there is no server {name:?}; /mcp has the tools of all servers");
    ErrorData::invalid_params(message, None)
}
