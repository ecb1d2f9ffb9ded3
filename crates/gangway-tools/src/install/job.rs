//! One install, from the checks to the first start, with rollback.

use std::{path::PathBuf, sync::Arc, time::Duration};

use gangway_mcp::{
    ServerId, State,
    package::{Carrier, Fetch, FetchError, Output, probe},
};
use gangway_secrets::SecretName;
use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

use super::order::InstallRequest;
use crate::{
    Tools,
    catalog::wire::{Install, InstallState, InstallStep, StepName, StepState},
};

/// Maximum number of stored lines of output.
const LINES: usize = 200;

/// Lines of a server's log in the error of a failed start.
const LAST_LINES: usize = 40;

const STEPS: [StepName; 4] = [
    StepName::Check,
    StepName::Fetch,
    StepName::Register,
    StepName::Start,
];

/// An install.
pub(super) struct Job {
    pub(super) install: String,
    pub(super) id: ServerId,
    pub(super) stop: CancellationToken,
    begun: Timestamp,
    output: Output,
    now: Mutex<JobState>,
}

struct JobState {
    state: InstallState,
    steps: Vec<InstallStep>,
    problem: Option<String>,
}

/// Why it stopped.
enum InstallFailure {
    Cancelled,
    Failed(String),
}

/// What a rollback has to undo.
#[derive(Default)]
struct Rollback {
    folder: Option<PathBuf>,
    secrets: Vec<SecretName>,
    registered: bool,
}

impl Job {
    pub(super) fn new(id: ServerId, stop: CancellationToken) -> Self {
        let step = |name| InstallStep {
            name,
            state: StepState::Waiting,
            detail: None,
        };
        Self {
            install: format!("in_{:024x}", rand::random::<u128>() >> 32),
            id,
            stop,
            begun: Timestamp::now(),
            output: Output::keeping(LINES),
            now: Mutex::new(JobState {
                state: InstallState::Fetching,
                steps: STEPS.map(step).into(),
                problem: None,
            }),
        }
    }

    fn now(&self) -> MutexGuard<'_, JobState> {
        self.now.lock()
    }

    pub(super) fn runs(&self) -> bool {
        matches!(
            self.now().state,
            InstallState::Fetching | InstallState::Starting
        )
    }

    pub(super) fn info(&self) -> Install {
        let lines = self.output.lines();
        let now = self.now();
        Install {
            install: self.install.clone(),
            id: self.id.to_string(),
            state: now.state,
            steps: now.steps.clone(),
            lines,
            problem: now.problem.clone(),
            started_at: self.begun.to_string(),
        }
    }

    fn begin(&self, name: StepName) {
        self.mark(name, StepState::Running, None);
    }

    fn finish(&self, name: StepName, detail: impl Into<String>) {
        self.mark(name, StepState::Done, Some(detail.into()));
    }

    fn mark(&self, name: StepName, state: StepState, detail: Option<String>) {
        let mut now = self.now();
        if let Some(step) = now.steps.iter_mut().find(|step| step.name == name) {
            (step.state, step.detail) = (state, detail);
        }
    }

    /// Runs the install; rolls back on failure.
    pub(super) async fn run(self: Arc<Self>, tools: &Arc<Tools>, order: InstallRequest) {
        let mut done = Rollback::default();
        let ended = self.steps(tools, order, &mut done).await;
        if ended.is_err() {
            done.undo(tools, &self.id).await;
        }
        let mut now = self.now();
        (now.state, now.problem) = match ended {
            Ok(()) => (InstallState::Done, None),
            Err(InstallFailure::Cancelled) => (InstallState::Cancelled, None),
            Err(InstallFailure::Failed(reason)) => (InstallState::Failed, Some(reason)),
        };
        if now.state != InstallState::Done {
            for step in &mut now.steps {
                if step.state == StepState::Running {
                    step.state = StepState::Failed;
                }
            }
        }
        tracing::info!(id = %self.id, state = ?now.state, "an install ended");
    }

    async fn steps(
        &self,
        tools: &Arc<Tools>,
        mut order: InstallRequest,
        done: &mut Rollback,
    ) -> Result<(), InstallFailure> {
        self.begin(StepName::Check);
        let detail = tokio::select! {
            detail = check(tools, &order) => detail?,
            () = self.stop.cancelled() => return Err(InstallFailure::Cancelled),
        };
        self.finish(StepName::Check, detail);

        self.begin(StepName::Fetch);
        let detail = self.fetch(tools, &mut order, done).await?;
        self.finish(StepName::Fetch, detail);

        self.begin(StepName::Register);
        let detail = self.register(tools, &order, done).await?;
        self.finish(StepName::Register, detail);

        self.now().state = InstallState::Starting;
        self.begin(StepName::Start);
        let detail = self.start(tools, &order).await?;
        self.finish(StepName::Start, detail);
        Ok(())
    }

    async fn fetch(
        &self,
        tools: &Tools,
        order: &mut InstallRequest,
        done: &mut Rollback,
    ) -> Result<String, InstallFailure> {
        let Some((package, command)) = &order.package else {
            return Ok("nothing to download: remote server".into());
        };
        let folder = tools.packages.join(self.id.as_str());
        let failed = |reason: String| InstallFailure::Failed(reason);
        gangway_files::make_private_folder(&tools.packages)
            .map_err(|error| failed(format!("{}: {error}", tools.packages.display())))?;
        done.folder = Some(folder.clone());
        let fetch = Fetch {
            package,
            command: command.as_deref(),
            folder: &folder,
            path: &tools.path,
            guard: tools.guard.as_deref(),
            time: Duration::from_secs(tools.install_seconds),
            scripts: order.scripts,
        };
        let fetched = match fetch.run(&self.output, &self.stop).await {
            Ok(fetched) => fetched,
            Err(FetchError::Cancelled) => return Err(InstallFailure::Cancelled),
            Err(error) => return Err(InstallFailure::Failed(error.to_string())),
        };
        let exact = package.at(&fetched.version).to_string();
        order.entry.command = Some(fetched.program.display().to_string());
        if let Some(installed) = &mut order.entry.installed {
            installed.package = Some(exact.clone());
        }
        order.skipped_scripts = fetched.skipped_scripts;
        match order.skipped() {
            Some(skipped) => Ok(format!("{exact}; {skipped}")),
            None => Ok(exact),
        }
    }

    async fn register(
        &self,
        tools: &Arc<Tools>,
        order: &InstallRequest,
        done: &mut Rollback,
    ) -> Result<String, InstallFailure> {
        if self.stop.is_cancelled() {
            return Err(InstallFailure::Cancelled);
        }
        let (secrets, file) = (tools.secrets.clone(), tools.file.clone());
        let (id, entry, values) = (
            self.id.to_string(),
            order.entry.clone(),
            order.secrets.clone(),
        );
        // A keyring may block for its owner.
        let written = tokio::task::spawn_blocking(move || {
            let mut stored = Vec::new();
            for (name, value) in &values {
                let name = match SecretName::parse(name) {
                    Ok(name) => name,
                    Err(error) => return (stored, Err(error.to_string())),
                };
                stored.push(name.clone());
                if let Err(error) = secrets.set(&name, value) {
                    return (stored, Err(error.to_string()));
                }
            }
            let added = file.install(&id, entry);
            (stored, added.map_err(|error| error.to_string()))
        })
        .await;
        let (stored, added) = written.map_err(|error| InstallFailure::Failed(error.to_string()))?;
        let detail = match stored.len() {
            0 => format!("as {}", self.id),
            1 => format!("as {}, with 1 secret", self.id),
            more => format!("as {}, with {more} secrets", self.id),
        };
        done.secrets = stored;
        added.map_err(InstallFailure::Failed)?;
        done.registered = true;
        tools.reload().await;
        Ok(detail)
    }

    async fn start(&self, tools: &Tools, order: &InstallRequest) -> Result<String, InstallFailure> {
        let ready = tokio::select! {
            ready = tools.host.ready(&self.id) => ready,
            () = self.stop.cancelled() => return Err(InstallFailure::Cancelled),
        };
        let status = tools.host.status();
        let status = status.into_iter().find(|status| status.id == self.id);
        let reason = match (ready, status.map(|status| (status.state, status.tools))) {
            (Ok(()), Some((_, tools))) => return Ok(format!("running, with {tools} tools")),
            (Ok(()), None) => "the server was removed during the install".to_owned(),
            (Err(_), Some((State::Unauthorized, _))) => {
                return Ok("connected; it requires a login".into());
            }
            (Err(reason), _) => reason,
        };
        let lines = tools.host.logs(&self.id, 0).unwrap_or_default();
        let from = lines.len().saturating_sub(LAST_LINES);
        for line in &lines[from..] {
            self.output.log(&hidden(&line.text, order));
        }
        let reason = match order.skipped() {
            Some(skipped) => format!(
                "{reason} ({skipped}; if you trust them, install it with `--allow-scripts`)"
            ),
            None => reason,
        };
        Err(InstallFailure::Failed(hidden(&reason, order)))
    }
}

/// Redacts secrets that a server may have repeated.
fn hidden(text: &str, order: &InstallRequest) -> String {
    let values = order.secrets.values().map(ExposeSecret::expose_secret);
    values.fold(text.to_owned(), |text, value| {
        text.replace(value, "[secret]")
    })
}

async fn check(tools: &Tools, order: &InstallRequest) -> Result<String, InstallFailure> {
    let Some((package, _)) = &order.package else {
        return Ok("remote server".into());
    };
    let missing = || InstallFailure::Failed(super::missing(package.ecosystem()));
    let (carrier, _) = Carrier::of(package.ecosystem(), &tools.path).ok_or_else(missing)?;
    let found = probe(carrier.program(), &tools.path).await;
    let found = found.map_err(InstallFailure::Failed)?;
    Ok(format!("{} {}", carrier.program(), found.version))
}

impl Rollback {
    /// Rolls back.
    async fn undo(self, tools: &Arc<Tools>, id: &ServerId) {
        if self.registered {
            let (file, id) = (tools.file.clone(), id.to_string());
            let removed = tokio::task::spawn_blocking(move || file.remove(&id)).await;
            if let Ok(Err(error)) = removed {
                tracing::warn!(%error, "cannot roll back a failed install");
            }
            // The server stops before its program is removed.
            tools.reload().await;
        }
        tools.forget(self.secrets).await;
        if let Some(folder) = self.folder {
            let _ = tokio::fs::remove_dir_all(folder).await;
        }
    }
}
