//! Replays a recording: agent and person repeat their actions, and the app must send the same messages.

use std::{collections::VecDeque, time::Duration};

use tokio::time::{Instant, sleep_until, timeout};

use super::{
    matching::{Fit, differences, shown},
    recording::{Recording, RecordingEntry},
    scene::{Scene, SceneEvent},
    script::AppMessage,
};

/// How long to wait for further messages at the end.
const AFTER: Duration = Duration::from_millis(300);

/// Returns the first difference, if any.
pub(super) async fn play(
    scene: &mut Scene,
    recording: &Recording,
) -> anyhow::Result<Option<String>> {
    let mut player = Player {
        scene,
        unread: VecDeque::new(),
        failed: None,
    };
    let mut before = 0;
    for (n, entry) in recording.talk.iter().enumerate() {
        let pause = Duration::from_millis(entry.at.saturating_sub(before));
        before = entry.at;
        if let Some(why) = player.line(entry, pause).await? {
            return Ok(Some(format!("line {} of the recording: {why}", n + 1)));
        }
    }
    // Further messages are a difference.
    let more = timeout(AFTER, player.said()).await;
    Ok(match more {
        Ok(Ok(Ok(number))) => Some(format!(
            "after the recording the app sent more: {}",
            player.describe(number)
        )),
        Ok(Ok(Err(why))) => Some(why),
        Ok(Err(error)) => return Err(error),
        Err(_) => None,
    })
}

struct Player<'a> {
    scene: &'a mut Scene,
    /// Messages that came before their turn.
    unread: VecDeque<usize>,
    /// Why a step failed.
    failed: Option<String>,
}

impl Player<'_> {
    async fn line(
        &mut self,
        entry: &RecordingEntry,
        pause: Duration,
    ) -> anyhow::Result<Option<String>> {
        if let Some(wanted) = entry.app.as_ref().and_then(|app| app.said()) {
            return Ok(match self.said().await? {
                Ok(number) => self.compare(&wanted, number),
                Err(why) => Some(why),
            });
        }
        if let Some(act) = entry.agent.as_ref().and_then(|agent| agent.act()) {
            // With the recorded timing, so that late messages are late again.
            self.rest(Instant::now() + pause).await?;
            self.scene.act(&act).await?;
        }
        if let Some(step) = &entry.page {
            if let Some(why) = self.finish().await? {
                return Ok(Some(why));
            }
            self.scene.begin(step).await?;
            if !entry.meanwhile {
                return self.finish().await;
            }
        }
        if entry.done {
            return self.finish().await;
        }
        Ok(None)
    }

    /// The app's next message, or why there is none.
    async fn said(&mut self) -> anyhow::Result<Result<usize, String>> {
        loop {
            if let Some(number) = self.unread.pop_front() {
                return Ok(Ok(number));
            }
            if let Some(why) = self.failed.take() {
                return Ok(Err(why));
            }
            self.happen().await?;
        }
    }

    /// Waits for the running step.
    async fn finish(&mut self) -> anyhow::Result<Option<String>> {
        while self.scene.busy {
            self.happen().await?;
        }
        Ok(self.failed.take())
    }

    /// Waits while collecting events.
    async fn rest(&mut self, until: Instant) -> anyhow::Result<()> {
        loop {
            tokio::select! {
                () = sleep_until(until) => return Ok(()),
                happened = self.scene.next() => self.take(happened?),
            }
        }
    }

    async fn happen(&mut self) -> anyhow::Result<()> {
        let happened = self.scene.next().await?;
        self.take(happened);
        Ok(())
    }

    fn take(&mut self, happened: SceneEvent) {
        match happened {
            SceneEvent::Said(number) => self.unread.push_back(number),
            SceneEvent::StepFailed(why) => self.failed = Some(why),
            SceneEvent::StepDone => {}
        }
    }

    fn describe(&self, number: usize) -> String {
        let message = self.scene.heard(number).map(|received| &received.message);
        message.map_or_else(String::new, named)
    }

    fn compare(&self, wanted: &AppMessage, number: usize) -> Option<String> {
        let message = &self.scene.heard(number)?.message;
        if (wanted.request, &wanted.name) != (message.request, &message.name) {
            let (wanted, message) = (named(wanted), named(message));
            return Some(format!(
                "the app sent something else:\n- {wanted}\n+ {message}"
            ));
        }
        let against = differences(&wanted.with, &message.with, Fit::Whole);
        let text = || {
            format!(
                "{} came with a different value:\n{}",
                message.name,
                against.join("\n")
            )
        };
        (!against.is_empty()).then(text)
    }
}

fn named(message: &AppMessage) -> String {
    let kind = if message.request { "request" } else { "event" };
    format!("{kind} {} {}", message.name, shown(&message.with))
}
