//! A terminal program as the executor of a remote agent: typed into, and read from its screen.

mod adopted;
mod screen;
mod window;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

pub use adopted::NotAdoptable;
use futures_util::future::BoxFuture;
use gangway_core::{AgentError, Usage};
use regex::Regex;
use screen::{AnswerStart, ScreenAnswer, fits};
use tokio::time::Instant;
use window::{Window, WindowContents, typeable};

use super::{
    brief::instructions,
    executor::{Executor, Prompt, TurnSink, failed},
    wire::{Adopted, Setup},
};
use gangway_agents::builtin::user_text;

/// The notice when an answer cannot be found on the screen.
const UNKNOWN: &str = "The program cleared its screen or printed more than its terminal keeps, so that its answer could not be told apart from what was there before. It can be read in its tmux pane.";

/// How often the screen is read.
const LOOK: Duration = Duration::from_millis(80);

/// A screen that is slow to read is read less often: every this many times the duration.
const SLOWER: u32 = 10;

/// How long a program may take until it waits for input for the first time.
const START_WITHIN: Duration = Duration::from_secs(60);

/// How long tmux may take to report how a program ended.
const HOW_IT_ENDED: Duration = Duration::from_secs(1);

/// How long it may take to become quiet after a stop.
const STOP_WITHIN: Duration = Duration::from_secs(5);

pub struct Terminal {
    program: Program,
    prompt: Option<Regex>,
    quiet: Duration,
    /// Typed first.
    instructions: String,
    window: Option<Window>,
    /// Whether it may still be busy with its instructions or a stopped turn.
    busy: bool,
}

enum Program {
    Started {
        command: Vec<String>,
        env: BTreeMap<String, String>,
        folder: PathBuf,
    },
    /// It ran before, and stays.
    Adopted(Adopted),
}

impl Program {
    fn name(&self) -> String {
        match self {
            Self::Started { command, .. } => command.join(" "),
            Self::Adopted(adopted) => adopted.program.clone(),
        }
    }
}

impl Terminal {
    pub fn new(
        setup: &Setup,
        command: &[String],
        env: &BTreeMap<String, String>,
        prompt: Option<&str>,
        quiet_ms: u64,
    ) -> Result<Self, String> {
        if command.is_empty() {
            return Err("the backend has no `command`; add one in the settings".to_owned());
        }
        let program = Program::Started {
            command: command.to_vec(),
            env: env.clone(),
            folder: setup.folder.clone(),
        };
        Self::of(setup, program, prompt, quiet_ms)
    }

    /// A program in the user's own tmux.
    pub fn adopt(setup: &Setup, adopted: &Adopted) -> Result<Self, String> {
        let program = Program::Adopted(adopted.clone());
        Self::of(setup, program, adopted.prompt.as_deref(), adopted.quiet_ms)
    }

    fn of(
        setup: &Setup,
        program: Program,
        prompt: Option<&str>,
        quiet_ms: u64,
    ) -> Result<Self, String> {
        let wrong = |error| {
            format!("the `prompt` of the backend is not a valid regular expression: {error}")
        };
        Ok(Self {
            program,
            prompt: prompt.map(Regex::new).transpose().map_err(wrong)?,
            quiet: Duration::from_millis(quiet_ms.clamp(50, 600_000)),
            instructions: typeable(&instructions(setup)),
            window: None,
            busy: false,
        })
    }

    async fn start(&mut self) -> Result<(), String> {
        let window = match &self.program {
            Program::Adopted(adopted) => {
                self.window = Some(Window::adopt(adopted).await?);
                // It may be busy.
                self.busy = true;
                return Ok(());
            }
            Program::Started {
                command,
                env,
                folder,
            } => Window::open(command, env, folder).await?,
        };
        let window = self.window.insert(window);
        let rest = rest(window, self.prompt.as_ref(), self.quiet);
        let name = self.program.name();
        let shown = tokio::time::timeout(START_WITHIN, rest)
            .await
            .map_err(|_| {
                let seconds = START_WITHIN.as_secs();
                format!("{name} did not wait for input within {seconds} seconds")
            })??;
        if let Some(how) = shown.ended {
            let last = shown.lines.join("\n");
            return Err(format!("{name} {how} right after its start:\n{last}"));
        }
        if !self.instructions.is_empty() {
            window.enter(&self.instructions).await?;
            self.busy = true;
        }
        Ok(())
    }

    async fn answer(
        &mut self,
        prompt: &Prompt,
        sink: &TurnSink,
    ) -> Result<Option<Usage>, AgentError> {
        if self.window.is_none() {
            self.start().await.map_err(failed)?;
            if let Program::Started { .. } = self.program {
                let message = "The program was restarted; it does not remember the conversation.";
                sink.notice(message).await;
            }
        }
        let Some(window) = &self.window else {
            return Err(failed("the program has ended".to_owned()));
        };
        let how = self.converse(window, prompt, sink).await;
        self.busy = how.is_err();
        match how {
            Ok(None) => {
                if let Program::Adopted(_) = self.program {
                    self.instructions.clear();
                }
                Ok(None)
            }
            Ok(Some(how)) => {
                if let Some(window) = self.window.take() {
                    window.close().await;
                }
                let name = self.program.name();
                Err(failed(format!("{name} {how}")))
            }
            Err(error) => {
                // A new window may work.
                if let Some(window) = self.window.take() {
                    window.close().await;
                }
                Err(failed(error))
            }
        }
    }

    /// One message and its answer; returns how the program ended, if it did.
    async fn converse(
        &self,
        window: &Window,
        prompt: &Prompt,
        sink: &TurnSink,
    ) -> Result<Option<String>, String> {
        let pattern = self.prompt.as_ref();
        if self.busy {
            // Its answer to the instructions is dropped.
            rest(window, pattern, self.quiet).await?;
        }
        let adopted = matches!(self.program, Program::Adopted(_));
        if adopted && !self.instructions.is_empty() {
            window.enter(&self.instructions).await?;
            rest(window, pattern, self.quiet).await?;
        }
        let (before, above, line) = window.mark().await?;
        if let Some(how) = before.ended {
            return Ok(Some(how));
        }
        let mut start = AnswerStart::new(above, before.rows, &before.lines, adopted);
        let text = typeable(&user_text(&prompt.text, &prompt.source));
        let mut answer = ScreenAnswer::new(&text, &line);
        window.enter(&text).await?;
        let mut watch = Watch::new(pattern, self.quiet);
        loop {
            let (shown, is_done) = watch.look(window).await?;
            let lines =
                match adopted && (shown.ended.is_some() || shown.alternate != before.alternate) {
                    // The alternate screen, with earlier content.
                    true => &[],
                    false => start.below(&shown.lines),
                };
            let text = match is_done {
                true => answer.rest(lines, pattern),
                false => answer.more(lines),
            };
            if let Some(text) = text {
                sink.delta(&text).await;
            }
            if is_done {
                if adopted && start.is_lost {
                    sink.notice(UNKNOWN).await;
                }
                return Ok(shown.ended);
            }
        }
    }
}

/// Waits until the program is quiet.
async fn rest(
    window: &Window,
    prompt: Option<&Regex>,
    quiet: Duration,
) -> Result<WindowContents, String> {
    let mut watch = Watch::new(prompt, quiet);
    loop {
        if let (shown, true) = watch.look(window).await? {
            return Ok(shown);
        }
    }
}

/// Reads a window until it is quiet.
struct Watch<'a> {
    prompt: Option<&'a Regex>,
    quiet: Duration,
    last: Option<WindowContents>,
    since: Instant,
    pause: Duration,
}

impl<'a> Watch<'a> {
    fn new(prompt: Option<&'a Regex>, quiet: Duration) -> Self {
        Self {
            prompt,
            quiet,
            last: None,
            since: Instant::now(),
            pause: LOOK.min(quiet / 3),
        }
    }

    /// The content of the window, and whether it is complete.
    async fn look(&mut self, window: &Window) -> Result<(WindowContents, bool), String> {
        tokio::time::sleep(self.pause).await;
        let begun = Instant::now();
        let shown = window.look().await?;
        self.pause = LOOK.min(self.quiet / 3).max(begun.elapsed() * SLOWER);
        if self.last.as_ref() != Some(&shown) {
            self.last = Some(shown.clone());
            self.since = Instant::now();
        }
        let waits = match (self.prompt, shown.lines.last()) {
            (None, _) => true,
            (Some(prompt), Some(line)) => fits(prompt, line),
            (Some(_), None) => false,
        };
        let still = self.since.elapsed();
        let done = match &shown.ended {
            Some(how) => !how.is_empty() || still >= HOW_IT_ENDED,
            None => waits && still >= self.quiet,
        };
        Ok((shown, done))
    }
}

impl Executor for Terminal {
    fn start(&mut self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(self.start())
    }

    fn run_turn<'a>(
        &'a mut self,
        prompt: &'a Prompt,
        sink: &'a TurnSink,
    ) -> BoxFuture<'a, Result<Option<Usage>, AgentError>> {
        Box::pin(self.answer(prompt, sink))
    }

    fn stopped(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.busy = true;
            if let Some(window) = &self.window {
                let _ = window.press("C-c").await;
                let rest = rest(window, self.prompt.as_ref(), self.quiet);
                let _ = tokio::time::timeout(STOP_WITHIN, rest).await;
            }
        })
    }

    fn end(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if let Some(window) = self.window.take() {
                window.close().await;
            }
        })
    }
}
