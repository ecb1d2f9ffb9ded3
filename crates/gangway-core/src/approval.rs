//! The person's approval of tool calls.

/// Whether a tool may be called without asking the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// It may.
    NotNeeded,
    /// The person is asked this question first.
    Ask(String),
    /// It may not, for this reason.
    Denied(String),
}

/// The person's answer to the question whether a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// This call.
    Once,
    /// Every call of the tool in this session.
    Session,
    /// Every call of the tool in every session.
    Always,
    /// Not this call.
    Deny,
    /// No call of the tool in any session.
    Never,
}

impl Choice {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 5] = [
        Self::Once,
        Self::Session,
        Self::Always,
        Self::Deny,
        Self::Never,
    ];

    /// The text of the option, which is also the text of the answer.
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

    /// The choice that an answer names.
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

    /// Whether it holds beyond the session in which it was made.
    #[must_use]
    pub const fn is_lasting(self) -> bool {
        matches!(self, Self::Always | Self::Never)
    }
}
