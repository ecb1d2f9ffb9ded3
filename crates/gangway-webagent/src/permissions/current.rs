//! The current permissions of an origin, and the errors for missing ones.

use std::collections::BTreeMap;

use gangway_core::{Grant, Scope, ToolName};

/// The current permissions of an origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentPermissions {
    /// By scope, for all scopes.
    pub scopes: BTreeMap<Scope, Grant>,
    /// The only tools that it may use; without a list it was never asked about tools, and may use none.
    pub tools: Option<Vec<ToolName>>,
}

impl CurrentPermissions {
    /// The state of one scope.
    #[must_use]
    pub fn of(&self, scope: Scope) -> Grant {
        let grant = self.scopes.get(&scope);
        grant.copied().unwrap_or(Grant::NotGranted)
    }

    /// Whether a tool is on the list.
    #[must_use]
    pub fn lists(&self, tool: &ToolName) -> bool {
        let mut tools = self.tools.iter().flatten();
        tools.any(|listed| listed == tool)
    }
}

/// Why a page lacks a permission.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PermissionDenied {
    /// Never asked, or expired.
    #[error("this requires the permission {0}; request it with agent.requestPermissions()")]
    ScopeRequired(Scope),
    /// Denied.
    #[error("the user denied {0} to this site; this can be changed on Gangway's Permissions page")]
    Denied(Scope),
    /// The tool is not among the allowed ones.
    #[error(
        "this site is not allowed to use {0}; request it with agent.requestPermissions() under `tools`"
    )]
    ToolNotAllowed(ToolName),
}

impl PermissionDenied {
    /// The error code, as pages know it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::ScopeRequired(_) => "ERR_SCOPE_REQUIRED",
            Self::Denied(_) => "ERR_PERMISSION_DENIED",
            Self::ToolNotAllowed(_) => "ERR_TOOL_NOT_ALLOWED",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_not_granted_and_each_refusal_has_its_code() {
        let (read, write): (ToolName, ToolName) = (
            "files/read".parse().unwrap(),
            "files/write".parse().unwrap(),
        );
        let mut standing = CurrentPermissions {
            scopes: [(Scope::ChatOpen, Grant::Once)].into(),
            tools: Some(vec![read.clone()]),
        };
        assert_eq!(standing.of(Scope::ChatOpen), Grant::Once);
        assert_eq!(standing.of(Scope::ModelList), Grant::NotGranted);
        assert!(standing.lists(&read) && !standing.lists(&write));
        standing.tools = None;
        assert!(!standing.lists(&read));
        let refused = [
            PermissionDenied::ScopeRequired(Scope::ChatOpen),
            PermissionDenied::Denied(Scope::ChatOpen),
            PermissionDenied::ToolNotAllowed(read),
        ];
        let codes = [
            "ERR_SCOPE_REQUIRED",
            "ERR_PERMISSION_DENIED",
            "ERR_TOOL_NOT_ALLOWED",
        ];
        assert_eq!(refused.map(|refused| refused.code()), codes);
    }
}
