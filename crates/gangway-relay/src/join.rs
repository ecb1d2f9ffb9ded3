//! A join, and its response.

use gangway_core::SessionId;
use serde::Serialize;
use ts_rs::TS;

use super::{InvitationGrant, Role};

/// Where a page comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PageSource {
    /// A client with access to the API.
    #[default]
    Api,
    /// An app's own host.
    App(String),
}

#[derive(Debug)]
pub struct Join {
    pub role: Role,
    /// The last number it received.
    pub since: Option<u64>,
    /// Its `clientId`.
    pub client: Option<String>,
    /// Whether it wants presence messages.
    pub presence: bool,
    pub whose: PageSource,
    /// The chat whose agents may use the page too.
    pub chat: Option<SessionId>,
    /// The session in whose log a page without a chat is.
    pub log: Option<SessionId>,
    /// The invitation that an agent of a chat used.
    pub invitation: Option<InvitationGrant>,
}

/// The response to a join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "RelayJoined")]
pub struct Joined {
    pub role: Role,
    pub session_id: String,
    /// The number of the last message so far.
    pub seq: u64,
    pub host: bool,
    /// Number of agents.
    pub agents: usize,
    /// The open study session.
    pub study_session: Option<String>,
    /// There is a gap: the client must read the page's state again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub resync: bool,
}
