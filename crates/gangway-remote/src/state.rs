//! The state of an agent, derived from its log.

use std::collections::BTreeSet;

use gangway_core::{
    Event, Logged, Outcome, QuestionId,
    conversation::{Conversation, Entry, EntryBody},
};
use jiff::Timestamp;
use serde::Serialize;
use ts_rs::TS;
use utoipa::ToSchema;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Waiting for a message; its last turn failed or was stopped.
    Idle,
    /// A message was accepted; its turn has not started.
    Commanded,
    Processing,
    /// A question is pending.
    AwaitingInput,
    /// Its last turn is complete.
    Complete,
}

impl AgentState {
    pub const ALL: [Self; 5] = [
        Self::Idle,
        Self::Commanded,
        Self::Processing,
        Self::AwaitingInput,
        Self::Complete,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Commanded => "commanded",
            Self::Processing => "processing",
            Self::AwaitingInput => "awaiting_input",
            Self::Complete => "complete",
        }
    }

    fn at_rest(last: Option<Outcome>) -> Self {
        match last {
            Some(Outcome::Completed) => Self::Complete,
            _ => Self::Idle,
        }
    }

    #[must_use]
    pub fn of(conversation: &Conversation) -> Self {
        match (asked_at(conversation), conversation) {
            (Some(_), _) => Self::AwaitingInput,
            (None, c) if !c.running.is_empty() => Self::Processing,
            (None, c) if !c.queued.is_empty() => Self::Commanded,
            (None, c) => Self::at_rest(c.last_outcome),
        }
    }
}

/// Tracks the state event by event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    pub state: AgentState,
    running: BTreeSet<u64>,
    queued: BTreeSet<u64>,
    /// Pending questions with their turns.
    asked: Vec<(u64, QuestionId)>,
    last: Option<Outcome>,
}

impl Progress {
    #[must_use]
    pub fn of(conversation: &Conversation) -> Self {
        let asked = conversation.entries.iter().filter_map(|entry| {
            let question = open_question(conversation, entry)?;
            Some((entry.turn, question.clone()))
        });
        Self {
            state: AgentState::of(conversation),
            running: conversation.running.iter().copied().collect(),
            queued: conversation.queued.iter().copied().collect(),
            asked: asked.collect(),
            last: conversation.last_outcome,
        }
    }

    pub fn follow(&mut self, logged: &Logged) {
        let turn = logged.event.turn(logged.seq);
        match (&logged.event, turn) {
            (Event::MessageStarted { .. }, _) => {
                self.queued.insert(logged.seq);
            }
            (Event::TurnEnded { turn, outcome, .. }, _) => {
                self.queued.remove(turn);
                self.running.remove(turn);
                self.asked.retain(|(asking, _)| asking != turn);
                self.last = Some(*outcome);
            }
            (event, Some(turn)) => {
                self.queued.remove(&turn);
                self.running.insert(turn);
                match event {
                    Event::Question { question, .. } => {
                        self.asked.push((turn, question.clone()));
                    }
                    Event::Answer { question, .. } => {
                        self.asked.retain(|(_, asked)| asked != question);
                    }
                    _ => {}
                }
            }
            (_, None) => return,
        }
        let rests = (self.running.is_empty(), self.queued.is_empty());
        self.state = match rests {
            _ if !self.asked.is_empty() => AgentState::AwaitingInput,
            (false, _) => AgentState::Processing,
            (true, false) => AgentState::Commanded,
            (true, true) => AgentState::at_rest(self.last),
        };
    }
}

/// Since when a question of the running turn is pending.
#[must_use]
pub fn asked_at(conversation: &Conversation) -> Option<Timestamp> {
    asked(conversation).next()
}

fn asked(conversation: &Conversation) -> impl Iterator<Item = Timestamp> + '_ {
    let open = |entry: &&Entry| open_question(conversation, entry).is_some();
    let entries = conversation.entries.iter().filter(open);
    entries.map(|entry| entry.at)
}

/// A pending question of the running turn.
fn open_question<'a>(conversation: &Conversation, entry: &'a Entry) -> Option<&'a QuestionId> {
    match &entry.line {
        EntryBody::Asked {
            question,
            answer: None,
            ..
        } if conversation.running.contains(&entry.turn) => Some(question),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use gangway_core::{Source, store::Tail};
    use std::sync::Arc;

    use super::*;

    /// A deterministic random number generator.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, most: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % most
        }
    }

    /// A plausible log: one turn at a time, others queued, any of them may end.
    fn log(dice: &mut Dice) -> Vec<Event> {
        let (mut events, mut waiting, mut running) = (Vec::new(), Vec::new(), None);
        let mut questions = Vec::new();
        for _ in 0..40 {
            let seq = events.len() as u64 + 1;
            let event = match (dice.below(7), running) {
                (0, _) => {
                    waiting.push(seq);
                    Event::MessageStarted {
                        prompt: "Hi".into(),
                        source: Source::Person,
                        shown: true,
                    }
                }
                (1 | 2, None) if !waiting.is_empty() => {
                    let turn = waiting.remove(0);
                    running = Some(turn);
                    let agent = "remote".into();
                    let model = None;
                    Event::TurnStarted { turn, agent, model }
                }
                (3, Some(turn)) => {
                    let question = QuestionId::from(format!("q{seq}").as_str());
                    questions.push(question.clone());
                    Event::Question {
                        turn,
                        question,
                        text: "Which?".into(),
                        options: Vec::new(),
                    }
                }
                (4, Some(turn)) if !questions.is_empty() => {
                    let at = dice.below(questions.len() as u64);
                    Event::Answer {
                        turn,
                        question: questions.remove(usize::try_from(at).unwrap()),
                        text: "That.".into(),
                    }
                }
                (5, Some(turn)) => {
                    questions.clear();
                    running = None;
                    ended(dice, turn, waiting.is_empty())
                }
                (6, _) if !waiting.is_empty() => {
                    let turn = waiting.pop().unwrap_or_default();
                    ended(dice, turn, waiting.is_empty() && running.is_none())
                }
                (_, Some(turn)) => Event::Notice {
                    turn,
                    text: "So.".into(),
                },
                (_, None) => continue,
            };
            events.push(event);
        }
        events
    }

    fn ended(dice: &mut Dice, turn: u64, idle: bool) -> Event {
        let outcomes = [Outcome::Completed, Outcome::Stopped, Outcome::Failed];
        Event::TurnEnded {
            turn,
            outcome: outcomes[usize::try_from(dice.below(3)).unwrap()],
            usage: None,
            idle,
            citations: Vec::new(),
        }
    }

    #[test]
    fn what_is_followed_event_by_event_is_what_the_whole_log_says() {
        let mut dice = Dice(88_172_645_463_325_252);
        let mut seen = BTreeSet::new();
        for _ in 0..500 {
            let events = log(&mut dice).into_iter().zip(1..);
            let events: Vec<_> = events
                .map(|(event, seq)| {
                    let at = Timestamp::UNIX_EPOCH;
                    Arc::new(Logged::new(seq, at, event, 0))
                })
                .collect();
            let fold = |n: usize| {
                let tail = Tail {
                    events: events[..n].to_vec(),
                    older: false,
                    last: n as u64,
                    hidden: Vec::new(),
                };
                Conversation::fold(&tail)
            };
            let begin = usize::try_from(dice.below(events.len() as u64 + 1)).unwrap();
            let mut progress = Progress::of(&fold(begin));
            for (n, event) in events.iter().enumerate().skip(begin) {
                progress.follow(event);
                let whole = fold(n + 1);
                assert_eq!(progress, Progress::of(&whole), "{:#?}", &events[..=n]);
                assert_eq!(progress.state, AgentState::of(&whole));
                seen.insert(progress.state.as_str());
            }
        }
        assert_eq!(seen.len(), AgentState::ALL.len(), "{seen:?}");
    }
}
