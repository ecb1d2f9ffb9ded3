//! What one request may reach: who sent it, and to which address.

use gangway_core::Caller;
use gangway_core::{Source, ToolName, own_tool};
use gangway_http::auth::{Admitted, Reach};
use gangway_mcp::{ServerId, read_result};
use rmcp::{ErrorData, RoleServer, service::RequestContext};

use crate::app::App;

/// The header that names a session of the older revisions.
pub(super) const SESSION: &str = "mcp-session-id";

/// Characters of a client's name that are shown.
const NAME: usize = 60;

/// The reach of a request.
pub(super) struct Scope {
    /// Whose request it is.
    pub(super) admitted: Admitted,
    /// The only server that it sees, under its own names.
    pub(super) server: Option<ServerId>,
    /// What the client calls itself.
    pub(super) client: String,
    /// Its version, as it says.
    version: Option<String>,
    /// The session of a client of the older revisions.
    session: Option<String>,
}

impl Scope {
    /// Of this request. One that did not come through the guard is refused.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Result<Self, ErrorData> {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let parts = parts.ok_or_else(|| fault("a request came from nowhere"))?;
        let admitted = parts.extensions.get::<Admitted>().cloned();
        let admitted = admitted.ok_or_else(|| fault("a request passed the guard by"))?;
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

    /// The connection that it belongs to: limits on calls are for each of them, so that no client waits for another
    /// one. The current revision has no sessions; there a client is known by its key and its name.
    pub(super) fn connection(&self) -> String {
        let caller = self.admitted.caller();
        match &self.session {
            Some(session) => format!("{caller} session {session}"),
            None => format!("{caller} client {}", self.client),
        }
    }

    /// Whether the server that is addressed is there, and some of it is open to the sender.
    pub(super) fn sees(&self, app: &App) -> Result<(), ErrorData> {
        self.addressed(app, Reach::Some).map(|_| ())
    }

    /// The server that everything goes through to. Resources and prompts are open to whoever has all of it.
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

    /// Whether the logs of sessions are open to the sender.
    pub(super) fn reads_sessions(&self, app: &App) -> bool {
        self.allows_own(app, &own_tool("read_session"))
    }

    /// Whether a tool can be seen and called.
    pub(super) fn allows(&self, app: &App, tool: &ToolName) -> bool {
        let here = self
            .server
            .as_ref()
            .is_none_or(|id| id.as_str() == tool.server());
        here && self.admitted.allows(&app.http, tool)
    }

    /// Whether one of Gangway's own tools can be seen and called.
    pub(super) fn allows_own(&self, app: &App, tool: &ToolName) -> bool {
        // Whoever was given the beginning of a result may have the rest.
        self.server.is_none()
            && (read_result::is_read_result(tool) || self.admitted.allows(&app.http, tool))
    }

    /// Under whose name things are done.
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
    tracing::error!(what, "the MCP door");
    ErrorData::internal_error("this is a fault in Gangway; its log says more", None)
}

fn no_server(name: &str) -> ErrorData {
    let name: String = name.chars().take(80).collect();
    let message = format!("there is no server {name:?}; /mcp has the tools of all");
    ErrorData::invalid_params(message, None)
}
