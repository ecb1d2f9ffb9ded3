//! A simulated agent that follows a script, or the user at the terminal.

use std::{collections::VecDeque, time::Duration};

use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};

use super::{
    recording::AgentAction,
    scene::{Scene, SceneEvent},
    script::{Expected, Push, Reply, Script, Step},
    stage::Stage,
    typed::{self, Typed},
};

/// Polling interval of page and timers.
const LOOK: Duration = Duration::from_millis(20);

/// How long to wait for late errors at the end.
const AFTER: Duration = Duration::from_millis(300);

pub(super) struct Play {
    script: Script,
    /// How often each rule was applied.
    used: Vec<u32>,
    /// Scheduled actions.
    due: Vec<(Instant, AgentAction)>,
    /// Events to send once the app has sent something.
    pushes: Vec<Push>,
    expected: VecDeque<Expected>,
    steps: VecDeque<Step>,
    /// The closest match of the next expectation, and its differences.
    near: Option<String>,
    /// Since when the next expectation is pending.
    since: Option<Instant>,
    /// Commands of the user, who then answers requests.
    typed: Option<mpsc::Receiver<String>>,
    /// Whether events are acknowledged automatically.
    auto: bool,
    /// Messages that wait for the user.
    waiting: VecDeque<usize>,
    /// Since when nothing is left to do.
    quiet: Option<Instant>,
}

enum PlayState {
    On,
    Ended,
    Failed(String),
}

impl Play {
    /// With `typed`, the user answers what the script does not.
    pub(super) fn new(script: Script, typed: Option<mpsc::Receiver<String>>) -> Self {
        Self {
            used: vec![0; script.rules.len()],
            due: Vec::new(),
            pushes: script.send.clone(),
            expected: script.expect.iter().cloned().collect(),
            steps: script.page.iter().cloned().collect(),
            script,
            near: None,
            since: None,
            typed,
            auto: true,
            waiting: VecDeque::new(),
            quiet: None,
        }
    }

    /// Plays to the end; returns why it failed, if it did.
    pub(super) async fn run(
        &mut self,
        scene: &mut Scene,
        stage: &Stage,
    ) -> anyhow::Result<Option<String>> {
        loop {
            let typed = async {
                match &mut self.typed {
                    Some(typed) => typed.recv().await,
                    None => std::future::pending().await,
                }
            };
            let course = tokio::select! {
                happened = scene.next() => match happened? {
                    SceneEvent::Said(number) => {
                        self.said(scene, number);
                        PlayState::On
                    }
                    SceneEvent::StepDone => PlayState::On,
                    SceneEvent::StepFailed(why) => PlayState::Failed(why),
                },
                line = typed => match line {
                    Some(line) => self.execute(scene, &line).await?,
                    None => {
                        self.typed = None;
                        PlayState::On
                    }
                },
                () = sleep_until(Instant::now() + LOOK) => PlayState::On,
            };
            let course = match course {
                PlayState::On => self.go_on(scene, stage).await?,
                other => other,
            };
            match course {
                PlayState::On => {}
                PlayState::Ended => return Ok(None),
                PlayState::Failed(why) => return Ok(Some(why)),
            }
        }
    }

    /// Describes what is still missing.
    pub(super) fn missing(&self) -> String {
        let mut left = Vec::new();
        if self.since.is_none() {
            left.push("no page of the app was opened".to_owned());
        }
        if let Some(expected) = self.expected.front() {
            left.push(format!("the app did not send: {}", expected.describe()));
            left.extend(self.near.clone());
        }
        let more = self.expected.len().saturating_sub(1);
        if more > 0 {
            left.push(format!("{more} more expected messages did not come"));
        }
        if let Some(step) = self.steps.front() {
            left.push(format!("this step was not reached: {}", step.describe()));
        }
        if let Some(push) = self.pushes.first() {
            left.push(format!(
                "{} was never sent: its condition was not met",
                push.event
            ));
        }
        left.join("\n")
    }

    fn said(&mut self, scene: &mut Scene, number: usize) {
        let Some(received) = scene.heard(number) else {
            return;
        };
        let (message, now) = (&received.message, Instant::now());
        let rules = self.script.rules.iter().zip(&mut self.used);
        let rule = rules
            .filter(|(rule, used)| rule.times.is_none_or(|most| **used < most))
            .find(|(rule, _)| rule.fits(message));
        match rule {
            Some((rule, used)) => {
                *used += 1;
                if let Some(reply) = rule.reply() {
                    let at = now + Duration::from_millis(rule.delay);
                    self.due.push((at, AgentAction::Reply(number, reply)));
                }
            }
            None if self.typed.is_some() && (message.request || !self.auto) => {
                self.waiting.push_back(number);
                let how = if message.request {
                    "answer JSON, deny REASON or unknown"
                } else {
                    "ack"
                };
                scene.talk.note("", &format!("waiting for you: {how}"));
            }
            None if message.request => self
                .due
                .push((now, AgentAction::Reply(number, Reply::Unknown))),
            None => self.due.push((now, AgentAction::Reply(number, Reply::Ack))),
        }
        let (now_due, later) = self
            .pushes
            .drain(..)
            .partition(|push| push.follows(message));
        self.pushes = later;
        let now_due: Vec<Push> = now_due;
        for push in now_due {
            self.owe(now, push);
        }
        self.meet(scene, number);
    }

    fn owe(&mut self, from: Instant, push: Push) {
        let at = from + Duration::from_millis(push.delay);
        self.due
            .push((at, AgentAction::Send(push.event, push.payload)));
    }

    /// Checks a message against the next expectation.
    fn meet(&mut self, scene: &Scene, number: usize) {
        let (Some(expected), Some(received)) = (self.expected.front(), scene.heard(number)) else {
            return;
        };
        if !expected.names(&received.message) {
            return;
        }
        let against = expected.against(&received.message);
        if against.is_empty() {
            self.expected.pop_front();
            self.near = None;
            self.since = Some(Instant::now());
        } else {
            let message = against.join("\n");
            self.near = Some(format!(
                "{} came with a different value:\n{message}",
                received.message.name
            ));
        }
    }

    /// Performs scheduled actions.
    async fn go_on(&mut self, scene: &mut Scene, stage: &Stage) -> anyhow::Result<PlayState> {
        let now = Instant::now();
        if self.since.is_none() && stage.is_open().await? {
            self.since = Some(now);
            let (waits, free) = self.pushes.drain(..).partition(Push::waits);
            self.pushes = waits;
            let free: Vec<Push> = free;
            for push in free {
                self.owe(now, push);
            }
        }
        // A stable sort keeps simultaneous actions in order.
        self.due.sort_by_key(|(at, _)| *at);
        let ripe = self.due.partition_point(|(at, _)| *at <= now);
        for (_, act) in self.due.drain(..ripe) {
            scene.act(&act).await?;
        }
        if let Some(step) = self.steps.front()
            && !scene.busy
        {
            let times = step.times.unwrap_or(1);
            let waits = step
                .heard
                .as_deref()
                .is_some_and(|name| scene.talk.heard(name) < times);
            if !waits
                && let Some(step) = self.steps.pop_front()
                && step.heard.is_none()
            {
                scene.begin(&step).await?;
            }
        }
        if let (Some(expected), Some(since)) = (self.expected.front(), self.since)
            && let Some(within) = expected.within
            && now > since + Duration::from_millis(within)
        {
            let missing = self.missing();
            return Ok(PlayState::Failed(format!("after {within} ms {missing}")));
        }
        let left = !(self.expected.is_empty() && self.steps.is_empty() && self.pushes.is_empty());
        if left || scene.busy || !self.due.is_empty() || !self.script.ends() || self.since.is_none()
        {
            self.quiet = None;
            return Ok(PlayState::On);
        }
        match self.quiet {
            Some(since) if now > since + AFTER => Ok(PlayState::Ended),
            Some(_) => Ok(PlayState::On),
            None => {
                self.quiet = Some(now);
                Ok(PlayState::On)
            }
        }
    }

    async fn execute(&mut self, scene: &mut Scene, line: &str) -> anyhow::Result<PlayState> {
        let typed = match typed::read(line) {
            Ok(Some(typed)) => typed,
            Ok(None) => return Ok(PlayState::On),
            Err(why) => {
                scene.talk.note("", &why);
                return Ok(PlayState::On);
            }
        };
        let is_request = |number: usize| {
            scene
                .heard(number)
                .is_some_and(|received| received.message.request)
        };
        let act = match typed {
            Typed::Quit => return Ok(PlayState::Ended),
            Typed::Auto(auto) => {
                self.auto = auto;
                return Ok(PlayState::On);
            }
            Typed::Send(event, payload) => AgentAction::Send(event, payload),
            Typed::Reply(reply) => {
                let wants = reply != Reply::Ack;
                let at = self
                    .waiting
                    .iter()
                    .position(|number| is_request(*number) == wants);
                match at.and_then(|at| self.waiting.remove(at)) {
                    Some(number) => AgentAction::Reply(number, reply),
                    None => {
                        let what = if wants { "request" } else { "event" };
                        scene
                            .talk
                            .note("", &format!("no {what} is waiting for you"));
                        return Ok(PlayState::On);
                    }
                }
            }
        };
        scene.act(&act).await?;
        Ok(PlayState::On)
    }
}
