//! Processes that answer questions on one core: llama.cpp, our engine, and our server with it.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use anyhow::Context;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;

use crate::{
    embedded::{Asked, Run, THREADS, WINDOW},
    limits,
    machine::{Measured, on_server_core, resident_with_children},
    server::{Gangway, LIMITS, binary},
    wire::{Connection, find},
};

/// Where the setup script puts llama.cpp for Node.
const NODE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/node-llama/node_modules/node-llama-cpp"
);

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/spine/limits/llama.mjs"
);

/// A process that reads a question and writes figures, killed when dropped.
pub struct Partner {
    child: Child,
    questions: ChildStdin,
    figures: BufReader<ChildStdout>,
}

impl Partner {
    /// llama.cpp by its plain API.
    pub fn bare(weights: &Path) -> anyhow::Result<Self> {
        let program = Path::new(&binary()).with_file_name("examples/bare_llama");
        let mut command = on_server_core(&text(&program));
        command
            .arg(weights)
            .args([THREADS.to_string(), WINDOW.to_string()]);
        Self::start(command)
    }

    /// Our engine, on a folder of weights.
    pub fn ours(store: &Path) -> anyhow::Result<Self> {
        Self::start(limits::command(
            "engine",
            &[text(store), THREADS.to_string()],
        )?)
    }

    /// llama.cpp from Node.
    pub fn node(weights: &Path) -> anyhow::Result<Self> {
        anyhow::ensure!(
            Path::new(NODE).exists(),
            "it is not installed: scripts/setup.sh node-llama"
        );
        let mut command = on_server_core("node");
        command
            .args([SCRIPT, NODE])
            .arg(weights)
            .args([THREADS.to_string(), WINDOW.to_string()]);
        Self::start(command)
    }

    fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let questions = child.stdin.take().context("its input")?;
        let figures = child
            .stdout
            .take()
            .map(BufReader::new)
            .context("its output")?;
        Ok(Self {
            child,
            questions,
            figures,
        })
    }

    /// Asks and waits.
    pub fn ask(&mut self, asked: &Asked) -> anyhow::Result<Run> {
        writeln!(self.questions, "{}", serde_json::to_string(asked)?)?;
        let mut line = String::new();
        self.figures.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("it said {line:?}"))
    }

    /// The memory it takes now, in MB.
    pub fn memory(&self) -> anyhow::Result<f64> {
        Ok(megabytes(resident_with_children(self.child.id())?))
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Our server with the model in it.
pub struct Served {
    process: Measured,
    _folder: TempDir,
}

impl Served {
    /// With these weights alone.
    pub fn start(weights: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("models"))?;
        std::fs::copy(weights, folder.path().join("models/model.gguf"))?;
        let config = format!(
            "{LIMITS}models:\n  embedded:\n    threads: {THREADS}\n    context_tokens: {WINDOW}\n"
        );
        std::fs::write(folder.path().join("config.yaml"), config)?;
        let process = Gangway::on(folder.path(), None)?;
        Ok(Self {
            process,
            _folder: folder,
        })
    }

    /// Asks in OpenAI's form and reads the stream.
    pub async fn ask(&mut self, asked: &Asked) -> anyhow::Result<Run> {
        let mut connection = Connection::open(self.process.address).await?;
        let body = json!({
            "model": "embedded/model",
            "messages": [
                { "role": "system", "content": asked.system },
                { "role": "user", "content": asked.user },
            ],
            "stream": true,
            "stream_options": { "include_usage": true },
            "temperature": 0,
            "max_tokens": asked.tokens,
        });
        let begin = Instant::now();
        let path = "/v1/chat/completions";
        connection.send("POST", path, &body.to_string()).await?;
        let (mut stream, mut seen) = connection.into_stream().await?;
        let mut first = None;
        while find(&seen, b"data: [DONE]").is_none() {
            if first.is_none() && find(&seen, b"\"content\":").is_some() {
                first = Some(begin.elapsed());
            }
            seen.reserve(64 << 10);
            let read = stream.read_buf(&mut seen).await?;
            anyhow::ensure!(read > 0, "the stream ended too soon");
        }
        let last = begin.elapsed();
        let text = String::from_utf8_lossy(&seen);
        let used = text.lines().find_map(|line| {
            let chunk: Value = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
            let count = |name: &str| usize::try_from(chunk["usage"][name].as_u64()?).ok();
            Some((count("prompt_tokens")?, count("completion_tokens")?))
        });
        let (read, written) = used.with_context(|| format!("no usage in {text}"))?;
        Ok(Run::new(read, written, first.context("no token")?, last))
    }

    /// The memory it takes now, in MB.
    pub fn memory(&self) -> anyhow::Result<f64> {
        Ok(megabytes(self.process.memory_with_children()?))
    }
}

#[expect(clippy::cast_precision_loss, reason = "bytes far below 2^52")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
