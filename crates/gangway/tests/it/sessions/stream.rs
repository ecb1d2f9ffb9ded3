//! The stream of one answer.

use crate::support::{Frame, TestServer};

fn text(frames: &[Frame]) -> String {
    let deltas = frames
        .iter()
        .filter(|f| f.event == "assistant.message_delta");
    deltas.map(|f| f.data["delta"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_reader_of_a_stream_gets_the_same_during_the_turn_and_after_it() {
    let server =
        TestServer::scripted("turns: [{steps: [{say: 'one two three four five', every_ms: 10}]}]")
            .await;
    let session = server.session().await;
    let stream = server.send_message(&session, "go").await;
    let path = format!("/api/stream/{stream}");
    let (first, second) = tokio::join!(
        async { server.sse(&path, None).await.rest().await },
        async { server.sse(&path, None).await.rest().await }
    );
    let after = server.sse(&path, None).await.rest().await;
    assert_eq!(text(&first), "one two three four five");
    assert_eq!(first, second);
    assert_eq!(first, after);
}

#[tokio::test]
async fn a_stream_continues_after_the_number_that_was_seen() {
    let server = TestServer::scripted(
        "turns: [{steps: [{say: 'one two three four five six', every_ms: 10}]}]",
    )
    .await;
    let session = server.session().await;
    let stream = server.send_message(&session, "go").await;
    let path = format!("/api/stream/{stream}");
    let mut reader = server.sse(&path, None).await;
    let mut seen = vec![reader.next().await.unwrap()];
    for _ in 0..3 {
        seen.push(reader.next().await.unwrap());
    }
    drop(reader);
    let last = seen.last().unwrap().id.unwrap().to_string();
    seen.extend(server.sse(&path, Some(&last)).await.rest().await);
    assert_eq!(text(&seen), "one two three four five six");
    assert_eq!(seen, server.sse(&path, None).await.rest().await);
}

#[tokio::test]
async fn a_stream_whose_end_was_seen_stops_the_browser_from_reconnecting() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let stream = server.send_message(&session, "code").await;
    let path = format!("/api/stream/{stream}");
    let frames = server.sse(&path, None).await.rest().await;
    let done = frames.last().unwrap().id.unwrap().to_string();
    assert_eq!(server.sse(&path, Some(&done)).await.status, 204);
}

#[tokio::test]
async fn an_unknown_stream_is_not_found() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.ask(&session, "code").await;
    for stream in [
        "nonsense".to_owned(),
        format!("{session}.1"),
        format!("{session}.999"),
        "01a1ddec-0d83-7088-92bb-e43a6be77561.3".into(),
        format!("{session}.18446744073709551615"),
    ] {
        let (status, error) = server.get(&format!("/api/stream/{stream}")).await;
        assert_eq!(
            (status.as_u16(), error["error_code"].as_str()),
            (404, Some("stream_not_found")),
            "{stream}"
        );
    }
}

#[tokio::test]
async fn a_quiet_stream_shows_signs_of_life() {
    let server = TestServer::scripted_with("turns: [{steps: [{pause_ms: 60000}]}]", |config| {
        config.limits.heartbeat_seconds = 1
    })
    .await;
    let session = server.session().await;
    let stream = server.send_message(&session, "go").await;
    let response = server
        .http
        .get(server.url(&format!("/api/stream/{stream}")))
        .send()
        .await
        .unwrap();
    let mut chunks = response;
    let mut text = String::new();
    while !text.contains(": still here") {
        text.push_str(&String::from_utf8_lossy(
            &chunks.chunk().await.unwrap().unwrap(),
        ));
    }
}

#[tokio::test]
async fn deltas_of_older_turns_are_dropped_once_their_message_is_whole() {
    let server = TestServer::scripted("turns: [{steps: [{say: 'one two three'}]}]").await;
    let session = server.session().await;
    let first = server.send_message(&session, "a").await;
    server
        .sse(&format!("/api/stream/{first}"), None)
        .await
        .rest()
        .await;
    server.ask(&session, "b").await;
    server.ask(&session, "c").await;
    // A fresh start, so that nothing comes from memory.
    let server = server.restart().await;
    let frames = server
        .sse(&format!("/api/stream/{first}"), None)
        .await
        .rest()
        .await;
    let names: Vec<_> = frames.iter().map(|f| f.event.as_str()).collect();
    assert_eq!(
        names,
        [
            "assistant.turn_start",
            "assistant.message",
            "session.idle",
            "done"
        ]
    );
    let message = &frames[1];
    let replaced = &message.data["replaces"];
    // Every number that is missing is accounted for.
    assert_eq!(replaced[0].as_u64().unwrap(), frames[0].id.unwrap() + 1);
    assert_eq!(replaced[1].as_u64().unwrap(), message.id.unwrap() - 1);
    assert_eq!(message.data["content"], "one two three");
}

#[tokio::test]
async fn a_stream_that_waits_for_its_turn_shows_signs_of_life_while_another_talks() {
    let script = "turns: [{steps: [{delta: 'on ', times: 100000, every_ms: 20}]}]";
    let server =
        TestServer::scripted_with(script, |config| config.limits.heartbeat_seconds = 1).await;
    let session = server.session().await;
    server.send_message(&session, "talks").await;
    let waiting = server.send_message(&session, "waits").await;
    let url = server.url(&format!("/api/stream/{waiting}"));
    let mut response = server.http.get(url).send().await.unwrap();
    let mut text = String::new();
    while !text.contains(": still here") {
        text.push_str(&String::from_utf8_lossy(
            &response.chunk().await.unwrap().unwrap(),
        ));
    }
}
