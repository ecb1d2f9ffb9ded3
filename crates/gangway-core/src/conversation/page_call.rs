//! Calls of a page's tools by callers outside of a turn.

use super::{Conversation, EntryBody};
use crate::{
    event::Logged,
    page::{PageEntry, PageId},
};

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
            PageEntry::Opened { .. }
            | PageEntry::Left
            | PageEntry::Offered { .. }
            | PageEntry::Message { .. } => {}
        }
    }
}
