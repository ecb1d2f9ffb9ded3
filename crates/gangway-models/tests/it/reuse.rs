//! A connection to a provider serves one chat after another, also when the end of an answer's body comes late.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use futures_util::TryStreamExt;
use gangway_models::{
    ChatChunk, ChatRequest, Provider, anthropic::Anthropic, ollama::Ollama, openai::OpenAi,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Chats within which a connection must have been used twice.
const CHATS: usize = 200;

/// Answers every request with this and ends the body, as servers do.
async fn serve(mut stream: TcpStream, answer: &'static str) -> std::io::Result<()> {
    let mut request = Vec::new();
    loop {
        // The requests of these tests end with their only object.
        while !request.ends_with(b"}") {
            if stream.read_buf(&mut request).await? == 0 {
                return Ok(());
            }
        }
        request.clear();
        let body = format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{answer}\r\n",
            answer.len()
        );
        stream.write_all(body.as_bytes()).await?;
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        stream.write_all(b"0\r\n\r\n").await?;
    }
}

async fn reuses(answer: &'static str, provider: impl FnOnce(&str) -> Box<dyn Provider>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let provider = provider(&format!("http://{}", listener.local_addr().unwrap()));
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, SeqCst);
            tokio::spawn(serve(stream, answer));
        }
    });
    for chats in 1..=CHATS {
        let chunks = provider.chat(ChatRequest::default()).await.unwrap();
        let chunks: Vec<ChatChunk> = chunks.try_collect().await.unwrap();
        assert!(chunks.contains(&ChatChunk::Text("hi".into())));
        if connections.load(SeqCst) < chats {
            return;
        }
    }
    panic!("{CHATS} chats took as many connections");
}

#[tokio::test]
async fn openai_chats_share_a_connection() {
    let answer = concat!(
        r#"data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}"#,
        "\n\ndata: [DONE]\n\n"
    );
    reuses(answer, |at| {
        Box::new(OpenAi::new(at, None, Some("m".into())))
    })
    .await;
}

#[tokio::test]
async fn anthropic_chats_share_a_connection() {
    let answer = concat!(
        r#"data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}}"#,
        "\n\n",
        r#"data: {"type":"message_stop"}"#,
        "\n\n"
    );
    reuses(answer, |at| {
        Box::new(Anthropic::new(at, None, Some("m".into())))
    })
    .await;
}

#[tokio::test]
async fn ollama_chats_share_a_connection() {
    let answer = concat!(
        r#"{"message":{"content":"hi"},"done":true,"done_reason":"stop"}"#,
        "\n"
    );
    reuses(answer, |at| {
        Box::new(Ollama::new(at, None, Some("m".into())))
    })
    .await;
}
