//! `gangway study` and `gangway relay` as a person uses them.

use std::{path::Path, process::Output};

use serde_json::{Value, json};

use super::{
    lamp::{Flaw, Page},
    wire::Wire,
};
use crate::support::Gangway;

async fn run(data: &Path, arguments: &[&str]) -> Output {
    let mut command = Gangway::command(data);
    command.args(arguments);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    output.await.unwrap()
}

async fn said(data: &Path, arguments: &[&str]) -> String {
    let output = run(data, arguments).await;
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

async fn fails(data: &Path, arguments: &[&str]) -> String {
    let output = run(data, arguments).await;
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

/// An agent switches the lamp twice, once wrongly; the id of the study session.
async fn record(url: &str) -> String {
    let _page = Page::open(url, "default", Flaw::Nothing).await;
    let mut agent = Wire::join(url, "agent", "default").await;
    let start = json!({ "studyId": "pilot", "participantId": "P07" });
    let started = agent.ask("session.start", start).await.unwrap();
    for on in [json!(true), json!("bright"), json!(false)] {
        let call = json!({ "toolName": "switch", "params": { "on": on }, "reason": "It is dark." });
        agent.ask("tool.call", call).await.unwrap();
    }
    let ended = agent
        .ask("session.end", json!({ "reason": "done" }))
        .await
        .unwrap();
    assert_eq!(ended["type"], "session.ended");
    started["payload"]["sessionId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_study_session_is_listed_shown_and_exported_with_and_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    assert!(
        said(data, &["study", "list"])
            .await
            .contains("no study sessions")
    );
    let server = Gangway::serve(data, &[]);
    let id = record(&server.url).await;
    let file = folder.path().join("out.csv");
    let mut seen = Vec::new();
    let mut server = Some(server);
    for _ in 0..2 {
        let listed = said(data, &["study", "list"]).await;
        assert!(listed.contains(&id) && listed.contains("pilot"), "{listed}");
        let shown = said(data, &["study", "show", &id]).await;
        assert!(shown.contains("dark") && shown.contains("all"), "{shown}");
        let json: Value =
            serde_json::from_str(&said(data, &["study", "show", &id, "--json"]).await).unwrap();
        assert_eq!(
            (&json["summary"]["steps"], &json["summary"]["errors"]),
            (&json!(3), &json!(1))
        );
        let log = said(data, &["study", "export", &id]).await;
        assert_eq!(json["session"]["events"], log.lines().count());
        let path = file.to_str().unwrap();
        said(
            data,
            &["study", "export", &id, "--format", "csv", "-o", path],
        )
        .await;
        let table = std::fs::read_to_string(&file).unwrap();
        assert_eq!(table.lines().count(), log.lines().count() + 1);
        let again = fails(data, &["study", "export", &id, "-o", path]).await;
        assert!(again.contains("out.csv"), "{again}");
        std::fs::remove_file(&file).unwrap();
        seen.push((listed, json, log, table));
        drop(server.take());
    }
    assert_eq!(seen[0], seen[1]);
    let missing = fails(data, &["study", "show", "s-19990101-001"]).await;
    assert!(missing.contains("gangway study list"), "{missing}");
}

#[tokio::test]
async fn a_replay_does_the_same_again_and_says_where_it_comes_out_differently() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let server = Gangway::serve(data, &[]);
    let id = record(&server.url).await;
    let replay = ["study", "replay", &id, "--speed", "0"];
    let alone = fails(data, &replay).await;
    assert!(
        alone.contains("no page has joined the relay session default"),
        "{alone}"
    );

    let page = Page::open(&server.url, "default", Flaw::Nothing).await;
    let message = said(data, &replay).await;
    assert!(
        message.contains("3 calls, 0 with a different result"),
        "{message}"
    );
    assert!(
        message.contains("then: INVALID_PARAMS   now: INVALID_PARAMS"),
        "{message}"
    );
    drop(page);

    let _broken = Page::open(&server.url, "other", Flaw::IsBroken).await;
    let output = run(
        data,
        &[&replay[..], &["--relay", "other", "--json"]].concat(),
    )
    .await;
    assert_eq!(output.status.code(), Some(1));
    let message: Value = serde_json::from_slice(&output.stdout).unwrap();
    let same: Vec<_> = message["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["same"])
        .collect();
    assert_eq!(same, [&json!(false), &json!(true), &json!(false)]);
    assert_eq!(message["steps"][0]["now"]["code"], "TOOL_EXECUTION_FAILED");
    // What is replayed is a study session of its own.
    let list: Value =
        serde_json::from_str(&said(data, &["study", "list", "--json"]).await).unwrap();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 3);
    assert_eq!(list["sessions"][0]["studyId"], "replay");
    // The page is given back what it said that it began with.
    let replayed = list["sessions"][1]["sessionId"].as_str().unwrap();
    let log = said(data, &["study", "export", replayed]).await;
    let begun: Value = serde_json::from_str(
        log.lines()
            .find(|line| line.contains("\"session.start\""))
            .unwrap(),
    )
    .unwrap();
    assert_eq!(begun["payload"]["setup"], json!({ "bulb": 1 }), "{begun}");
    drop(server);
    assert!(fails(data, &replay).await.contains("gangway serve"));
}

#[tokio::test]
async fn relay_sessions_are_listed_and_given_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let made = said(data, &["relay", "token", "lamp", "--json"]).await;
    let made: Value = serde_json::from_str(&made).unwrap();
    assert!(
        fails(data, &["relay", "list"])
            .await
            .contains("gangway serve")
    );
    let server = Gangway::serve(data, &[]);
    let mut agent = Wire::open(&server.url).await;
    let request = json!({ "role": "agent", "sessionId": "lamp", "token": made["agentToken"] });
    let joined = agent.ask("relay.join", request).await.unwrap();
    assert_eq!(joined["type"], "relay.joined", "{joined}");
    let listed = said(data, &["relay", "list"]).await;
    assert!(listed.contains("lamp  no page  1 agent  token"), "{listed}");
    said(data, &["relay", "token", "lamp", "--remove"]).await;
    assert!(
        fails(data, &["relay", "token", "lamp", "--remove"])
            .await
            .contains("no tokens")
    );
    assert_eq!(
        run(data, &["relay", "token", "../x"]).await.status.code(),
        Some(2)
    );
}
