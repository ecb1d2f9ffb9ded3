//! Runs one turn after the other with the executor, and cancels stopped turns.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use gangway_core::{AgentError, Source};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    executor::{Executor, Prompt, Questions, TurnSink},
    gauge::Gauge,
    outbox::Outbox,
    pane::Pane,
};

/// Remembered turns, so that a repeated message is not taken twice.
const REMEMBERED: usize = 64;

/// Messages that may wait while the executor cleans up.
const WAITING: usize = 16;

/// How long an executor may clean up after a stop.
const TIDY_WITHIN: Duration = Duration::from_secs(10);

/// How long compacting may take: the model reads the whole conversation, and a program may be restarted.
const HAND_OVER_WITHIN: Duration = Duration::from_secs(180);

pub(super) struct Work {
    jobs: mpsc::Sender<Job>,
    running: Option<(u64, CancellationToken)>,
    had: VecDeque<u64>,
    cancelled: VecDeque<u64>,
    outbox: Arc<Outbox>,
    questions: Questions,
    pane: Pane,
    gauge: Arc<Gauge>,
    task: JoinHandle<()>,
}

struct Job {
    prompt: Prompt,
    sink: TurnSink,
    cancel: CancellationToken,
}

impl Work {
    pub(super) fn begin(
        executor: Box<dyn Executor>,
        outbox: Arc<Outbox>,
        questions: Questions,
        pane: Pane,
        gauge: Arc<Gauge>,
    ) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING);
        let task = tokio::spawn(work(executor, waiting, pane.clone(), Arc::clone(&gauge)));
        Self {
            jobs,
            running: None,
            had: VecDeque::new(),
            cancelled: VecDeque::new(),
            outbox,
            questions,
            pane,
            gauge,
            task,
        }
    }

    fn sink(&self, turn: u64) -> TurnSink {
        let (outbox, questions) = (Arc::clone(&self.outbox), self.questions.clone());
        let gauge = Arc::clone(&self.gauge);
        TurnSink::new(turn, outbox, questions, self.pane.clone(), gauge)
    }

    /// Takes a message, unless it was taken before. Cancels any other turn.
    pub(super) fn take(&mut self, turn: u64, prompt: Prompt) {
        if self.had.contains(&turn) {
            // A cancelled turn is not resumed, and its client must know.
            if self.cancelled.contains(&turn) {
                self.cancelled.retain(|one| *one != turn);
                let sink = self.sink(turn);
                let given_up = AgentError {
                    code: "interrupted".into(),
                    message:
                        "The agent cancelled this while its server was unreachable. Send it again."
                            .into(),
                    retryable: true,
                };
                tokio::spawn(async move { sink.over(Err(given_up)).await });
            }
            return;
        }
        self.keep_only(Some(turn));
        self.had.push_back(turn);
        if self.had.len() > REMEMBERED {
            self.had.pop_front();
        }
        let cancel = CancellationToken::new();
        let sink = self.sink(turn);
        let job = Job {
            prompt,
            sink: sink.clone(),
            cancel: cancel.clone(),
        };
        self.running = Some((turn, cancel));
        if self.jobs.try_send(job).is_err() {
            let busy = AgentError {
                code: "agent_busy".into(),
                message: "The agent is still busy with a stopped turn. Try again in a moment."
                    .into(),
                retryable: true,
            };
            tokio::spawn(async move { sink.over(Err(busy)).await });
        }
    }

    /// Cancels this turn, if it is running.
    pub(super) fn stop(&mut self, turn: u64) {
        let running = self.running.take_if(|(running, _)| *running == turn);
        self.cancel(running);
    }

    /// Cancels the running turn, unless it is this one.
    pub(super) fn keep_only(&mut self, turn: Option<u64>) {
        let running = self.running.take_if(|(running, _)| Some(*running) != turn);
        self.cancel(running);
    }

    fn cancel(&mut self, running: Option<(u64, CancellationToken)>) {
        let Some((turn, cancel)) = running else {
            return;
        };
        cancel.cancel();
        self.cancelled.push_back(turn);
        if self.cancelled.len() > REMEMBERED {
            self.cancelled.pop_front();
        }
    }

    /// Returns when the executor panicked.
    pub(super) async fn broke_down(&mut self) {
        let _ = (&mut self.task).await;
    }

    /// Cancels everything and ends the executor.
    pub(super) async fn end(mut self) {
        self.keep_only(None);
        drop(self.jobs);
        let _ = self.task.await;
    }
}

async fn work(
    mut executor: Box<dyn Executor>,
    mut jobs: mpsc::Receiver<Job>,
    pane: Pane,
    gauge: Arc<Gauge>,
) {
    executor.settle();
    while let Some(Job {
        prompt,
        sink,
        cancel,
    }) = jobs.recv().await
    {
        if cancel.is_cancelled() {
            continue;
        }
        pane.show_message(&who(&prompt.source), &prompt.text);
        let thinking = async {
            sink.taken().await;
            if let Some(percent) = gauge.is_due() {
                hand_over(&mut *executor, percent, &gauge, &sink, &pane).await;
            }
            let how = executor.run_turn(&prompt, &sink).await;
            sink.over(how).await;
        };
        if cancel.run_until_cancelled(thinking).await.is_none() {
            pane.state("stopped");
            let _ = tokio::time::timeout(TIDY_WITHIN, executor.stopped()).await;
        }
    }
    executor.end().await;
}

/// Continues with a fresh context and a summary of the conversation; in the same session, so that its users need not do
/// anything.
async fn hand_over(
    executor: &mut dyn Executor,
    percent: u64,
    gauge: &Gauge,
    sink: &TurnSink,
    pane: &Pane,
) {
    pane.state("compacting the context");
    let done = tokio::time::timeout(HAND_OVER_WITHIN, executor.hand_over()).await;
    let done = match done {
        Ok(done) => done,
        Err(_) => {
            let _ = tokio::time::timeout(TIDY_WITHIN, executor.stopped()).await;
            let seconds = HAND_OVER_WITHIN.as_secs();
            Err(format!("no summary after {seconds} seconds"))
        }
    };
    gauge.handed_over(done.is_ok());
    let message = match done {
        Ok(summary) => {
            // For the operator; visitors have the conversation itself.
            pane.state(&format!("compacted the context; the summary:\n{summary}"));
            format!(
                "The context window was {percent} % full. The agent continues in a fresh one, with a summary of the conversation."
            )
        }
        Err(why) => format!(
            "The context window is {percent} % full, and compacting it failed: {why}. The agent continues with the full context."
        ),
    };
    sink.notice(&message).await;
}

/// The sender, for people.
fn who(source: &Source) -> String {
    match source {
        Source::Person => "person".to_owned(),
        Source::Applet { slug } => format!("applet {slug}"),
        Source::Agent { name } => format!("agent {name}"),
        Source::Page { .. } => "page".to_owned(),
    }
}
