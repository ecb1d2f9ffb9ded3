//! A member of a relay session, as the session sees it: its queue, and who it is.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::extract::ws::Utf8Bytes;
use gangway_pages::OpenPage;
use tokio::sync::mpsc;

use super::{InvitationGrant, PageSource, page_tools::Offer};

/// Queued bytes per connection, in addition to one message of any size.
const WAITING_BYTES: usize = 4 << 20;

#[derive(Debug, Clone)]
pub enum OutMessage {
    Text(Utf8Bytes),
    /// A last message: another page replaced this one.
    Last(Utf8Bytes),
}

impl OutMessage {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(text) | Self::Last(text) => text.len(),
        }
    }
}

/// A member.
pub struct Member {
    pub number: u64,
    pub out: mpsc::Sender<OutMessage>,
    pub queued: Arc<AtomicUsize>,
    pub client: Option<String>,
    pub presence: bool,
    pub whose: PageSource,
    /// The invitation to the chat that it used.
    pub invitation: Option<InvitationGrant>,
    /// The page's last tool list.
    pub offer: Option<Arc<Offer>>,
    /// The page, as agents of its chat see it.
    pub page: Option<OpenPage>,
}

impl Member {
    /// Returns false for a slow reader: it is removed and its connection closed; it resumes by number.
    pub fn put(&self, out: OutMessage) -> bool {
        if self.is_behind() {
            return false;
        }
        let size = out.len();
        self.queued.fetch_add(size, Ordering::Relaxed);
        let taken = self.out.try_send(out).is_ok();
        if !taken {
            self.queued.fetch_sub(size, Ordering::Relaxed);
        }
        taken
    }

    /// The label of its invitation, its `clientId`, or a number.
    pub fn name(&self) -> String {
        match &self.invitation {
            Some(invitation) => invitation.label.clone(),
            None => agent_name(self.client.as_deref(), self.number),
        }
    }

    /// What the person's decisions about it are kept under: an agent chooses its `clientId`, but not its invitation.
    pub fn identity(&self) -> String {
        match &self.invitation {
            Some(invitation) => format!("invitation {}", invitation.id),
            None => format!("client {}", self.name()),
        }
    }

    /// Whether its queue is full.
    pub fn is_behind(&self) -> bool {
        self.queued.load(Ordering::Relaxed) > WAITING_BYTES || self.out.capacity() == 0
    }
}

/// The name of an agent in presence messages and study logs.
pub fn agent_name(client: Option<&str>, seat: u64) -> String {
    client.map_or_else(|| format!("agent-{seat}"), str::to_owned)
}
