//! A conversation as people read it, folded from a log.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    app::AppNews,
    event::{Event, Logged, Outcome, Source},
    id::{AppName, CallId, LaunchId, MessageId, QuestionId},
    session::Profile,
    store::Tail,
};

/// One line of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The number of the event it began with.
    pub seq: u64,
    /// When it began.
    pub at: Timestamp,
    /// The turn it belongs to.
    pub turn: u64,
    /// Whether the chat leaves it out.
    pub hidden: bool,
    /// What it is.
    pub line: Line,
}

/// What a line of a conversation can be.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// Somebody said something to the agent.
    Said {
        /// What.
        text: String,
        /// Who.
        source: Source,
    },
    /// The agent said something.
    Answered {
        /// The message.
        message: MessageId,
        /// Its text so far.
        text: String,
        /// True when the turn ended before the agent finished it.
        partial: bool,
        /// True while more is coming.
        streaming: bool,
    },
    /// A tool was called.
    Tool {
        /// The call.
        call: CallId,
        /// `server/tool`.
        tool: String,
        /// What it was called with.
        arguments: Value,
        /// Its answer, once it is there.
        result: Option<Result<Value, String>>,
    },
    /// The agent asked the person.
    Asked {
        /// The question.
        question: QuestionId,
        /// What was asked.
        text: String,
        /// Answers offered.
        options: Vec<String>,
        /// The answer, once it is there.
        answer: Option<String>,
    },
    /// Something happened between an app and its agent.
    App {
        /// Which opening of the app.
        launch: LaunchId,
        /// The app.
        app: AppName,
        /// What happened.
        news: AppNews,
    },
    /// Something the person should know about the turn.
    Notice {
        /// What.
        text: String,
    },
    /// The turn could not go on.
    Failed {
        /// A short machine-readable reason.
        code: String,
        /// What to tell the person.
        message: String,
        /// Whether the same prompt may work later.
        retryable: bool,
    },
    /// The turn ended in another way than by finishing.
    Ended {
        /// How.
        outcome: Outcome,
    },
}

/// A conversation and the turns in it that are not over.
#[derive(Debug, Default)]
pub struct Conversation {
    /// The lines, oldest first.
    pub entries: Vec<Entry>,
    /// Turns that began and did not end.
    pub running: Vec<u64>,
    /// Messages that wait for their turn.
    pub queued: Vec<u64>,
    /// What the session is set up with, where the log says so.
    pub profile: Option<Profile>,
    /// How full the model's window is: tokens in it, and tokens that fit.
    pub context: Option<(u64, Option<u64>)>,
    /// How the last turn that ended did so.
    pub last_outcome: Option<Outcome>,
    /// Turns that the chat leaves out.
    hidden: BTreeSet<u64>,
}

impl Conversation {
    /// Reads a log, or the newest part of one.
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
                    Line::Said {
                        text: prompt.clone(),
                        source: source.clone(),
                    },
                );
            }
            Event::TurnStarted { .. }
            | Event::StateChanged { .. }
            | Event::ReloadAsked { .. }
            | Event::OpenAsked { .. }
            | Event::LeaveAsked { .. }
            | Event::LeaveChanged { .. } => {}
            Event::Delta { message, text, .. } => match self.message(message) {
                Some(Line::Answered {
                    text: so_far,
                    streaming: true,
                    ..
                }) => so_far.push_str(text),
                Some(_) => {}
                None => self.push(
                    logged,
                    Line::Answered {
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
                let whole = Line::Answered {
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
                Line::Tool {
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
            } => match self.find(|line| matches!(line, Line::Tool { call: c, .. } if c == call)) {
                Some(Line::Tool { result, .. }) => *result = Some(answer.clone()),
                // It was wanted and not called.
                _ => self.push(
                    logged,
                    Line::Tool {
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
                Line::Asked {
                    question: question.clone(),
                    text: text.clone(),
                    options: options.clone(),
                    answer: None,
                },
            ),
            Event::Answer { question, text, .. } => {
                if let Some(Line::Asked { answer, .. }) = self
                    .find(|line| matches!(line, Line::Asked { question: q, .. } if q == question))
                {
                    *answer = Some(text.clone());
                }
            }
            // How far it has come is of interest to whoever waits for it alone.
            Event::App {
                news: AppNews::Begun { .. },
                ..
            } => {}
            Event::App { launch, app, news } => self.push(
                logged,
                Line::App {
                    launch: *launch,
                    app: app.clone(),
                    news: news.clone(),
                },
            ),
            Event::ContextUsed { used, window, .. } => self.context = Some((*used, *window)),
            Event::Notice { text, .. } => self.push(logged, Line::Notice { text: text.clone() }),
            Event::Failed {
                code,
                message,
                retryable,
                ..
            } => {
                self.push(
                    logged,
                    Line::Failed {
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
                    self.push(logged, Line::Ended { outcome: *outcome });
                }
            }
        }
    }

    /// A turn that says anything has begun, also when its beginning is further back than what is read.
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

    /// A turn that ended leaves nothing in motion.
    fn close(&mut self, turn: u64, outcome: Outcome) {
        for entry in self.entries.iter_mut().rev().filter(|e| e.turn == turn) {
            match &mut entry.line {
                Line::Answered {
                    streaming, partial, ..
                } if *streaming => {
                    *streaming = false;
                    *partial = outcome != Outcome::Completed;
                }
                Line::Tool { result, .. } if result.is_none() => {
                    *result = Some(Err("The turn ended first.".into()));
                }
                _ => {}
            }
        }
    }

    fn push(&mut self, logged: &Logged, line: Line) {
        let turn = logged.event.turn(logged.seq).unwrap_or(logged.seq);
        self.entries.push(Entry {
            seq: logged.seq,
            at: logged.at,
            turn,
            hidden: self.hidden.contains(&turn),
            line,
        });
    }

    fn message(&mut self, id: &MessageId) -> Option<&mut Line> {
        self.find(|line| matches!(line, Line::Answered { message, .. } if message == id))
    }

    // From the end: what is looked for is nearly always the newest of its kind.
    fn find(&mut self, wanted: impl Fn(&Line) -> bool) -> Option<&mut Line> {
        self.entries
            .iter_mut()
            .rev()
            .map(|entry| &mut entry.line)
            .find(|line| wanted(line))
    }
}
