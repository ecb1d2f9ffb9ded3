//! A turn as its agent sees it: the prompt, the history, and the output.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    app::AppEventKind,
    conversation::{Conversation, Entry},
    draft::{OpenMessage, SharedDraft},
    error::{Error, Result},
    event::{Citation, Event, Source},
    id::{CallId, LaunchId, MessageId, QuestionId, SessionId},
    log::Log,
    session::Profile,
    store::{self, Append, Store},
    tool::ToolError,
};

/// Maximum size of a message: far beyond any real answer, small enough to keep in memory.
pub const MESSAGE_BYTES: usize = 8 << 20;

/// Maximum number of past events that an agent is shown.
const HISTORY_EVENTS: usize = 2000;

/// A turn, as its agent sees it.
pub struct Turn {
    pub(crate) session: SessionId,
    pub(crate) number: u64,
    pub(crate) prompt: String,
    pub(crate) source: Source,
    pub(crate) profile: Profile,
    pub(crate) store: Store,
    pub(crate) log: Arc<Log>,
    pub(crate) draft: SharedDraft,
    /// Questions of this turn from before a restart, with their answers.
    pub(crate) asked_before: Vec<(QuestionId, Option<String>)>,
}

/// Where the counter of an agent that survives restarts is stored.
pub(crate) fn mark_key(session: SessionId) -> String {
    format!("heard/{session}")
}

pub(crate) async fn marked(store: &Store, session: SessionId) -> Result<u64> {
    let stored = store.get::<u64>(&mark_key(session)).await?;
    Ok(stored.map_or(0, |stored| stored.value))
}

impl Turn {
    /// The prompt.
    #[must_use]
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Who sent the prompt.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Its number, which is its message's.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Questions that were asked in this turn before a restart, with their answers.
    #[must_use]
    pub fn asked_before(&self) -> &[(QuestionId, Option<String>)] {
        &self.asked_before
    }

    /// The question that this turn waited for before a restart.
    #[must_use]
    pub fn open_question(&self) -> Option<QuestionId> {
        let open = self
            .asked_before
            .last()
            .filter(|(_, answer)| answer.is_none());
        open.map(|(question, _)| question.clone())
    }

    /// The stored value of the agent's own counter.
    pub async fn marked(&self) -> Result<u64> {
        marked(&self.store, self.session).await
    }

    /// Stores the agent's own counter atomically with the next event.
    pub fn mark(&mut self, count: u64) {
        self.draft.lock().mark = Some(count);
    }

    /// Waits until all output is on disk.
    pub async fn flushed(&self) -> Result<()> {
        let last = self.draft.last_commit();
        match last {
            Some(commit) => self.store.keep(commit).await,
            None => Ok(()),
        }
    }

    /// The session's model, if set.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.profile.model.as_deref()
    }

    /// The events of earlier turns, oldest first.
    pub async fn history(&self) -> Result<Vec<Entry>> {
        let mut entries = self.entries().await?;
        // By turn, not by number: a queued message was logged before the answer that precedes it.
        entries.retain(|entry| entry.turn < self.number);
        entries.sort_by_key(|entry| entry.turn);
        Ok(entries)
    }

    /// The events of this turn after its prompt, oldest first.
    pub async fn so_far(&self) -> Result<Vec<Entry>> {
        let mut entries = self.entries().await?;
        entries.retain(|entry| entry.turn == self.number && entry.seq != self.number);
        Ok(entries)
    }

    async fn entries(&self) -> Result<Vec<Entry>> {
        let tail = self.store.tail(self.session, None, HISTORY_EVENTS).await?;
        Ok(Conversation::fold(&tail).entries)
    }

    /// Whether a message carries the app event with this id.
    pub async fn carries(&self, launch: LaunchId, id: &str) -> Result<bool> {
        let name = AppEventKind::Carried.name(launch, id);
        Ok(self.store.once(self.session, &name).await?.is_some())
    }

    /// Appends to the current message; begins one if none is open.
    pub async fn delta(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let message = self.open_message(text.len())?;
        let delta = Event::Delta {
            turn: self.number,
            message,
            text: text.to_owned(),
        };
        let written = self.write(vec![delta]).await?;
        if let Some(open) = &mut self.draft.lock().open {
            // Only what is stored is counted, so that a stop in between keeps text and deltas equal.
            open.text.push_str(text);
            open.last = written;
            if open.first == 0 {
                open.first = written;
            }
        }
        Ok(())
    }

    /// Ends the current message; the next delta begins another one.
    pub async fn end_message(&mut self) -> Result<()> {
        match self.draft.close(self.number, false) {
            Some(message) => self.write(vec![message]).await.map(|_| ()),
            None => Ok(()),
        }
    }

    /// Shows the user a notice that is not part of the answer.
    pub async fn notice(&mut self, text: &str) -> Result<()> {
        let (turn, text) = (self.number, text.to_owned());
        self.write_next(Event::Notice { turn, text }).await
    }

    /// Reports context usage.
    pub async fn context(&mut self, used: u64, window: Option<u64>) -> Result<()> {
        let turn = self.number;
        let event = Event::ContextUsed { turn, used, window };
        self.write(vec![event]).await.map(|_| ())
    }

    /// Reports a tool call.
    pub async fn tool_call(&mut self, tool: &str, arguments: Value) -> Result<CallId> {
        let call = self.next_call();
        self.write_next(Event::ToolCall {
            turn: self.number,
            call: call.clone(),
            tool: tool.to_owned(),
            arguments,
        })
        .await?;
        Ok(call)
    }

    /// Reports a tool result.
    pub async fn tool_result(
        &mut self,
        call: CallId,
        tool: &str,
        result: std::result::Result<Value, String>,
    ) -> Result<()> {
        self.write_result(call, tool, result, None).await
    }

    /// Reports a failed tool call.
    pub async fn tool_failed(&mut self, call: CallId, tool: &str, error: &ToolError) -> Result<()> {
        let code = Some(error.code().to_owned());
        self.write_result(call, tool, Err(error.to_string()), code)
            .await
    }

    /// Reports a tool that was requested but not called.
    pub async fn tool_skipped(&mut self, tool: &str, error: &ToolError) -> Result<()> {
        let call = self.next_call();
        self.tool_failed(call, tool, error).await
    }

    /// Sets the citations that are logged at the end of the turn.
    pub fn cite(&mut self, citations: Vec<Citation>) {
        self.draft.lock().citations = citations;
    }

    fn next_call(&self) -> CallId {
        let mut draft = self.draft.lock();
        draft.calls += 1;
        CallId::nth(self.number, draft.calls)
    }

    async fn write_result(
        &self,
        call: CallId,
        tool: &str,
        result: std::result::Result<Value, String>,
        code: Option<String>,
    ) -> Result<()> {
        let event = Event::ToolResult {
            turn: self.number,
            call,
            tool: tool.to_owned(),
            result,
            code,
        };
        self.write(vec![event]).await.map(|_| ())
    }

    /// Asks the user and waits for the answer, without a timeout.
    pub async fn ask(&mut self, text: &str, options: &[String]) -> Result<String> {
        let (_, answer) = self.put_question(text, options).await?;
        answer.await.map_err(|_| Error::Stopping)
    }

    /// Waits for the answer to the question that was open before a restart.
    pub async fn reopen(&mut self, question: &QuestionId) -> Result<String> {
        self.await_answer(question)
            .await
            .map_err(|_| Error::Stopping)
    }

    /// Asks the user; the answer arrives separately.
    pub async fn put_question(
        &mut self,
        text: &str,
        options: &[String],
    ) -> Result<(QuestionId, oneshot::Receiver<String>)> {
        let question = {
            let mut draft = self.draft.lock();
            draft.questions += 1;
            QuestionId::nth(self.number, draft.questions)
        };
        let answer = self.put(&question, text, options).await?;
        Ok((question, answer))
    }

    /// Asks the user whether a call is allowed; the answer arrives separately.
    pub async fn ask_about(
        &mut self,
        call: &CallId,
        text: &str,
        options: &[String],
    ) -> Result<oneshot::Receiver<String>> {
        self.put(&QuestionId::about(call), text, options).await
    }

    async fn put(
        &mut self,
        question: &QuestionId,
        text: &str,
        options: &[String],
    ) -> Result<oneshot::Receiver<String>> {
        let answer = self.await_answer(question);
        self.write_next(Event::Question {
            turn: self.number,
            question: question.clone(),
            text: text.to_owned(),
            options: options.to_vec(),
        })
        .await?;
        Ok(answer)
    }

    /// Closes a question that no longer needs an answer, unless it was answered.
    pub async fn withdraw(&mut self, question: &QuestionId, why: &str) -> Result<()> {
        if self.draft.answer_to(question).is_none() {
            return Ok(());
        }
        let (turn, question) = (self.number, question.clone());
        let text = why.to_owned();
        let answer = Event::Answer {
            turn,
            question,
            text,
        };
        self.write(vec![answer]).await.map(|_| ())
    }

    /// Waits for the answer to a logged question.
    pub fn await_answer(&mut self, question: &QuestionId) -> oneshot::Receiver<String> {
        let mut draft = self.draft.lock();
        if let Some(answer) = draft.answers.remove(question) {
            return answer;
        }
        let (sender, answer) = oneshot::channel();
        draft.asked.insert(question.clone(), sender);
        answer
    }

    fn open_message(&self, more: usize) -> Result<MessageId> {
        let mut draft = self.draft.lock();
        if draft.open.is_none() {
            draft.messages += 1;
            let message = MessageId::nth(self.number, draft.messages);
            draft.open = Some(OpenMessage {
                message,
                text: String::new(),
                first: 0,
                last: 0,
            });
        }
        match &draft.open {
            Some(open) if open.text.len() + more <= MESSAGE_BYTES => Ok(open.message.clone()),
            _ => Err(Error::AnswerTooLong {
                limit: MESSAGE_BYTES,
            }),
        }
    }

    /// Ends the open message and appends an event, atomically.
    async fn write_next(&self, event: Event) -> Result<()> {
        let message = self.draft.close(self.number, false);
        let events = message.into_iter().chain([event]).collect();
        self.write(events).await.map(|_| ())
    }

    async fn write(&self, events: Vec<Event>) -> Result<u64> {
        let mark = self.draft.lock().mark.take();
        let records = match mark {
            Some(count) => vec![store::record(mark_key(self.session), &count)?],
            None => Vec::new(),
        };
        let append = Append {
            session: self.session,
            events,
            records,
            log: Some(Arc::clone(&self.log)),
            once: None,
        };
        let written = self.store.append(append).await?;
        self.draft.lock().last_commit = Some(written.commit);
        Ok(written.last)
    }
}
