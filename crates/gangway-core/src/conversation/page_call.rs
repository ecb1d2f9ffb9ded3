//! Calls of a page's tools and messages of external agents, outside of a turn.

use super::{Conversation, EntryBody};
use crate::{
    event::Logged,
    page::{PageEntry, PageId},
};

/// The types of messages that people read.
const MESSAGES: [&str; 2] = ["agent.message", "user.message"];

impl Conversation {
    /// Who opened and left is not part of the conversation.
    pub(super) fn page_call(&mut self, logged: &Logged, page: PageId, page_event: &PageEntry) {
        match page_event {
            PageEntry::Called {
                call,
                tool,
                arguments,
                by,
            } => self.push(
                logged,
                EntryBody::PageCall {
                    page,
                    call: call.clone(),
                    tool: tool.clone(),
                    arguments: arguments.clone(),
                    by: by.clone(),
                    result: None,
                },
            ),
            PageEntry::Returned { call, result, .. } => {
                if let Some(EntryBody::PageCall { result: got, .. }) = self.find(
                    |line| matches!(line, EntryBody::PageCall { call: one, .. } if one == call),
                ) {
                    *got = Some(result.clone());
                }
            }
            PageEntry::Message {
                r#type,
                payload,
                by,
            } if MESSAGES.contains(&r#type.as_str()) => {
                let text = payload["text"].as_str().unwrap_or_default();
                if !text.is_empty() {
                    let (text, by) = (text.to_owned(), by.clone());
                    self.push(logged, EntryBody::PageMessage { page, text, by });
                }
            }
            PageEntry::Opened { .. }
            | PageEntry::Left
            | PageEntry::Offered { .. }
            | PageEntry::Message { .. } => {}
        }
    }
}
