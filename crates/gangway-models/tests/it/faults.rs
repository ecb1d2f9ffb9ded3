//! Faults of providers on the wire, and how each API handles them.

use futures_util::StreamExt;
use gangway_models::{ChatChunk, ChatRequest, Failure};
use serde_json::json;

use super::{
    fake::Fake,
    wires::{WIRES, Wire},
};

fn half() -> Vec<ChatChunk> {
    vec![ChatChunk::Text("half".into())]
}

#[tokio::test]
async fn a_provider_that_stops_responding_times_out_and_its_output_is_kept() {
    for wire in WIRES {
        let (chunks, error) = wire
            .chat(&Fake::streams(&[&wire.text("half")]).then_silent())
            .await;
        assert_eq!(chunks, half(), "{wire:?}");
        let error = error.unwrap();
        assert_eq!(error.failure, Failure::Timeout, "{wire:?}: {error}");
        // It may be working on the response: no retry.
        assert!(!error.again, "{wire:?}");
    }
}

#[tokio::test]
async fn a_provider_that_never_responds_times_out() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", silent.local_addr().unwrap());
    for wire in WIRES {
        let answer = wire.at(&base).chat(ChatRequest::default()).await;
        let error = answer.err().unwrap();
        assert_eq!(error.failure, Failure::Timeout, "{wire:?}: {error}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_anywhere_in_an_event_keeps_what_was_whole() {
    for wire in WIRES {
        let first = wire.text("half");
        let next = wire.text("grüße 🛳");
        // The last byte of each event only ends it.
        let inside = next.trim_end().len();
        let spoken = next.find("gr").unwrap();
        for cut in [1, spoken].into_iter().chain(spoken + 3..inside).step_by(2) {
            let fake = Fake::streams_bytes(&[first.as_bytes(), &next.as_bytes()[..cut]]);
            let (chunks, error) = wire.chat(&fake).await;
            assert_eq!(chunks, half(), "{wire:?} {cut}");
            let error = error.unwrap_or_else(|| panic!("{wire:?} {cut}"));
            assert_eq!(error.failure, Failure::Failed, "{wire:?} {cut}");
        }
        let cut = &next.as_bytes()[..inside / 2];
        let (_, error) = wire
            .chat(&Fake::streams_bytes(&[first.as_bytes(), cut]))
            .await;
        let message = error.unwrap().message;
        assert!(message.contains("stopped in the middle"), "{message}");
    }
}

#[tokio::test]
async fn a_tool_call_that_breaks_off_is_no_call() {
    for wire in WIRES {
        let call = wire.call(&json!({ "path": "a/long/enough/path" })).concat();
        let whole = call.trim_end().len();
        for cut in (1..whole).step_by(29) {
            let fake = Fake::streams(&[&wire.text("half"), &call[..cut]]);
            let (chunks, error) = wire.chat(&fake).await;
            assert_eq!(chunks, half(), "{wire:?} {cut}");
            assert!(error.is_some(), "{wire:?} {cut}");
        }
        let fake = Fake::streams(&[&wire.text("half"), &call, &wire.end()]);
        let (chunks, error) = wire.chat(&fake).await;
        assert!(error.is_none(), "{wire:?}: {error:?}");
        let ChatChunk::ToolCall(call) = &chunks[1] else {
            panic!("{wire:?}: {chunks:?}");
        };
        assert_eq!(call.arguments, json!({ "path": "a/long/enough/path" }));
    }
}

#[tokio::test]
async fn a_server_that_ends_without_a_reason_has_made_its_calls_all_the_same() {
    let call = Wire::OpenAi.call(&json!({ "a": 1 })).concat();
    let fake = Fake::streams(&[&call, "data: [DONE]\n\n"]);
    let (chunks, error) = Wire::OpenAi.chat(&fake).await;
    assert!(
        matches!(&chunks[..], [ChatChunk::ToolCall(_)]),
        "{chunks:?} {error:?}"
    );
}

#[tokio::test]
async fn lines_that_make_no_sense_end_the_answer_with_a_word() {
    for (wire, wrong) in [
        (Wire::OpenAi, "data: {broken\n\n"),
        (Wire::OpenAi, "data: 7\n\n"),
        (Wire::OpenAi, "data: {\"choices\":7}\n\n"),
        (Wire::Anthropic, "data: {broken\n\n"),
        (Wire::Anthropic, "data: {}\n\n"),
        (
            Wire::Anthropic,
            "data: {\"type\":\"content_block_delta\",\"delta\":7}\n\n",
        ),
        (Wire::Ollama, "{broken\n"),
        (Wire::Ollama, "<html>\n"),
        (Wire::Ollama, "{\"message\":7}\n"),
    ] {
        let fake = Fake::streams(&[&wire.text("half"), wrong, &wire.end()]);
        let (chunks, error) = wire.chat(&fake).await;
        assert_eq!(chunks, half(), "{wire:?} {wrong:?}");
        let error = error.unwrap();
        assert_eq!(error.failure, Failure::Failed);
        assert!(error.message.contains("not a chat stream"), "{error}");
    }
    // Not UTF-8.
    for wire in WIRES {
        let text = wire.text("half");
        let fake = Fake::streams_bytes(&[text.as_bytes(), b"data: \xff\xfe\n\n"]);
        let (chunks, error) = wire.chat(&fake).await;
        assert_eq!((chunks, error.is_some()), (half(), true), "{wire:?}");
    }
}

#[tokio::test]
async fn what_a_stream_may_hold_besides_is_passed_over() {
    for (wire, harmless) in [
        (Wire::OpenAi, ": a comment\n\nid: 7\nretry: 5\nevent: x\n\n"),
        (
            Wire::OpenAi,
            "data: {\"choices\":null,\"usage\":null,\"new\":{}}\r\n\r\n",
        ),
        (
            Wire::OpenAi,
            "data: {\"choices\":[{\"delta\":{\"content\":null,\"tool_calls\":null}}]}\n\n",
        ),
        (
            Wire::Anthropic,
            ": a comment\n\ndata: {\"type\":\"news\",\"x\":1}\r\n\r\n",
        ),
        (Wire::Ollama, "\r\n\n"),
        (
            Wire::Ollama,
            "{\"message\":{\"content\":null,\"tool_calls\":null},\"new\":1}\n",
        ),
    ] {
        let fake = Fake::streams(&[harmless, &wire.text("half"), harmless, &wire.end()]);
        let (chunks, error) = wire.chat(&fake).await;
        assert!(error.is_none(), "{wire:?} {harmless:?}: {error:?}");
        // Unknown fields are passed through.
        let message = chunks
            .iter()
            .find(|chunk| !matches!(chunk, ChatChunk::Passed(_)));
        assert_eq!(message, half().first(), "{wire:?}");
    }
}

#[tokio::test]
async fn a_refusal_is_reported_by_type_with_the_requested_delay() {
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(90);
    let date = soon.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let page = "<html><body>Bad gateway</body></html>";
    for wire in WIRES {
        for (status, wait, body, failure) in [
            (429, None, "busy", Failure::RateLimited),
            (429, Some("7"), "busy", Failure::RateLimited),
            (429, Some(date.as_str()), "busy", Failure::RateLimited),
            (429, Some("later"), "busy", Failure::RateLimited),
            (500, None, "{\"error\":\"oops\"}", Failure::Failed),
            (500, None, page, Failure::Failed),
            (502, None, page, Failure::Unavailable),
            (403, None, page, Failure::Unauthorized),
        ] {
            let headers: Vec<_> = wait.map(|wait| ("retry-after", wait)).into_iter().collect();
            let (chunks, error) = wire.chat(&Fake::answers(status, &headers, body)).await;
            let error = error.unwrap();
            assert!(chunks.is_empty(), "{wire:?} {status}");
            assert_eq!(error.failure, failure, "{wire:?}: {error}");
            let seconds = error.retry_after.map(|wait| wait.as_secs());
            match wait {
                Some("7") => assert_eq!(seconds, Some(7)),
                Some("later") | None => assert_eq!(seconds, None),
                Some(_) => assert!((60..=91).contains(&seconds.unwrap()), "{seconds:?}"),
            }
        }
        // An HTML page, as a slightly wrong URL gives.
        let (chunks, error) = wire.chat(&Fake::answers(200, &[], page)).await;
        let error = error.unwrap();
        assert!(chunks.is_empty() && error.failure == Failure::Failed);
        assert!(error.message.contains("not a chat stream"), "{error}");
    }
}

/// The peak memory of this process.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.unwrap().split_whitespace().nth(1).unwrap();
    kib.parse::<u64>().unwrap() >> 10
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_answer_without_end_is_cancelled_and_takes_no_memory() {
    for wire in WIRES {
        let chunk = wire.text(&"on and on ".repeat(2000));
        let base = Fake::streams(&[&chunk]).without_end().start().await;
        let provider = wire.at(&base);
        let before = peak_mib();
        let mut stream = provider.chat(ChatRequest::default()).await.unwrap();
        let mut bytes = 0;
        let error = loop {
            match stream.next().await.unwrap() {
                Ok(ChatChunk::Text(text)) => bytes += text.len(),
                Ok(other) => panic!("{other:?}"),
                Err(error) => break error,
            }
        };
        assert!(
            error.message.contains("an answer that is too long"),
            "{error}"
        );
        assert!((60 << 20..64 << 20).contains(&bytes), "{wire:?}: {bytes}");
        // A quarter of the data would mean that it is buffered.
        let grown = peak_mib() - before;
        assert!(grown < 16, "{wire:?}: {grown} MiB");
    }
}
