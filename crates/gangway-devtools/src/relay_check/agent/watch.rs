//! Observations about a checked agent.

use std::collections::{BTreeMap, HashSet};

use super::super::report::Report;

/// Checks in order, with the message for an agent that passes.
const CHECKS: [(&str, &str); 9] = [
    ("join", "joins first, as an agent"),
    ("envelope", "every message has v, type and a payload"),
    ("id", "every request has a unique id"),
    ("role", "sends only message types of agents"),
    ("reason", "every call has a reason"),
    ("tools", "calls existing tools only"),
    ("params", "all params match the schema"),
    ("waits", "waits for the answer to a call"),
    ("refusals", "does not repeat refused calls"),
];

#[derive(Default)]
pub(super) struct Watch {
    /// The first fault of each check.
    faults: BTreeMap<&'static str, String>,
    ids: HashSet<String>,
    /// Tools that were answered with UNKNOWN_TOOL.
    unknown: HashSet<String>,
    /// The last refused call, and how often in a row.
    refused: Option<(String, usize)>,
    pub(super) joined: bool,
    pub(super) calls: usize,
    pub(super) looked: bool,
    pub(super) messages: usize,
    /// Whether the person has sent a message.
    pub(super) asked: bool,
    pub(super) replied: bool,
    /// Whether a valid call has failed.
    pub(super) failed: bool,
    pub(super) went_on: bool,
    pub(super) dropped: bool,
    pub(super) came_back: Option<bool>,
}

pub(super) enum AgentEnd {
    /// The agent disconnected.
    Left,
    /// It booked, and stays connected.
    Booked,
    /// It was idle for too long.
    Idle,
    /// It sent more messages than needed.
    Endless,
    /// It did not reconnect.
    Lost,
}

impl Watch {
    pub(super) fn fault(&mut self, check: &'static str, message: impl Into<String>) {
        self.faults.entry(check).or_insert_with(|| message.into());
    }

    /// Records the id of a request.
    pub(super) fn id(&mut self, id: Option<&str>, kind: &str) {
        match id {
            None if matches!(kind, "agent.message" | "agent.status") => {}
            None => self.fault(
                "id",
                format!("a {kind} has no id, so its answer cannot be matched"),
            ),
            Some(id) => {
                if !self.ids.insert(id.to_owned()) {
                    let shown: String = id.chars().take(80).collect();
                    self.fault(
                        "id",
                        format!("the id {shown:?} was used twice; every request needs a unique id"),
                    );
                }
            }
        }
    }

    /// A new connection may reuse ids.
    pub(super) fn forget_ids(&mut self) {
        self.ids.clear();
    }

    pub(super) fn unknown_tool(&mut self, tool: &str) {
        if !self.unknown.insert(tool.to_owned()) {
            let tool: String = tool.chars().take(80).collect();
            self.fault("tools", format!("{tool:?} was called again after UNKNOWN_TOOL; the snapshot's toolSchema lists the tools"));
        }
    }

    /// A call and its error code, if any.
    pub(super) fn outcome(&mut self, call: String, code: Option<&str>) {
        if code.is_none() {
            self.refused = None;
            return;
        }
        let times = match self.refused.take() {
            Some((before, times)) if before == call => times + 1,
            _ => 1,
        };
        if times >= 3 {
            let call: String = call.chars().take(120).collect();
            self.fault("refusals", format!("{call} was sent {times} times in a row although it was refused each time; handle the error"));
        }
        self.refused = Some((call, times));
    }

    pub(super) fn report(mut self, ending: &AgentEnd, seconds: u64) -> Report {
        let mut report = Report::default();
        if !self.joined {
            self.fault(
                "join",
                "the agent never joined; send relay.join first, with role agent and a sessionId",
            );
        }
        for (check, good) in CHECKS {
            match self.faults.remove(check) {
                Some(message) => report.wrong(check, message),
                None if check == "tools" && !self.unknown.is_empty() => report.open(
                    check,
                    "called a tool that does not exist, but not again after UNKNOWN_TOOL",
                ),
                None if self.messages == 0 || (self.calls == 0 && is_about_calls(check)) => {
                    report.open(check, "not tested");
                }
                None => report.good(check, good),
            }
        }
        match (self.calls, self.looked) {
            (0, _) => report.open("looks", "no tools were called"),
            (_, true) => report.good("looks", "gets a snapshot before the first call"),
            (_, false) => report.open("looks", "calls a tool before the first snapshot.get"),
        }
        match (self.failed, self.went_on) {
            (false, _) => report.open("errors", "no call could be made to fail"),
            (true, true) => report.good("errors", "continues after a failed call"),
            (true, false) => report.wrong("errors", "stopped after a call failed with TOOL_EXECUTION_FAILED; get a snapshot and continue"),
        }
        match (self.dropped, self.came_back) {
            (false, _) => report.open("reconnects", "the connection was not dropped"),
            (true, None) => report.wrong("reconnects", format!("did not reconnect within {seconds} seconds after its connection was dropped; join again, with since")),
            (true, Some(false)) => report.open("reconnects", "reconnected after its connection was dropped, but joined without since: missed events cannot be replayed"),
            (true, Some(true)) => report.good("reconnects", "reconnected after its connection was dropped, with since"),
        }
        match (self.asked, self.replied) {
            (false, _) => report.open("userMessage", "the person sent no message"),
            (true, true) => report.good("userMessage", "answers messages of the person"),
            (true, false) => report.open(
                "userMessage",
                "did not answer a message of the person with agent.message",
            ),
        }
        match ending {
            AgentEnd::Left => report.good("ends", "disconnected by itself"),
            AgentEnd::Booked => report.good("ends", "completed the booking"),
            AgentEnd::Idle => report.wrong(
                "ends",
                format!(
                    "was idle for {seconds} seconds without completing the booking; continue, or disconnect"
                ),
            ),
            AgentEnd::Endless => report.wrong(
                "ends",
                "does not stop; end when the page shows the result",
            ),
            AgentEnd::Lost => report.open("ends", "disconnected before the end"),
        }
        report
    }
}

fn is_about_calls(check: &str) -> bool {
    ["reason", "tools", "params", "waits", "refusals"].contains(&check)
}
