//! What the pages that ask the person, and the command line, exchange with the server.

use std::collections::BTreeMap;

use gangway_core::{Grant, Origin, Scope, ToolName};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

pub use super::budget::{ModelBudget, SetBudget};

/// One thing that a page may be allowed to do.
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
    /// See which models there are.
    #[serde(rename = "model:list")]
    ModelList,
    /// See which tools there are.
    #[serde(rename = "mcp:tools.list")]
    ToolsList,
    /// Call tools.
    #[serde(rename = "mcp:tools.call")]
    ToolsCall,
    /// Bring an MCP server along.
    #[serde(rename = "mcp:servers.register")]
    ServersRegister,
    /// Read the page that is open.
    #[serde(rename = "browser:activeTab.read")]
    ActiveTabRead,
    /// Click elements of the page that is open.
    #[serde(rename = "browser:activeTab.click")]
    ActiveTabClick,
    /// Fill in fields of the page that is open.
    #[serde(rename = "browser:activeTab.fill")]
    ActiveTabFill,
    /// Take pictures of the page that is open.
    #[serde(rename = "browser:activeTab.screenshot")]
    ActiveTabScreenshot,
    /// Open a chat beside the page.
    #[serde(rename = "chat:open")]
    ChatOpen,
}

/// What stands about one scope of one origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "kebab-case")]
pub enum PermissionGrant {
    /// Allowed until it is revoked.
    GrantedAlways,
    /// Allowed for ten minutes, or until the tab is closed.
    GrantedOnce,
    /// Refused until the person says otherwise.
    Denied,
    /// Nothing was said.
    NotGranted,
}

/// How long `granted-always` lasts.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    ToSchema,
    TS,
    clap::ValueEnum,
)]
pub enum GrantDuration {
    /// One hour
    #[serde(rename = "1h")]
    #[value(name = "1h")]
    Hour,
    /// One day
    #[serde(rename = "1d")]
    #[value(name = "1d")]
    Day,
    /// 30 days
    #[serde(rename = "30d")]
    #[value(name = "30d")]
    Month,
    /// Until it is revoked
    #[default]
    #[serde(rename = "never")]
    Never,
}

/// When grants end; what is not named lasts until it is revoked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(default)]
pub struct GrantEnds {
    /// By scope.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(optional, type = "Partial<Record<PermissionScope, string>>")]
    #[schema(value_type = BTreeMap<PermissionScope, String>)]
    pub scopes: BTreeMap<Scope, Timestamp>,
    /// By tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(optional, type = "Record<string, string>")]
    #[schema(value_type = BTreeMap<String, String>)]
    pub tools: BTreeMap<ToolName, Timestamp>,
    /// By the address of a server.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(optional, type = "Record<string, string>")]
    #[schema(value_type = BTreeMap<String, String>)]
    pub servers: BTreeMap<String, Timestamp>,
}

/// What pages of one origin may do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct OriginPermissions {
    /// Where they come from.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub origin: Origin,
    /// What stands about each scope.
    #[ts(type = "Record<PermissionScope, PermissionGrant>")]
    #[schema(value_type = BTreeMap<PermissionScope, PermissionGrant>)]
    pub scopes: BTreeMap<Scope, Grant>,
    /// The only tools that they may use; none where there is no list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string[]")]
    #[schema(value_type = Option<Vec<String>>)]
    pub allowed_tools: Option<Vec<ToolName>>,
    /// The MCP servers that they may bring along without a question.
    pub servers: Vec<String>,
    /// When those of them end that do.
    #[serde(default, skip_serializing_if = "GrantEnds::is_empty")]
    #[ts(optional, as = "Option<GrantEnds>")]
    pub ends: GrantEnds,
    /// Whether they come without HTTPS, so that they can be allowed nothing for longer than once.
    pub once_only: bool,
    /// How much of the models they may use, where they may use any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub budget: Option<ModelBudget>,
    /// When they last used any of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_used: Option<Timestamp>,
}

/// What pages may do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
pub struct PermissionList {
    /// By name.
    pub origins: Vec<OriginPermissions>,
}

/// What pages of an origin shall be allowed; what is not named stays as it is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetPermissions {
    /// Where they come from.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub origin: Origin,
    /// `granted-always`, `denied` or `not-granted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "Partial<Record<PermissionScope, PermissionGrant>>")]
    #[schema(value_type = Option<BTreeMap<PermissionScope, PermissionGrant>>)]
    pub scopes: Option<BTreeMap<Scope, Grant>>,
    /// The only tools that they may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string[]")]
    #[schema(value_type = Option<Vec<String>>)]
    pub allowed_tools: Option<Vec<ToolName>>,
    /// The only MCP servers that they may bring along without a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub servers: Option<Vec<String>>,
    /// How long what is allowed lasts; until it is revoked when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub duration: Option<GrantDuration>,
    /// How much of the models they may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub budget: Option<SetBudget>,
}

/// A question of a page to the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PermissionAsk {
    /// Names it in the answer.
    pub id: String,
    /// Where the page comes from.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub origin: Origin,
    /// The page of another site in whose frame it is, where it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string")]
    #[schema(value_type = Option<String>)]
    pub embedder: Option<Origin>,
    /// What it wishes to do and may not yet.
    #[ts(type = "PermissionScope[]")]
    #[schema(value_type = Vec<PermissionScope>)]
    pub scopes: Vec<Scope>,
    /// Why, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
    /// The tools to choose from, where it is about tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tools: Option<Vec<AskedTool>>,
    /// An MCP server that it brings along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub server: Option<AskedServer>,
    /// Whether the page comes without HTTPS, so that it can be allowed nothing for longer than once.
    pub once_only: bool,
    /// When it was asked.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Timestamp,
    /// When it is no longer waited for.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// How many questions of the same origin come after it.
    pub waiting: usize,
}

/// A tool that a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct AskedTool {
    /// `server/tool`.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub name: ToolName,
    /// What it is good for, in its server's words.
    pub description: String,
    /// The server that has it.
    pub server: String,
    /// Whether the page named it.
    pub asked: bool,
}

/// An MCP server that a question is about, in the page's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct AskedServer {
    /// Where it is.
    pub url: String,
    /// What it is called.
    pub name: String,
    /// What it is good for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// The tools that it is said to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tools: Option<Vec<String>>,
}

/// The questions that are open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
pub struct PermissionAsks {
    /// Oldest first, one of each origin.
    pub asks: Vec<PermissionAsk>,
}

/// What the person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum AskDecision {
    /// Yes, for ten minutes or until the tab is closed.
    Once,
    /// Yes, for as long as `duration` says.
    Always,
    /// No, until the person says otherwise.
    Deny,
}

/// An answer to a question of a page.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AnswerAsk {
    /// What the person says.
    pub decision: AskDecision,
    /// The tools that stay checked; all of the question when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string[]")]
    #[schema(value_type = Option<Vec<String>>)]
    pub tools: Option<Vec<ToolName>>,
    /// How long `always` lasts; 30 days when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub duration: Option<GrantDuration>,
}

/// What an entry of the log tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum AuditKind {
    /// The person decided something.
    Decision,
    /// A page used something.
    Use,
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct AuditEntry {
    /// When it was.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Whom it is about.
    pub origin: String,
    /// What it tells of.
    pub kind: AuditKind,
    /// The permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "PermissionScope")]
    #[schema(value_type = Option<PermissionScope>)]
    pub scope: Option<Scope>,
    /// The method or the tool that was used; how it was decided.
    pub what: String,
    /// `ok` or the code of an error; what was decided.
    pub outcome: String,
    /// Where the person decided: `page` or `terminal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub by: Option<String>,
}

/// A page of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct AuditPage {
    /// Newest first.
    pub entries: Vec<AuditEntry>,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<String>,
    /// How many uses since the start were too many to write down.
    #[ts(type = "number")]
    pub lost: u64,
}

/// What `/ws/permissions` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum PermissionsFrame {
    /// The questions that are open, whenever they are others than before.
    Asks {
        /// Oldest first, one of each origin.
        asks: Vec<PermissionAsk>,
    },
    /// What some origin may do has changed.
    Changed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_the_documents_are_those_on_the_wire() {
        for scope in Scope::ALL {
            let json = serde_json::to_value(scope).unwrap();
            let read: PermissionScope = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), json);
        }
        for grant in [Grant::Always, Grant::Once, Grant::Denied, Grant::NotGranted] {
            let json = serde_json::to_value(grant).unwrap();
            let read: PermissionGrant = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), json);
        }
    }
}
