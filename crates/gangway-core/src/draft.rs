//! The unfinished output of a turn.

use std::{collections::HashMap, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use crate::{
    event::{Citation, Event},
    id::{MessageId, QuestionId},
    recovery::PartialTurn,
    store::Commit,
};

/// The unfinished output of a turn, shared with the session so that a stop loses nothing.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) open: Option<OpenMessage>,
    pub(crate) messages: u32,
    pub(crate) calls: u32,
    pub(crate) questions: u32,
    pub(crate) asked: HashMap<QuestionId, oneshot::Sender<String>>,
    /// Receives answers to questions that were open when the turn was resumed.
    pub(crate) answers: HashMap<QuestionId, oneshot::Receiver<String>>,
    /// The citations, for the end of the turn.
    pub(crate) citations: Vec<Citation>,
    pub(crate) last_commit: Option<Commit>,
    /// The agent's own counter, stored with the next event.
    pub(crate) mark: Option<u64>,
}

/// An incomplete message, with the numbers of its first and last delta.
pub(crate) struct OpenMessage {
    pub(crate) message: MessageId,
    pub(crate) text: String,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// A draft shared by the turn and its session.
#[derive(Clone, Default)]
pub(crate) struct SharedDraft(Arc<Mutex<Draft>>);

impl SharedDraft {
    /// The draft of a resumed turn, from the log.
    pub(crate) fn resumed(entry: &PartialTurn) -> Self {
        let open = match &entry.draft {
            Some(Event::Message {
                message,
                text,
                replaces: Some((first, last)),
                ..
            }) => Some(OpenMessage {
                message: message.clone(),
                text: text.clone(),
                first: *first,
                last: *last,
            }),
            _ => None,
        };
        let mut asked = HashMap::new();
        let mut answers = HashMap::new();
        for (question, _) in entry
            .questions
            .iter()
            .filter(|(_, answer)| answer.is_none())
        {
            // From now on, not only once the agent waits: an answer may arrive before that.
            let (sender, receiver) = oneshot::channel();
            asked.insert(question.clone(), sender);
            answers.insert(question.clone(), receiver);
        }
        let draft = Draft {
            open,
            asked,
            answers,
            messages: entry.messages,
            calls: entry.calls,
            questions: u32::try_from(entry.questions.len()).unwrap_or(u32::MAX),
            ..Draft::default()
        };
        Self(Arc::new(Mutex::new(draft)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Draft> {
        self.0.lock()
    }

    /// The open message as an event that replaces its deltas.
    pub(crate) fn close(&self, turn: u64, partial: bool) -> Option<Event> {
        let open = self.lock().open.take()?;
        let replaces = (open.first > 0).then_some((open.first, open.last));
        Some(Event::Message {
            turn,
            message: open.message,
            text: open.text,
            partial,
            replaces,
        })
    }

    /// Whether the agent waits for an answer.
    pub(crate) fn is_asking(&self) -> bool {
        !self.lock().asked.is_empty()
    }

    /// Removes and returns the sender for this question's answer.
    pub(crate) fn answer_to(&self, question: &QuestionId) -> Option<oneshot::Sender<String>> {
        self.lock().asked.remove(question)
    }

    /// The last commit of the turn.
    pub(crate) fn last_commit(&self) -> Option<Commit> {
        self.lock().last_commit
    }
}
