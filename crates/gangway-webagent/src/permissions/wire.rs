//! Messages about permissions between the server, our own pages and the command line.

use std::collections::BTreeMap;

use gangway_core::{Grant, GrantDuration, Origin, Scope, ToolName};
use gangway_http::asks::wire::{PermissionDuration, PermissionScope};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

pub use super::budget::{ModelBudget, SetBudget};

/// The state of one scope of one origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "kebab-case")]
pub enum PermissionGrant {
    /// Allowed until revoked.
    GrantedAlways,
    /// Allowed for ten minutes, or until the tab is closed.
    GrantedOnce,
    /// Denied until the user changes it.
    Denied,
    /// Not decided.
    NotGranted,
}

/// When grants expire; what is absent lasts until revoked.
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
    /// By URL of the server.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(optional, type = "Record<string, string>")]
    #[schema(value_type = BTreeMap<String, String>)]
    pub servers: BTreeMap<String, Timestamp>,
}

/// The permissions of an origin's pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct OriginPermissions {
    /// The origin.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub origin: Origin,
    /// By scope.
    #[ts(type = "Record<PermissionScope, PermissionGrant>")]
    #[schema(value_type = BTreeMap<PermissionScope, PermissionGrant>)]
    pub scopes: BTreeMap<Scope, Grant>,
    /// The only tools that they may use; none without a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string[]")]
    #[schema(value_type = Option<Vec<String>>)]
    pub allowed_tools: Option<Vec<ToolName>>,
    /// The MCP servers that they may provide without a request.
    pub servers: Vec<String>,
    /// Expiries of those that expire.
    #[serde(default, skip_serializing_if = "GrantEnds::is_empty")]
    #[ts(optional, as = "Option<GrantEnds>")]
    pub ends: GrantEnds,
    /// Whether the origin lacks HTTPS, so that it can only be allowed once.
    pub once_only: bool,
    /// Their model budget, if they may use models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub budget: Option<ModelBudget>,
    /// When they last used a permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_used: Option<Timestamp>,
}

/// The permissions of all origins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
pub struct PermissionList {
    /// By origin.
    pub origins: Vec<OriginPermissions>,
}

/// New permissions of an origin; absent values stay.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetPermissions {
    /// The origin.
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
    /// The only MCP servers that they may provide without a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub servers: Option<Vec<String>>,
    /// How long the grants last; default is until revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "PermissionDuration")]
    #[schema(value_type = Option<PermissionDuration>)]
    pub duration: Option<GrantDuration>,
    /// Their model budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub budget: Option<SetBudget>,
}

/// The type of an entry of the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum AuditKind {
    /// A decision of the user.
    Decision,
    /// A use by a page.
    Use,
}

/// An entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct AuditEntry {
    /// The time.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The origin.
    pub origin: String,
    /// Its type.
    pub kind: AuditKind,
    /// The permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "PermissionScope")]
    #[schema(value_type = Option<PermissionScope>)]
    pub scope: Option<Scope>,
    /// The method or tool that was used, or how it was decided.
    pub what: String,
    /// `ok` or an error code, or the decision.
    pub outcome: String,
    /// Where the user decided: `page` or `terminal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub by: Option<String>,
}

/// A page of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct AuditPage {
    /// Newest first.
    pub entries: Vec<AuditEntry>,
    /// Cursor of the next page, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<String>,
    /// The number of uses since the start that were not logged.
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
