//! The engine as a separate process on real weights, through the provider that supervises it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test stops at the first thing that is not as it should be"
)]

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use futures_util::StreamExt as _;
use gangway_embedded::{Embedded, Program, Settings};
use gangway_models::{
    ChatChunk, ChatRequest, ChatStream, Failure, Message, ModelError, Provider as _,
    weights::WeightsStore,
};
use tempfile::TempDir;

fn weights() -> PathBuf {
    let usual = "../../target/test-weights/smollm2-135m-instruct.gguf";
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join(usual);
    let file = std::env::var_os("GANGWAY_TEST_WEIGHTS").map_or(usual, PathBuf::from);
    assert!(
        file.is_file(),
        "there are no weights at {}: run `scripts/setup.sh weights`",
        file.display()
    );
    file.canonicalize().unwrap()
}

/// A folder with the real weights, and a provider.
struct Bench {
    folder: TempDir,
    models: Embedded,
}

impl Bench {
    fn new(settings: Settings) -> Self {
        let folder = TempDir::new().unwrap();
        std::os::unix::fs::symlink(weights(), folder.path().join("small.gguf")).unwrap();
        let program = Program::new(env!("CARGO_BIN_EXE_gangway-engine"));
        let models = Embedded::new(WeightsStore::new(folder.path()), settings, program);
        Self { folder, models }
    }

    async fn start(&self, request: ChatRequest) -> ChatStream<'static> {
        self.models.chat(request).await.unwrap()
    }

    async fn ask(&self, request: ChatRequest) -> String {
        text(self.start(request).await).await.unwrap()
    }
}

async fn text(mut chunks: ChatStream<'static>) -> Result<String, ModelError> {
    let mut text = String::new();
    while let Some(chunk) = chunks.next().await {
        if let ChatChunk::Text(more) = chunk? {
            text.push_str(&more);
        }
    }
    Ok(text)
}

fn capital() -> ChatRequest {
    question("What is the capital of France?", 24)
}

fn story(tokens: u32) -> ChatRequest {
    question(
        "Tell me a very long story about a ship and its crew.",
        tokens,
    )
}

fn question(text: &str, tokens: u32) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User(text.to_owned())],
        temperature: Some(0.0),
        max_tokens: Some(tokens),
        ..ChatRequest::default()
    }
}

/// The processes that this test started.
fn engines() -> Vec<String> {
    let mut found = Vec::new();
    for thread in std::fs::read_dir("/proc/self/task").unwrap() {
        let children = thread.unwrap().path().join("children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        found.extend(children.split_whitespace().map(str::to_owned));
    }
    found
}

fn kill(signal: &str) {
    let [engine] = engines().try_into().unwrap();
    let killed = std::process::Command::new("kill")
        .args([signal, &engine])
        .status();
    assert!(killed.unwrap().success());
}

#[tokio::test]
async fn an_engine_that_is_killed_fails_the_answers_it_was_writing_and_is_started_again() {
    let bench = Bench::new(Settings {
        parallel: 1,
        ..Settings::default()
    });
    let mut running = bench.start(story(1000)).await;
    running.next().await.unwrap().unwrap();
    // This one is queued, so nothing is lost: the next engine serves it.
    let waiting = bench.models.chat(capital());
    tokio::pin!(waiting);
    assert!(futures_util::poll!(waiting.as_mut()).is_pending());
    while bench.models.status().waiting == 0 {
        tokio::select! {
            _ = waiting.as_mut() => panic!("it got its turn"),
            () = tokio::time::sleep(Duration::from_millis(5)) => {}
        }
    }
    kill("-KILL");
    let error = text(running).await.unwrap_err();
    assert!(
        error
            .message
            .starts_with("The engine stopped during the answer: the system killed it"),
        "{error}"
    );
    let answer = text(waiting.await.unwrap()).await.unwrap();
    assert!(answer.contains("Paris"), "{answer}");
    assert!(bench.models.status().generated_tokens > 0);
}

#[tokio::test]
async fn weights_that_kill_the_engine_are_refused_until_the_file_changes_and_others_still_answer() {
    let bench = Bench::new(Settings::default());
    let bad = bench.folder.path().join("twice.gguf");
    std::fs::write(&bad, with_a_word_twice()).unwrap();
    let named = |name: &str| ChatRequest {
        model: Some(name.to_owned()),
        ..capital()
    };
    for _ in 0..2 {
        let refused = bench.models.chat(named("twice")).await;
        let error = refused.err().unwrap();
        let reason = "Cannot load the weights twice: the file crashes the engine: ";
        assert!(error.message.starts_with(reason), "{error}");
        assert!(!error.message.contains('/'), "{error}");
        // The second time nothing was started for it.
        assert_eq!(engines().len(), 0);
    }
    assert!(bench.ask(named("small")).await.contains("Paris"));
    std::fs::remove_file(&bad).unwrap();
    std::os::unix::fs::symlink(weights(), &bad).unwrap();
    assert!(bench.ask(named("twice")).await.contains("Paris"));
}

/// Weights with a duplicate word in the vocabulary, on which llama.cpp aborts.
fn with_a_word_twice() -> Vec<u8> {
    let mut whole = std::fs::read(weights()).unwrap();
    let key = b"tokenizer.ggml.tokens";
    let place = whole.windows(key.len()).position(|bytes| bytes == key);
    // After the key: the type, the type of the entries, the number of entries.
    let mut at = place.unwrap() + key.len() + 4 + 4 + 8;
    let mut first: Option<Vec<u8>> = None;
    loop {
        let length = u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
        at += 8;
        // After the special words.
        if length == 2 && at > place.unwrap() + 2000 {
            let word = &mut whole[at..at + length];
            match &first {
                Some(first) => {
                    word.copy_from_slice(first);
                    return whole;
                }
                None => first = Some(word.to_vec()),
            }
        }
        at += length;
    }
}

#[tokio::test]
async fn a_slow_reader_delays_no_other_and_loses_nothing() {
    let bench = Bench::new(Settings {
        parallel: 1,
        ..Settings::default()
    });
    let slow = bench.start(story(160)).await;
    // Its unread chunks fill the window, and then there is room for another one.
    assert!(bench.ask(capital()).await.contains("Paris"));
    let mut count = 0;
    let mut chunks = slow;
    while let Some(chunk) = chunks.next().await {
        if let ChatChunk::Usage { output, .. } = chunk.unwrap() {
            count = output;
        }
    }
    assert_eq!(count, 160);
}

#[tokio::test]
async fn an_answer_without_a_reader_is_not_generated_to_its_end() {
    let bench = Bench::new(Settings::default());
    let mut answer = bench.start(story(2000)).await;
    answer.next().await.unwrap().unwrap();
    drop(answer);
    while bench.models.status().active > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    bench.ask(capital()).await;
    assert!(bench.models.status().generated_tokens < 1000);
}

#[tokio::test]
async fn an_engine_that_is_idle_is_stopped_and_restarted_on_demand() {
    let bench = Bench::new(Settings::default());
    bench.ask(capital()).await;
    assert_eq!(engines().len(), 1);
    assert_eq!(bench.models.status().loaded.as_deref(), Some("small"));
    let counted = bench.models.status().generated_tokens;
    tokio::time::pause();
    tokio::time::sleep(Settings::default().idle + Duration::from_secs(1)).await;
    tokio::time::resume();
    while !engines().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(bench.models.status().loaded, None);
    bench.ask(capital()).await;
    assert!(bench.models.status().generated_tokens > counted);
}

#[tokio::test]
async fn a_request_that_the_engine_cannot_read_is_refused_and_others_continue() {
    let bench = Bench::new(Settings::default());
    let mut deep = serde_json::json!({ "type": "object" });
    for _ in 0..200 {
        deep = serde_json::json!({ "type": "object", "properties": { "a": deep } });
    }
    let request = ChatRequest {
        format: Some(deep),
        ..capital()
    };
    let error = bench.models.chat(request).await.err().unwrap();
    assert_eq!(error.failure, Failure::BadRequest);
    assert!(error.message.contains("recursion limit"), "{error}");
    assert!(bench.ask(capital()).await.contains("Paris"));
}

#[test]
fn the_engine_ends_with_the_server_and_reports_its_version() {
    use std::io::Write as _;
    let start = |first: &str| {
        let mut engine = std::process::Command::new(env!("CARGO_BIN_EXE_gangway-engine"))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = engine.stdin.take().unwrap();
        writeln!(stdin, "{first}").unwrap();
        drop(stdin);
        engine.wait_with_output().unwrap()
    };
    let settings = serde_json::to_string(&Settings::default()).unwrap();
    let ended = start(&format!(r#"{{"type":"start","settings":{settings}}}"#));
    assert!(ended.status.success());
    assert_eq!(ended.stdout, b"{\"type\":\"ready\",\"version\":1}\n");
    let ended = start("hello");
    assert!(!ended.status.success());
    let message = String::from_utf8(ended.stderr).unwrap();
    assert!(message.contains("is started by gangway"), "{message}");
}
