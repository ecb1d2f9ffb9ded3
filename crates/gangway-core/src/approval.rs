//! The user's approval of tool calls.

/// Whether a tool call needs the user's approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// No approval needed.
    NotNeeded,
    /// The user must answer this question first.
    Ask(String),
    /// Denied, with the reason.
    Denied(String),
}

/// The user's answer to a request for approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Allow this call.
    Once,
    /// Allow all calls of the tool in this session.
    Session,
    /// Allow all calls of the tool in every session.
    Always,
    /// Deny this call.
    Deny,
    /// Deny all calls of the tool in every session.
    Never,
}

impl Choice {
    /// All choices in display order.
    pub const ALL: [Self; 5] = [
        Self::Once,
        Self::Session,
        Self::Always,
        Self::Deny,
        Self::Never,
    ];

    /// The text of the option, and of the answer.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Once => "Allow once",
            Self::Session => "Allow in this chat",
            Self::Always => "Always allow",
            Self::Deny => "Deny",
            Self::Never => "Never allow",
        }
    }

    /// Parses an answer.
    #[must_use]
    pub fn of(answer: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|choice| choice.label() == answer.trim())
    }

    /// Whether the tool is called.
    #[must_use]
    pub const fn allows(self) -> bool {
        matches!(self, Self::Once | Self::Session | Self::Always)
    }

    /// Whether it applies to all sessions.
    #[must_use]
    pub const fn is_lasting(self) -> bool {
        matches!(self, Self::Always | Self::Never)
    }
}
