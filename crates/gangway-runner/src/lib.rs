//! Processes as agents: the runner side of a remote agent, which is connected to its server by a socket and takes turns
//! by the built-in loop, an ACP agent or a terminal program; and the tmux sessions of runners.

pub mod acp;
mod brief;
pub mod builtin;
mod child;
mod conversation;
pub mod executor;
pub mod gauge;
mod link;
pub mod outbox;
mod page_server;
pub mod pages;
pub mod pane;
pub mod terminal;
pub mod tmux;
mod transcript;
pub mod typing;
pub mod wire;
mod work;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use builtin::BuiltinFactory;
use executor::{Executor, Questions};
use gauge::Gauge;
use link::{Link, LinkEvent};
use outbox::{OUTBOX_BYTES, Outbox};
use page_server::PageServer;
use pages::Pages;
pub use pane::Pane;
use tokio::sync::{mpsc, oneshot};
use wire::{Backend, FromRunner, Setup, ToRunner};
use work::Work;

/// How long the runner waits for its last message to be sent.
const LAST_MESSAGE: Duration = Duration::from_secs(2);

const END_WITHIN: Duration = Duration::from_secs(4);

const FAULT: &str = "the runner of this agent panicked; this is a bug in Gangway";

#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error("{0}")]
    NoTicket(String),
    #[error("the server refused this agent: {0}")]
    Refused(String),
    #[error("{0}")]
    Broken(String),
}

/// Runs the agent of a ticket until it is told to end, its ticket is gone, or `stop` is done.
pub async fn run(
    ticket: &Path,
    workshop: &dyn BuiltinFactory,
    pane: Pane,
    mut typed: mpsc::Receiver<String>,
    stop: impl Future<Output = ()>,
) -> Result<(), RunnerError> {
    let outbox = Arc::new(Outbox::new(OUTBOX_BYTES));
    let mut runner = Runner {
        link: Link::open(ticket, Arc::clone(&outbox)),
        outbox,
        questions: Questions::default(),
        pane,
        work: None,
        early: None,
        gauge: Arc::default(),
        pages: Arc::default(),
        page_socket: ticket.with_file_name("pages.sock"),
    };
    let ended = tokio::select! {
        ended = runner.live(workshop, &mut typed) => ended,
        () = stop => Ok(()),
    };
    if let Some(work) = runner.work.take() {
        runner.pane.state("ending");
        let _ = tokio::time::timeout(END_WITHIN, work.end()).await;
    }
    ended
}

struct Runner {
    link: Link,
    outbox: Arc<Outbox>,
    questions: Questions,
    pane: Pane,
    work: Option<Work>,
    /// A message that arrived before the executor was ready.
    early: Option<(u64, executor::Prompt)>,
    gauge: Arc<Gauge>,
    pages: Arc<Pages>,
    /// Where an ACP agent finds them.
    page_socket: PathBuf,
}

type Starting = tokio::task::JoinHandle<(Box<dyn Executor>, Result<(), String>)>;

impl Runner {
    async fn live(
        &mut self,
        workshop: &dyn BuiltinFactory,
        typed: &mut mpsc::Receiver<String>,
    ) -> Result<(), RunnerError> {
        self.pane.state("waiting for the server");
        let mut starting: Option<Abort> = None;
        loop {
            tokio::select! {
                received = self.link.heard.recv() => match received {
                    Some(LinkEvent::Line(ToRunner::Welcome { setup: Some(setup), .. }))
                        if starting.is_none() && self.work.is_none() =>
                    {
                        self.greet(&setup);
                        self.gauge = Arc::new(Gauge::new(setup.context.clone()));
                        self.link.fresh.send_replace(false);
                        match self.make(&setup, workshop) {
                            Ok(executor) => starting = Some(start(executor)),
                            Err(message) => return self.broken(message).await,
                        }
                    }
                    Some(LinkEvent::Line(line)) => {
                        if let Some(ended) = self.take(line) {
                            return ended;
                        }
                    }
                    Some(LinkEvent::Away) => {
                        self.pages.disconnected();
                        self.pane.state("the server is unreachable; work continues");
                    }
                    Some(LinkEvent::Gone(why)) => return Err(RunnerError::NoTicket(why)),
                    None => return Ok(()),
                },
                started = started(&mut starting) => match started {
                    Some((executor, Ok(()))) => self.ready(executor),
                    Some((mut executor, Err(message))) => {
                        let _ = tokio::time::timeout(END_WITHIN, executor.end()).await;
                        return self.broken(message).await;
                    }
                    None => return self.broken(FAULT.to_owned()).await,
                },
                () = executor_failed(&mut self.work) => {
                    self.work = None;
                    return self.broken(FAULT.to_owned()).await;
                }
                Some(text) = typed.recv() => self.typed(text),
            }
        }
    }

    fn greet(&self, setup: &Setup) {
        let backend = match &setup.backend {
            Backend::Builtin => "the built-in loop".to_owned(),
            Backend::Acp { command, .. } | Backend::Terminal { command, .. } => command.join(" "),
            Backend::Adopted(adopted) => {
                format!("{}, adopted in pane {}", adopted.program, adopted.pane)
            }
        };
        self.pane.state(&format!(
            "agent {} in {} ({}), running {backend}",
            setup.persona.slug,
            setup.project,
            setup.folder.display()
        ));
    }

    fn make(
        &self,
        setup: &Setup,
        workshop: &dyn BuiltinFactory,
    ) -> Result<Box<dyn Executor>, String> {
        if !setup.folder.is_dir() {
            return Err(format!(
                "the folder of project {} does not exist: {}",
                setup.project,
                setup.folder.display()
            ));
        }
        Ok(match &setup.backend {
            Backend::Builtin => {
                let parts = workshop.parts(setup)?;
                Box::new(builtin::Builtin::new(setup, parts, Arc::clone(&self.pages)))
            }
            Backend::Acp { command, env } => {
                let (guard, servers) = (workshop.guard(), workshop.servers(setup));
                let pages = workshop
                    .page_server()
                    .and_then(|command| self.serve_pages(command));
                Box::new(acp::Acp::new(setup, command, env, guard, servers, pages))
            }
            Backend::Terminal {
                command,
                env,
                prompt,
                quiet_ms,
            } => Box::new(terminal::Terminal::new(
                setup,
                command,
                env,
                prompt.as_deref(),
                *quiet_ms,
            )?),
            Backend::Adopted(adopted) => Box::new(terminal::Terminal::adopt(setup, adopted)?),
        })
    }

    /// The tools of pages as an MCP server for an ACP agent, with the command that connects it.
    fn serve_pages(&self, mut command: Vec<OsString>) -> Option<(PageServer, Vec<OsString>)> {
        match PageServer::open(&self.page_socket, Arc::clone(&self.pages)) {
            Ok(server) => {
                command.push(server.socket().into());
                Some((server, command))
            }
            Err(error) => {
                let state = format!("the tools of open pages are not available: {error}");
                self.pane.state(&state);
                None
            }
        }
    }

    fn ready(&mut self, executor: Box<dyn Executor>) {
        self.link.ready.send_replace(true);
        self.pane
            .state("ready; type a message and press Enter, or /help");
        let (outbox, questions) = (Arc::clone(&self.outbox), self.questions.clone());
        let gauge = Arc::clone(&self.gauge);
        let mut work = Work::begin(executor, outbox, questions, self.pane.clone(), gauge);
        if let Some((turn, prompt)) = self.early.take() {
            work.take(turn, prompt);
        }
        self.work = Some(work);
    }

    /// Handles a message of the server; returns the result when the runner must end.
    fn take(&mut self, line: ToRunner) -> Option<Result<(), RunnerError>> {
        match line {
            ToRunner::Welcome { turn, .. } => {
                self.early.take_if(|(early, _)| Some(*early) != turn);
                if let Some(work) = &mut self.work {
                    work.keep_only(turn);
                }
            }
            ToRunner::Prompt { turn, text, source } => match &mut self.work {
                Some(work) => work.take(turn, executor::Prompt { text, source }),
                None => self.early = Some((turn, executor::Prompt { text, source })),
            },
            ToRunner::Answer {
                turn,
                question,
                text,
            } => self.questions.answer(turn, question, text),
            ToRunner::Stop { turn } => {
                self.early.take_if(|(early, _)| *early == turn);
                if let Some(work) = &mut self.work {
                    work.stop(turn);
                }
            }
            ToRunner::Heard { n } => self.outbox.acknowledge(n),
            ToRunner::NotTyped { message } => {
                self.pane.state(&format!("not accepted: {message}"));
            }
            ToRunner::HandOver => {
                self.gauge.request();
                self.pane
                    .state("the context will be compacted with the next message");
            }
            ToRunner::PageTools { connection, tools } => self.pages.listed(connection, tools),
            ToRunner::PageResult { turn, call, result } => {
                self.pages.answered(turn, call, result);
            }
            ToRunner::Refused { message } => return Some(Err(RunnerError::Refused(message))),
            ToRunner::End => return Some(Ok(())),
            ToRunner::Unknown => {}
        }
        None
    }

    fn typed(&self, text: String) {
        let text = self.pane.meant(text);
        let aside = (FromRunner::Typed { text }, None);
        if self.link.asides.try_send(aside).is_err() {
            self.pane.state("not accepted: the server is unreachable");
        }
    }

    /// Tells the server that the executor failed.
    async fn broken(&self, message: String) -> Result<(), RunnerError> {
        let (text, done) = oneshot::channel();
        let line = FromRunner::Broken {
            message: message.clone(),
        };
        let telling = async {
            if self.link.asides.send((line, Some(text))).await.is_ok() {
                let _ = done.await;
            }
        };
        let _ = tokio::time::timeout(LAST_MESSAGE, telling).await;
        Err(RunnerError::Broken(message))
    }
}

/// Waits for the executor to panic; forever where there is none.
async fn executor_failed(work: &mut Option<Work>) {
    match work {
        Some(work) => work.broke_down().await,
        None => std::future::pending().await,
    }
}

/// A task that is aborted on drop.
struct Abort(Starting);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn start(mut executor: Box<dyn Executor>) -> Abort {
    Abort(tokio::spawn(async move {
        let started = executor.start().await;
        (executor, started)
    }))
}

/// The executor once it has started; `None` if it panicked.
async fn started(starting: &mut Option<Abort>) -> Option<(Box<dyn Executor>, Result<(), String>)> {
    let Some(task) = starting else {
        return std::future::pending().await;
    };
    let done = (&mut task.0).await;
    *starting = None;
    done.ok()
}
