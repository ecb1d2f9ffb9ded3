//! A conversation as displayed, folded from a log.

mod page_call;

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    app::AppEvent,
    event::{Event, Logged, Outcome, Source},
    id::{AppName, CallId, LaunchId, MessageId, QuestionId},
    page::PageId,
    session::Profile,
    store::Tail,
};

/// One item of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The number of its first event.
    pub seq: u64,
    /// When it began.
    pub at: Timestamp,
    /// Its turn.
    pub turn: u64,
    /// Whether the chat hides it.
    pub hidden: bool,
    /// Its content.
    pub line: EntryBody,
}

/// The kinds of items.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryBody {
    /// A message to the agent.
    User {
        /// The text.
        text: String,
        /// Who sent it.
        source: Source,
    },
    /// A message of the agent.
    Assistant {
        /// The message.
        message: MessageId,
        /// Its text so far.
        text: String,
        /// Whether the turn ended before the message was complete.
        partial: bool,
        /// Whether more text will follow.
        streaming: bool,
    },
    /// A tool call.
    Tool {
        /// The call.
        call: CallId,
        /// `server/tool`.
        tool: String,
        /// Its arguments.
        arguments: Value,
        /// Its result, once available.
        result: Option<Result<Value, String>>,
    },
    /// A question of the agent.
    Asked {
        /// The question.
        question: QuestionId,
        /// The text.
        text: String,
        /// Suggested answers.
        options: Vec<String>,
        /// The answer, once given.
        answer: Option<String>,
    },
    /// An event between an app and its agent.
    App {
        /// The launch.
        launch: LaunchId,
        /// The app.
        app: AppName,
        /// The event.
        app_event: AppEvent,
    },
    /// A call of a page's tool by a caller outside of the session's turns.
    PageCall {
        /// The page.
        page: PageId,
        /// Identifies the call in this session.
        call: String,
        /// `server/tool`.
        tool: String,
        /// Its arguments.
        arguments: Value,
        /// Who called it.
        by: Source,
        /// Its result, once available.
        result: Option<Result<Value, String>>,
    },
    /// A message of an external agent, or of the person at a page.
    PageMessage {
        /// The page.
        page: PageId,
        /// The text.
        text: String,
        /// The agent; `None` for the person.
        by: Option<String>,
    },
    /// A notice about the turn.
    Notice {
        /// The text.
        text: String,
    },
    /// The turn failed.
    Failed {
        /// A short machine-readable reason.
        code: String,
        /// The message for the user.
        message: String,
        /// Whether a retry may succeed.
        retryable: bool,
    },
    /// The turn was not completed.
    Ended {
        /// How it ended.
        outcome: Outcome,
    },
}

/// A conversation with its unfinished turns.
#[derive(Debug, Default)]
pub struct Conversation {
    /// The items, oldest first.
    pub entries: Vec<Entry>,
    /// Running turns.
    pub running: Vec<u64>,
    /// Queued messages.
    pub queued: Vec<u64>,
    /// The session's settings, if the log contains them.
    pub profile: Option<Profile>,
    /// Context usage: used tokens, and the size of the window.
    pub context: Option<(u64, Option<u64>)>,
    /// How the last turn ended.
    pub last_outcome: Option<Outcome>,
    /// Turns that the chat hides.
    hidden: BTreeSet<u64>,
}

impl Conversation {
    /// Folds a log, or the newest part of one.
    #[must_use]
    pub fn fold(tail: &Tail) -> Self {
        let mut conversation = Self::default();
        conversation.hidden.extend(&tail.hidden);
        for event in &tail.events {
            conversation.apply(event);
        }
        conversation
    }

    fn apply(&mut self, logged: &Logged) {
        let seq = logged.seq;
        self.notice_turn(logged);
        match &logged.event {
            Event::Created { profile } | Event::Changed { profile } => {
                self.profile = Some(profile.clone());
            }
            Event::MessageStarted {
                prompt,
                source,
                shown,
            } => {
                if !shown {
                    self.hidden.insert(seq);
                }
                self.queued.push(seq);
                self.push(
                    logged,
                    EntryBody::User {
                        text: prompt.clone(),
                        source: source.clone(),
                    },
                );
            }
            Event::TurnStarted { .. }
            | Event::StateChanged { .. }
            | Event::ReloadAsked { .. }
            | Event::OpenAsked { .. }
            | Event::ConsentRequested { .. }
            | Event::ConsentChanged { .. } => {}
            Event::Delta { message, text, .. } => match self.message(message) {
                Some(EntryBody::Assistant {
                    text: so_far,
                    streaming: true,
                    ..
                }) => so_far.push_str(text),
                Some(_) => {}
                None => self.push(
                    logged,
                    EntryBody::Assistant {
                        message: message.clone(),
                        text: text.clone(),
                        partial: false,
                        streaming: true,
                    },
                ),
            },
            Event::Message {
                message,
                text,
                partial,
                ..
            } => {
                let whole = EntryBody::Assistant {
                    message: message.clone(),
                    text: text.clone(),
                    partial: *partial,
                    streaming: false,
                };
                match self.message(message) {
                    Some(line) => *line = whole,
                    None => self.push(logged, whole),
                }
            }
            Event::ToolCall {
                call,
                tool,
                arguments,
                ..
            } => self.push(
                logged,
                EntryBody::Tool {
                    call: call.clone(),
                    tool: tool.clone(),
                    arguments: arguments.clone(),
                    result: None,
                },
            ),
            Event::ToolResult {
                call,
                tool,
                result: answer,
                ..
            } => match self
                .find(|line| matches!(line, EntryBody::Tool { call: c, .. } if c == call))
            {
                Some(EntryBody::Tool { result, .. }) => *result = Some(answer.clone()),
                // The tool was requested but not called.
                _ => self.push(
                    logged,
                    EntryBody::Tool {
                        call: call.clone(),
                        tool: tool.clone(),
                        arguments: Value::Object(Default::default()),
                        result: Some(answer.clone()),
                    },
                ),
            },
            Event::Question {
                question,
                text,
                options,
                ..
            } => self.push(
                logged,
                EntryBody::Asked {
                    question: question.clone(),
                    text: text.clone(),
                    options: options.clone(),
                    answer: None,
                },
            ),
            Event::Answer { question, text, .. } => {
                if let Some(EntryBody::Asked { answer, .. }) = self.find(
                    |line| matches!(line, EntryBody::Asked { question: q, .. } if q == question),
                ) {
                    *answer = Some(text.clone());
                }
            }
            // Progress matters only to the caller that waits for it.
            Event::App {
                app_event: AppEvent::Begun { .. },
                ..
            } => {}
            Event::App {
                launch,
                app,
                app_event,
            } => self.push(
                logged,
                EntryBody::App {
                    launch: *launch,
                    app: app.clone(),
                    app_event: app_event.clone(),
                },
            ),
            Event::Page {
                page, page_event, ..
            } => self.page_call(logged, *page, page_event),
            // Requests are answered where they are shown; the chat itself has the calls that they are about.
            Event::Ask { .. } => {}
            Event::ContextUsed { used, window, .. } => self.context = Some((*used, *window)),
            Event::Notice { text, .. } => {
                self.push(logged, EntryBody::Notice { text: text.clone() })
            }
            Event::Failed {
                code,
                message,
                retryable,
                ..
            } => {
                self.push(
                    logged,
                    EntryBody::Failed {
                        code: code.clone(),
                        message: message.clone(),
                        retryable: *retryable,
                    },
                );
            }
            Event::TurnEnded { turn, outcome, .. } => {
                self.queued.retain(|queued| queued != turn);
                self.running.retain(|running| running != turn);
                self.last_outcome = Some(*outcome);
                self.close(*turn, *outcome);
                if matches!(outcome, Outcome::Stopped | Outcome::Interrupted) {
                    self.push(logged, EntryBody::Ended { outcome: *outcome });
                }
            }
        }
    }

    /// A turn with any event has begun, even if its first event was not read.
    fn notice_turn(&mut self, logged: &Logged) {
        let quiet = matches!(
            logged.event,
            Event::MessageStarted { .. } | Event::TurnEnded { .. }
        );
        if let Some(turn) = logged.event.turn(logged.seq)
            && !quiet
            && !self.running.contains(&turn)
        {
            self.queued.retain(|queued| *queued != turn);
            self.running.push(turn);
        }
    }

    /// A turn that ended leaves nothing open.
    fn close(&mut self, turn: u64, outcome: Outcome) {
        for entry in self.entries.iter_mut().rev().filter(|e| e.turn == turn) {
            match &mut entry.line {
                EntryBody::Assistant {
                    streaming, partial, ..
                } if *streaming => {
                    *streaming = false;
                    *partial = outcome != Outcome::Completed;
                }
                EntryBody::Tool { result, .. } if result.is_none() => {
                    *result = Some(Err("The turn ended first.".into()));
                }
                _ => {}
            }
        }
    }

    fn push(&mut self, logged: &Logged, line: EntryBody) {
        let turn = logged.event.turn(logged.seq).unwrap_or(logged.seq);
        self.entries.push(Entry {
            seq: logged.seq,
            at: logged.at,
            turn,
            hidden: self.hidden.contains(&turn),
            line,
        });
    }

    fn message(&mut self, id: &MessageId) -> Option<&mut EntryBody> {
        self.find(|line| matches!(line, EntryBody::Assistant { message, .. } if message == id))
    }

    // From the end: the item is nearly always the newest of its kind.
    fn find(&mut self, matches: impl Fn(&EntryBody) -> bool) -> Option<&mut EntryBody> {
        self.entries
            .iter_mut()
            .rev()
            .map(|entry| &mut entry.line)
            .find(|line| matches(line))
    }
}
