//! What our pages, the extension and the command line read of open requests, and send back.

use gangway_core::{
    Ask, AskBody, AskDecision as Decision, Asker, GrantDuration, Origin, Scope, SessionId, Slug,
    ToolName,
    asks::{PermissionRequest, RequestedServer, RequestedTool},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;
use utoipa::ToSchema;

/// A permission that a page may be granted.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema, TS,
)]
pub enum PermissionScope {
    /// Have a model write text.
    #[serde(rename = "model:prompt")]
    ModelPrompt,
    /// Have a model write and call tools.
    #[serde(rename = "model:tools")]
    ModelTools,
    /// List the models.
    #[serde(rename = "model:list")]
    ModelList,
    /// List the tools.
    #[serde(rename = "mcp:tools.list")]
    ToolsList,
    /// Call tools.
    #[serde(rename = "mcp:tools.call")]
    ToolsCall,
    /// Connect an MCP server.
    #[serde(rename = "mcp:servers.register")]
    ServersRegister,
    /// Read the active tab.
    #[serde(rename = "browser:activeTab.read")]
    ActiveTabRead,
    /// Click elements of the active tab.
    #[serde(rename = "browser:activeTab.click")]
    ActiveTabClick,
    /// Fill in fields of the active tab.
    #[serde(rename = "browser:activeTab.fill")]
    ActiveTabFill,
    /// Take screenshots of the active tab.
    #[serde(rename = "browser:activeTab.screenshot")]
    ActiveTabScreenshot,
    /// Open a chat beside the page.
    #[serde(rename = "chat:open")]
    ChatOpen,
}

/// How long `granted-always` lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub enum PermissionDuration {
    /// One hour.
    #[serde(rename = "1h")]
    Hour,
    /// One day.
    #[serde(rename = "1d")]
    Day,
    /// 30 days.
    #[serde(rename = "30d")]
    Month,
    /// Until it is revoked.
    #[serde(rename = "never")]
    Never,
}

/// An open request to the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AskInfo {
    pub id: String,
    pub asker: AskerInfo,
    pub request: AskRequest,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Timestamp,
    /// When it times out, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum AskerInfo {
    /// A page.
    Site {
        #[ts(type = "string")]
        #[schema(value_type = String)]
        origin: Origin,
    },
    /// An MCP server.
    Server { id: String },
    /// An app.
    App {
        #[ts(type = "string")]
        #[schema(value_type = String)]
        slug: Slug,
        name: String,
    },
    /// An applet.
    Applet {
        #[ts(type = "string")]
        #[schema(value_type = String)]
        slug: Slug,
        name: String,
    },
    /// An agent.
    Agent { name: String },
}

/// What is asked, and so how it is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum AskRequest {
    /// To fill in a form, or to visit a page.
    Elicitation {
        message: String,
        /// The form: a JSON Schema of flat properties.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Object>)]
        #[ts(optional, type = "JsonValue")]
        schema: Option<Value>,
        /// The page to visit instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        url: Option<String>,
    },
    /// To allow an action.
    Action {
        message: String,
        /// Whether "always allow" is offered.
        lasting: bool,
        /// The URL to open, where that is the action.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        url: Option<String>,
    },
    /// To let an applet or app send this message to the agent of a chat.
    Message {
        #[ts(type = "string")]
        #[schema(value_type = String)]
        session_id: SessionId,
        text: String,
    },
    /// To grant permissions to a site.
    Permission(PermissionDetails),
}

/// Permissions that a site requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PermissionDetails {
    /// The page of another site in whose frame the asking page is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string")]
    #[schema(value_type = Option<String>)]
    pub embedder: Option<Origin>,
    /// What is not granted yet.
    #[ts(type = "PermissionScope[]")]
    #[schema(value_type = Vec<PermissionScope>)]
    pub scopes: Vec<Scope>,
    /// Why, in the page's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
    /// The tools to choose from, where it is about tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tools: Option<Vec<AskedTool>>,
    /// An MCP server that the page brings along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub server: Option<AskedServer>,
    /// Whether the page was loaded without HTTPS, so that it can be allowed once only.
    pub once_only: bool,
    /// How many requests of the same origin come after it.
    pub waiting: usize,
}

/// A tool that a permission request is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct AskedTool {
    /// `server/tool`.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub name: ToolName,
    /// In its server's words.
    pub description: String,
    pub server: String,
    /// Whether the page named it.
    pub asked: bool,
}

/// An MCP server that a page brings along, in the page's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct AskedServer {
    pub url: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// The tools that it is said to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tools: Option<Vec<String>>,
}

/// The open requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
pub struct AskList {
    /// Oldest first; of each origin, applet and app one at a time.
    pub asks: Vec<AskInfo>,
}

/// The person's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum AskDecision {
    /// Yes, this time: a form is sent, permissions last ten minutes or until the tab is closed.
    Once,
    /// Yes, from now on; permissions for as long as `duration` says.
    Always,
    /// No; permissions are denied until the person changes that.
    Deny,
}

/// An answer to a request.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AnswerAsk {
    pub decision: AskDecision,
    /// The form, filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    #[ts(optional, type = "Record<string, JsonValue>")]
    pub content: Option<Map<String, Value>>,
    /// The tools of a permission request that stay selected; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string[]")]
    #[schema(value_type = Option<Vec<String>>)]
    pub tools: Option<Vec<ToolName>>,
    /// How long permissions last that are always allowed; 30 days by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "PermissionDuration")]
    #[schema(value_type = Option<PermissionDuration>)]
    pub duration: Option<GrantDuration>,
}

/// A message of `/ws/asks`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum AsksFrame {
    /// The open requests, after each change.
    Asks {
        /// Oldest first.
        asks: Vec<AskInfo>,
    },
    /// The permissions of some origin changed.
    Changed,
}

impl From<&Ask> for AskInfo {
    fn from(ask: &Ask) -> Self {
        Self {
            id: ask.id.to_string(),
            asker: ask.asker.clone().into(),
            request: ask.body.clone().into(),
            asked_at: ask.asked_at,
            expires_at: ask.expires_at,
        }
    }
}

impl From<Asker> for AskerInfo {
    fn from(asker: Asker) -> Self {
        match asker {
            Asker::Site(origin) => Self::Site { origin },
            Asker::Server(id) => Self::Server { id },
            Asker::App(slug, name) => Self::App { slug, name },
            Asker::Applet(slug, name) => Self::Applet { slug, name },
            Asker::Agent(name) => Self::Agent { name },
        }
    }
}

impl From<AskBody> for AskRequest {
    fn from(body: AskBody) -> Self {
        match body {
            AskBody::Elicitation {
                message,
                schema,
                url,
            } => Self::Elicitation {
                message,
                schema,
                url,
            },
            AskBody::Action {
                message,
                lasting,
                url,
            } => Self::Action {
                message,
                lasting,
                url,
            },
            AskBody::Message { session, text } => Self::Message {
                session_id: session,
                text,
            },
            AskBody::Permission(request) => Self::Permission(request.into()),
        }
    }
}

impl From<PermissionRequest> for PermissionDetails {
    fn from(request: PermissionRequest) -> Self {
        let tool = |tool: RequestedTool| AskedTool {
            server: tool.name.server().to_owned(),
            name: tool.name,
            description: tool.description,
            asked: tool.named,
        };
        let server = |server: RequestedServer| AskedServer {
            url: server.url,
            name: server.name,
            description: server.description,
            tools: Some(server.tools).filter(|tools| !tools.is_empty()),
        };
        Self {
            embedder: request.embedder,
            scopes: request.scopes,
            reason: request.reason,
            tools: request
                .tools
                .map(|tools| tools.into_iter().map(tool).collect()),
            server: request.server.map(server),
            once_only: request.once_only,
            waiting: request.waiting,
        }
    }
}

impl From<AskDecision> for Decision {
    fn from(decision: AskDecision) -> Self {
        match decision {
            AskDecision::Once => Self::Once,
            AskDecision::Always => Self::Always,
            AskDecision::Deny => Self::Deny,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_names_are_those_of_the_wire() {
        for scope in Scope::ALL {
            let json = serde_json::to_value(scope).unwrap();
            let read: PermissionScope = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), json);
        }
        for (name, duration) in GrantDuration::ALL {
            assert_eq!(serde_json::to_value(duration).unwrap(), name);
            let read: PermissionDuration = serde_json::from_value(name.into()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), name);
        }
    }
}
