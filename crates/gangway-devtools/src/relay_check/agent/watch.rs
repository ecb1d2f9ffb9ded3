//! What an agent did right and wrong so far.

use std::collections::{BTreeMap, HashSet};

use super::super::report::Report;

/// What is looked at, in the order in which it is told, with the words for an agent that does it right.
const CHECKS: [(&str, &str); 9] = [
    ("join", "it joins first, as an agent"),
    ("envelope", "every message has v, type and a payload"),
    ("id", "every request has an id of its own"),
    ("role", "it sends what agents may send, and nothing else"),
    ("reason", "every call has a reason"),
    ("tools", "it calls tools that are there"),
    ("params", "all params fit the schema"),
    ("waits", "it waits for the answer to a call"),
    ("refusals", "it does not repeat what was refused"),
];

/// What was seen.
#[derive(Default)]
pub(super) struct Watch {
    /// The first fault of each kind.
    faults: BTreeMap<&'static str, String>,
    ids: HashSet<String>,
    /// Tools that it was told are not there.
    unknown: HashSet<String>,
    /// The call that was refused last, and how often in a row.
    refused: Option<(String, usize)>,
    pub(super) joined: bool,
    pub(super) calls: usize,
    pub(super) looked: bool,
    pub(super) messages: usize,
    /// Since a person said something.
    pub(super) asked: bool,
    pub(super) replied: bool,
    /// Since a call failed that could have worked.
    pub(super) failed: bool,
    pub(super) went_on: bool,
    pub(super) dropped: bool,
    pub(super) came_back: Option<bool>,
}

/// How it ended.
pub(super) enum Ending {
    /// The agent left.
    Left,
    /// It booked, and stays.
    Booked,
    /// It did nothing for too long.
    Idle,
    /// It did more than anybody needs.
    Endless,
    /// It did not come back.
    Lost,
}

impl Watch {
    pub(super) fn fault(&mut self, check: &'static str, words: impl Into<String>) {
        self.faults.entry(check).or_insert_with(|| words.into());
    }

    /// Notes the id of a request.
    pub(super) fn id(&mut self, id: Option<&str>, kind: &str) {
        match id {
            None if matches!(kind, "agent.message" | "agent.status") => {}
            None => self.fault(
                "id",
                format!("a {kind} has no id; without one answers cannot be matched to it"),
            ),
            Some(id) => {
                if !self.ids.insert(id.to_owned()) {
                    let shown: String = id.chars().take(80).collect();
                    self.fault(
                        "id",
                        format!("the id {shown:?} is used twice; every request needs its own"),
                    );
                }
            }
        }
    }

    /// A new connection may count anew.
    pub(super) fn forget_ids(&mut self) {
        self.ids.clear();
    }

    /// A call of a tool that is not there.
    pub(super) fn unknown_tool(&mut self, tool: &str) {
        if !self.unknown.insert(tool.to_owned()) {
            let tool: String = tool.chars().take(80).collect();
            self.fault("tools", format!("{tool:?} is called again after UNKNOWN_TOOL; toolSchema of the snapshot says what there is"));
        }
    }

    /// A call and the code with which it was refused, if it was.
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
            self.fault("refusals", format!("{call} is sent {times} times in a row though it is refused each time; read the error, and do something else"));
        }
        self.refused = Some((call, times));
    }

    pub(super) fn report(mut self, ending: &Ending, seconds: u64) -> Report {
        let mut report = Report::default();
        if !self.joined {
            self.fault("join", "it connected but never joined; send relay.join first, with role agent and a sessionId");
        }
        for (check, good) in CHECKS {
            match self.faults.remove(check) {
                Some(words) => report.wrong(check, words),
                None if check == "tools" && !self.unknown.is_empty() => report.open(
                    check,
                    "it called a tool that is not there, and learned from UNKNOWN_TOOL",
                ),
                None if self.messages == 0 || (self.calls == 0 && is_about_calls(check)) => {
                    report.open(check, "did not come up");
                }
                None => report.good(check, good),
            }
        }
        match (self.calls, self.looked) {
            (0, _) => report.open("looks", "it called nothing"),
            (_, true) => report.good("looks", "it looks at the page before it acts"),
            (_, false) => report.open("looks", "it acts without a snapshot.get first"),
        }
        match (self.failed, self.went_on) {
            (false, _) => report.open("errors", "no call could be made to fail"),
            (true, true) => report.good("errors", "it goes on after a call that failed"),
            (true, false) => report.wrong("errors", "it did nothing more after a call that failed with TOOL_EXECUTION_FAILED; look again, and go on"),
        }
        match (self.dropped, self.came_back) {
            (false, _) => report.open("reconnects", "the connection was not cut"),
            (true, None) => report.wrong("reconnects", format!("its connection was cut, and it did not come back within {seconds} seconds; join again, with since")),
            (true, Some(false)) => report.open("reconnects", "it came back after its connection was cut, but joined without since: events it missed cannot be replayed"),
            (true, Some(true)) => report.good("reconnects", "it came back after its connection was cut, with since"),
        }
        match (self.asked, self.replied) {
            (false, _) => report.open("userMessage", "the person had nothing to say"),
            (true, true) => report.good("userMessage", "it answers when the person says something"),
            (true, false) => report.open(
                "userMessage",
                "the person said something, and it never answered with agent.message",
            ),
        }
        match ending {
            Ending::Left => report.good("ends", "it left by itself"),
            Ending::Booked => report.good("ends", "it booked"),
            Ending::Idle => report.wrong(
                "ends",
                format!(
                    "it did nothing for {seconds} seconds, and nothing is booked; go on, or leave"
                ),
            ),
            Ending::Endless => report.wrong(
                "ends",
                "it does not stop; end when the page shows the wanted result",
            ),
            Ending::Lost => report.open("ends", "it was gone before the end"),
        }
        report
    }
}

fn is_about_calls(check: &str) -> bool {
    ["reason", "tools", "params", "waits", "refusals"].contains(&check)
}
