//! P23: text arrives byte for byte, through SSE, WebSocket and the export.

use serde_json::{Value, json};

use super::feed::{Feed, Way};
use crate::support::TestServer;

/// Texts that a careless framing would cut, join or drop.
fn payloads() -> Vec<(&'static str, String)> {
    let mut large: String = ('\u{0}'..'\u{3000}').collect();
    while large.len() < 1 << 20 {
        large.push_str("0123456789 data: \r\n\r\n");
    }
    vec![
        ("line feed", "a\nb\n\nc\n".into()),
        ("carriage return", "a\rb\r\rc\r".into()),
        ("both", "a\r\nb\r\n\r\nc\r\n".into()),
        (
            "separators",
            "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f".into(),
        ),
        (
            "fields",
            "data: x\nid: 7\nevent: y\n: z\nretry: 1\n\ndata:x".into(),
        ),
        ("nothing", "a\u{0}b\u{0}".into()),
        (
            "controls",
            (1..32_u8)
                .map(char::from)
                .chain(['\u{7f}', '\u{feff}'])
                .collect(),
        ),
        ("emoji", "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿 é e\u{301} \u{10FFFF} \u{FFFD}".into()),
        (
            "json",
            r#""}],{"seq":9,"type":"done"} \n \u0000 \\ / </script><!--"#.into(),
        ),
        ("space", "   \u{a0} lead and trail   ".into()),
        ("megabyte", large),
    ]
}

/// The prompt, the pieces and the whole message of the one turn of a session.
async fn answer_on(server: &TestServer, way: Way, session: &str) -> (String, String, String) {
    let (mut prompt, mut pieces, mut message) = (String::new(), String::new(), String::new());
    let mut last = 0_u64;
    loop {
        let since = last.to_string();
        let feed = Feed::open(way, &server.http, &server.url(""), session, Some(&since)).await;
        let mut feed = feed.unwrap();
        while let Some(received) = feed.next().await {
            let frame = received.value();
            let text = |key: &str| frame[key].as_str().unwrap().to_owned();
            last = received.seq().unwrap_or(last);
            match frame["type"].as_str().unwrap() {
                "user.message" => prompt = text("prompt"),
                "assistant.message_delta" => pieces.push_str(&text("delta")),
                "assistant.message" => message = text("content"),
                "done" => return (prompt, pieces, message),
                // Events this large leave memory at once; a reader that lags by one resumes.
                "closing" => assert_eq!(text("reason"), "slow"),
                _ => {}
            }
        }
    }
}

/// P23
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_text_arrives_byte_for_byte_on_every_way_out() {
    for (name, text) in payloads() {
        // JSON is YAML, as long as the characters that YAML cannot hold are escaped.
        let escaped: String = json!(text)
            .to_string()
            .chars()
            .map(|c| match c {
                '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                    format!("\\u{:04x}", c as u32)
                }
                c => c.to_string(),
            })
            .collect();
        let server =
            TestServer::scripted(&format!("turns: [{{steps: [{{delta: {escaped}}}]}}]")).await;
        let session = server.session().await;
        server.send_message(&session, &text).await;
        for way in [Way::Sse, Way::WebSocket] {
            let (prompt, pieces, message) = answer_on(&server, way, &session).await;
            assert!(prompt == text, "{name}: prompt on {way:?}");
            assert!(pieces == text, "{name}: deltas on {way:?}");
            assert!(message == text, "{name}: message on {way:?}");
        }
        let (_, export) = server.get(&format!("/api/sessions/{session}/export")).await;
        let lines: Vec<Value> = export
            .as_str()
            .unwrap()
            .split('\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let find = |kind: &str, key: &str| {
            let line = lines.iter().find(|line| line["type"] == kind).unwrap();
            line[key].as_str().unwrap() == text
        };
        assert!(
            find("user.message", "prompt"),
            "{name}: prompt in the export"
        );
        assert!(
            find("assistant.message_delta", "delta"),
            "{name}: delta in the export"
        );
        assert!(
            find("assistant.message", "content"),
            "{name}: message in the export"
        );
        let (_, found) = server.get(&format!("/api/sessions/{session}")).await;
        let title = found["title"].as_str().unwrap();
        assert!(
            !title.chars().any(char::is_control),
            "{name}: title {title:?}"
        );
    }
}
