//! The user's approval of tool calls.

/// Whether a tool call needs the user's approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// No approval needed.
    NotNeeded,
    /// The user must answer first.
    Ask {
        /// The question.
        question: String,
        /// The answers that allow or deny the call.
        choices: &'static [Choice],
    },
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
    /// Allow all calls of the tools of the same page in this session.
    Page,
    /// Allow all calls of the tool in every session.
    Always,
    /// Deny this call.
    Deny,
    /// Deny all calls of the tool in every session.
    Never,
}

impl Choice {
    const ALL: [Self; 6] = [
        Self::Once,
        Self::Session,
        Self::Page,
        Self::Always,
        Self::Deny,
        Self::Never,
    ];

    /// The choices about a tool in display order.
    pub const OF_TOOL: &'static [Self] = &[
        Self::Once,
        Self::Session,
        Self::Always,
        Self::Deny,
        Self::Never,
    ];

    /// Those about a tool of a page: a task there takes many tools.
    pub const OF_PAGE_TOOL: &'static [Self] = &[
        Self::Once,
        Self::Page,
        Self::Always,
        Self::Deny,
        Self::Never,
    ];

    /// The texts of these choices.
    #[must_use]
    pub fn labels(choices: &[Self]) -> Vec<String> {
        let labels = choices.iter().map(|choice| choice.label().to_owned());
        labels.collect()
    }

    /// The text of the option, and of the answer.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Once => "Allow once",
            Self::Session => "Allow in this chat",
            Self::Page => "Allow this page in this chat",
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
        !matches!(self, Self::Deny | Self::Never)
    }

    /// Whether it applies to all sessions.
    #[must_use]
    pub const fn is_lasting(self) -> bool {
        matches!(self, Self::Always | Self::Never)
    }
}
