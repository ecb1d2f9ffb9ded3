//! The summary of a study session: steps, errors and time by stage and actor.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;
use utoipa::ToSchema;

use super::{Direction, LogError, StudyEvent};

/// Maximum number of stages; later events belong to no stage.
const MOST_STAGES: usize = 1000;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema, TS)]
pub struct StudySummary {
    /// Actions on the page.
    #[ts(type = "number")]
    pub steps: u64,
    /// Failed actions.
    #[ts(type = "number")]
    pub errors: u64,
    /// From the first event to the last.
    pub seconds: f64,
    /// In order of first appearance.
    pub stages: Vec<StudyStage>,
    /// Steps by actor.
    pub by: StudyBy,
    /// Messages by actor.
    pub messages: StudyBy,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema, TS)]
pub struct StudyStage {
    pub stage: String,
    /// Time in all visits.
    pub seconds: f64,
    #[ts(type = "number")]
    pub steps: u64,
    #[ts(type = "number")]
    pub errors: u64,
    /// Steps by actor.
    pub by: StudyBy,
}

/// Counts by actor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct StudyBy {
    /// The participant's.
    #[ts(type = "number")]
    pub user: u64,
    #[ts(type = "number")]
    pub agent: u64,
}

#[derive(Clone, Copy)]
enum StudyActor {
    User,
    Agent,
}

impl StudyBy {
    fn count(&mut self, who: StudyActor) {
        match who {
            StudyActor::User => self.user += 1,
            StudyActor::Agent => self.agent += 1,
        }
    }
}

/// Processes a log event by event.
#[derive(Default)]
struct SummaryCount {
    summary: StudySummary,
    /// Index of the current stage.
    stage: Option<usize>,
    since: Option<Timestamp>,
    first: Option<Timestamp>,
}

impl StudySummary {
    pub fn of(
        events: impl Iterator<Item = Result<StudyEvent, LogError>>,
    ) -> Result<Self, LogError> {
        let mut count = SummaryCount::default();
        for event in events {
            count.take(&event?);
        }
        Ok(count.summary)
    }
}

impl SummaryCount {
    fn take(&mut self, event: &StudyEvent) {
        let first = *self.first.get_or_insert(event.timestamp);
        self.summary.seconds = seconds(first, event.timestamp);
        self.pass_time(event.timestamp);
        let stage = stage_of(&event.payload);
        // A step belongs to the stage in which it was taken, not to the one it led to.
        if self.stage.is_none() {
            self.enter(stage);
        }
        match (event.direction, event.r#type.as_str()) {
            (Direction::Out | Direction::Internal, "error") => self.error(),
            (Direction::Out, "tool.result") if event.payload.get("ok") == Some(&false.into()) => {
                self.error();
            }
            (Direction::In, "tool.call") => self.step(StudyActor::Agent),
            (Direction::In, "agent.message") => self.summary.messages.count(StudyActor::Agent),
            (Direction::Out, "user.message") => self.summary.messages.count(StudyActor::User),
            (Direction::Out, "state.updated") if is_step_of_person(&event.payload) => {
                self.step(StudyActor::User);
            }
            _ => {}
        }
        self.enter(stage);
    }

    fn step(&mut self, who: StudyActor) {
        self.summary.steps += 1;
        self.summary.by.count(who);
        if let Some(stage) = self.current() {
            stage.steps += 1;
            stage.by.count(who);
        }
    }

    fn error(&mut self) {
        self.summary.errors += 1;
        if let Some(stage) = self.current() {
            stage.errors += 1;
        }
    }

    fn pass_time(&mut self, now: Timestamp) {
        if let Some(since) = self.since.replace(now)
            && let Some(stage) = self.current()
        {
            stage.seconds += seconds(since, now);
        }
    }

    fn enter(&mut self, stage: Option<&str>) {
        let Some(stage) = stage else { return };
        let stages = &mut self.summary.stages;
        let known = stages.iter().position(|known| known.stage == stage);
        self.stage = known.or_else(|| {
            (stages.len() < MOST_STAGES).then(|| {
                stages.push(StudyStage {
                    stage: stage.to_owned(),
                    ..StudyStage::default()
                });
                stages.len() - 1
            })
        });
    }

    fn current(&mut self) -> Option<&mut StudyStage> {
        self.summary.stages.get_mut(self.stage?)
    }
}

/// The stage in a payload's `uiSpec`.
pub(super) fn stage_of(payload: &Map<String, Value>) -> Option<&str> {
    payload.get("uiSpec")?.get("stage")?.as_str()
}

/// Whether an update is an action of the person. A message of the person updates the page too, but has its own event.
pub fn is_step_of_person(payload: &Map<String, Value>) -> bool {
    if payload.get("source").and_then(Value::as_str) != Some("user") {
        return false;
    }
    let history = payload.get("messageHistory").and_then(Value::as_array);
    let newest = history.and_then(|history| history.last());
    newest.is_none_or(|entry| entry["type"] != "user" || entry.get("tool").is_some())
}

fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// A log for tests: second, direction, type and payload of each event.
    pub(in super::super) fn log(events: &[(i64, &str, &str, Value)]) -> Vec<StudyEvent> {
        let event = |(n, (at, direction, kind, payload)): (u64, &(i64, &str, &str, Value))| {
            let at = Timestamp::from_second(1_770_000_000 + at).unwrap();
            let line = json!({
                "sessionId": "s-20260213-001", "eventIndex": n, "timestamp": at.to_string(),
                "direction": direction, "type": kind, "payload": payload,
            });
            serde_json::from_value(line).unwrap()
        };
        (1..).zip(events).map(event).collect()
    }

    fn summary(events: &[(i64, &str, &str, Value)]) -> StudySummary {
        StudySummary::of(log(events).into_iter().map(Ok)).unwrap()
    }

    fn shows(stage: &str) -> Value {
        json!({ "ok": true, "source": "agent", "uiSpec": { "stage": stage }, "messageHistory": [] })
    }

    fn person(stage: &str, entry: Value) -> Value {
        json!({ "source": "user", "uiSpec": { "stage": stage }, "messageHistory": [entry] })
    }

    fn call() -> Value {
        json!({ "toolName": "next", "params": {}, "reason": "On." })
    }

    #[test]
    fn a_call_its_result_and_its_update_are_one_step_and_going_back_adds_to_the_stage() {
        let all = summary(&[
            (0, "in", "session.start", json!({})),
            (
                0,
                "out",
                "state.updated",
                json!({ "source": "stage", "uiSpec": { "stage": "movie" } }),
            ),
            (2, "in", "tool.call", call()),
            (3, "out", "tool.result", shows("theater")),
            (3, "out", "state.updated", shows("theater")),
            (5, "in", "tool.call", call()),
            (6, "out", "tool.result", shows("movie")),
            (6, "out", "state.updated", shows("movie")),
            (10, "in", "session.end", json!({})),
        ]);
        assert_eq!((all.steps, all.errors, all.seconds), (2, 0, 10.0));
        let times: Vec<_> = all
            .stages
            .iter()
            .map(|s| (s.stage.as_str(), s.seconds, s.steps))
            .collect();
        assert_eq!(times, [("movie", 7.0, 1), ("theater", 3.0, 1)]);
    }

    #[test]
    fn what_a_user_does_and_what_an_agent_does_are_distinguished_and_messages_are_no_steps() {
        let did = json!({ "type": "user", "text": "Chose Dune", "tool": "select" });
        let message = json!({ "type": "user", "text": "Evening, please" });
        let all = summary(&[
            (0, "out", "state.updated", person("movie", did.clone())),
            (
                1,
                "out",
                "user.message",
                json!({ "text": "Evening, please" }),
            ),
            (1, "out", "state.updated", person("movie", message)),
            (2, "in", "agent.message", json!({ "text": "I look." })),
            (2, "in", "tool.call", call()),
            // The person was quicker than the result.
            (3, "out", "state.updated", person("seat", did)),
            (
                4,
                "out",
                "error",
                json!({ "code": "INVALID_PARAMS", "message": "no" }),
            ),
            (5, "in", "tool.call", call()),
            (
                6,
                "out",
                "tool.result",
                json!({ "ok": false, "uiSpec": { "stage": "seat" } }),
            ),
        ]);
        assert_eq!((all.steps, all.errors), (4, 2));
        assert_eq!(all.by, StudyBy { user: 2, agent: 2 });
        assert_eq!(all.messages, StudyBy { user: 1, agent: 1 });
        let [movie, seat] = &all.stages[..] else {
            panic!("{all:?}");
        };
        assert_eq!((movie.by.user, movie.by.agent, movie.errors), (2, 1, 0));
        assert_eq!((seat.by.user, seat.by.agent, seat.errors), (0, 1, 2));
    }

    #[test]
    fn a_page_without_stages_has_steps_and_time_all_the_same() {
        let all = summary(&[
            (0, "in", "tool.call", call()),
            (1, "out", "tool.result", json!({ "ok": true, "uiSpec": {} })),
            (
                4,
                "out",
                "state.updated",
                json!({ "source": "user", "uiSpec": {} }),
            ),
            (
                5,
                "internal",
                "error",
                json!({ "code": "TOOL_EXECUTION_FAILED" }),
            ),
        ]);
        assert_eq!((all.steps, all.errors, all.seconds), (2, 1, 5.0));
        assert_eq!((all.by.user, all.by.agent), (1, 1));
        assert!(all.stages.is_empty());
        assert_eq!(summary(&[]), StudySummary::default());
    }
}
