//! Speech to text, on the real wire of transcriptions.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use gangway_models::{Failure, Speech};

type Asked = Arc<Mutex<Vec<(HeaderMap, Bytes)>>>;

/// A server that answers every recording with the same.
async fn server(status: u16, answer: &'static str) -> (String, Asked) {
    let asked = Asked::default();
    let hear = async move |State(asked): State<Asked>, headers: HeaderMap, body: Bytes| {
        asked.lock().unwrap().push((headers, body));
        (StatusCode::from_u16(status).unwrap(), answer)
    };
    let router = Router::new()
        .route("/v1/audio/transcriptions", post(hear))
        .with_state(Arc::clone(&asked));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (format!("http://{address}/v1"), asked)
}

#[tokio::test]
async fn a_recording_becomes_text() {
    let (base, asked) = server(200, r#"{"text":" Hello there. "}"#).await;
    let speech = Speech::new(&base, Some("sk-speech".into()), "whisper-1");
    let audio = Bytes::from_static(b"\x1aE\xdf\xa3\x00\xff");
    let text = speech
        .transcribe(audio, "audio/webm;codecs=opus")
        .await
        .unwrap();
    assert_eq!(text, "Hello there.");
    let (headers, body) = asked.lock().unwrap().remove(0);
    assert_eq!(headers["authorization"], "Bearer sk-speech");
    let kind = headers["content-type"].to_str().unwrap();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    let body = String::from_utf8_lossy(&body).into_owned();
    assert_eq!(body.matches(boundary).count(), 4);
    assert!(body.contains("\r\n\r\nwhisper-1\r\n"), "{body}");
    assert!(body.contains("filename=\"speech.webm\""), "{body}");
}

#[tokio::test]
async fn what_goes_wrong_is_reported_without_the_key() {
    for (status, answer, failure) in [
        (401, "wrong key sk-speech", Failure::Unauthorized),
        (200, "no json", Failure::Failed),
        (200, r#"{"text":7}"#, Failure::Failed),
    ] {
        let (base, _) = server(status, answer).await;
        let speech = Speech::new(&base, Some("sk-speech".into()), "whisper-1");
        let error = speech
            .transcribe(Bytes::from_static(b"x"), "audio/ogg")
            .await
            .unwrap_err();
        assert_eq!(error.failure, failure, "{error:?}");
        assert!(!format!("{error:?}").contains("sk-speech"), "{error:?}");
    }
    let speech = Speech::new("http://127.0.0.1:1/v1", None, "whisper-1");
    let gone = speech.transcribe(Bytes::new(), "audio/ogg").await;
    assert_eq!(gone.unwrap_err().failure, Failure::Unavailable);
}
