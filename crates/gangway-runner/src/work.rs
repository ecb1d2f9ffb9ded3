//! One turn after the other: hands messages to the executor, and cancels turns that were stopped.

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

/// Turns that are remembered, so that a message which comes again is not taken again.
const REMEMBERED: usize = 64;

/// Messages that may wait for an executor that is still tidying up.
const WAITING: usize = 16;

/// How long an executor may tidy up after a stop.
const TIDY_WITHIN: Duration = Duration::from_secs(10);

/// How long a hand-over may take: the model reads all of the conversation, and a program may start anew.
const HAND_OVER_WITHIN: Duration = Duration::from_secs(180);

/// An executor at work.
pub(super) struct Work {
    jobs: mpsc::Sender<Job>,
    running: Option<(u64, CancellationToken)>,
    had: VecDeque<u64>,
    /// Those of them that were cancelled.
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
    /// Begins with nothing to do.
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

    /// Takes a message, unless it was taken before. Whatever else runs is over.
    pub(super) fn take(&mut self, turn: u64, prompt: Prompt) {
        if self.had.contains(&turn) {
            // What was given up is not taken up again, and whoever waits for it must know.
            if self.cancelled.contains(&turn) {
                self.cancelled.retain(|one| *one != turn);
                let sink = self.sink(turn);
                let given_up = AgentError {
                    code: "interrupted".into(),
                    message: "The agent gave this up while its server was away. Say it again."
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
                message: "The agent is still busy with what was stopped. Try again in a moment."
                    .into(),
                retryable: true,
            };
            tokio::spawn(async move { sink.over(Err(busy)).await });
        }
    }

    /// Cancels this turn, if it is the one that runs.
    pub(super) fn stop(&mut self, turn: u64) {
        let running = self.running.take_if(|(running, _)| *running == turn);
        self.cancel(running);
    }

    /// Cancels what runs, unless it is this turn.
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

    /// Comes back when the executor broke down.
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
        pane.said(&who(&prompt.source), &prompt.text);
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

/// Goes on with a fresh context and a summary of the conversation; in the same session, so that nobody who chats with the
/// agent has to do anything.
async fn hand_over(
    executor: &mut dyn Executor,
    percent: u64,
    gauge: &Gauge,
    sink: &TurnSink,
    pane: &Pane,
) {
    pane.state("handing over to a fresh context");
    let done = tokio::time::timeout(HAND_OVER_WITHIN, executor.hand_over()).await;
    let done = match done {
        Ok(done) => done,
        Err(_) => {
            let _ = tokio::time::timeout(TIDY_WITHIN, executor.stopped()).await;
            let seconds = HAND_OVER_WITHIN.as_secs();
            Err(format!("there was none after {seconds} seconds"))
        }
    };
    gauge.handed_over(done.is_ok());
    let words = match done {
        Ok(summary) => {
            // For the operator of the agent; visitors have the conversation itself.
            pane.state(&format!("handed over with this summary:\n{summary}"));
            format!(
                "The context window was {percent} % full. The agent continues in a fresh one, with a summary of the conversation."
            )
        }
        Err(why) => format!(
            "The context window is {percent} % full, and no summary of the conversation could be made: {why}. The agent goes on as it is."
        ),
    };
    sink.notice(&words).await;
}

/// Who speaks, for people.
fn who(source: &Source) -> String {
    match source {
        Source::Person => "person".to_owned(),
        Source::Applet { slug } => format!("applet {slug}"),
        Source::Agent { name } => format!("agent {name}"),
        Source::Page { .. } => "page".to_owned(),
    }
}
