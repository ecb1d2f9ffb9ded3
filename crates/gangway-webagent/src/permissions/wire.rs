//! What the pages that ask the person, and the command line, exchange with the server.

use std::collections::BTreeMap;

use gangway_core::{Grant, GrantDuration, Origin, Scope, ToolName};
use gangway_http::asks::wire::{PermissionDuration, PermissionScope};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

pub use super::budget::{ModelBudget, SetBudget};

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
    #[ts(optional, type = "PermissionDuration")]
    #[schema(value_type = Option<PermissionDuration>)]
    pub duration: Option<GrantDuration>,
    /// How much of the models they may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub budget: Option<SetBudget>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_the_documents_are_those_on_the_wire() {
        for grant in [Grant::Always, Grant::Once, Grant::Denied, Grant::NotGranted] {
            let json = serde_json::to_value(grant).unwrap();
            let read: PermissionGrant = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), json);
        }
    }
}
