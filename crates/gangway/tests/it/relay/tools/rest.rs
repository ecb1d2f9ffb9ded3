//! Study sessions over HTTP, and the tokens of relay sessions.

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{
    lamp::{Flaw, Page},
    wire::Wire,
};
use crate::support::TestServer;

/// A study session in which an agent switched the lamp and failed once; its id.
async fn record(server: &TestServer) -> String {
    let url = server.url("");
    let _page = Page::open(&url, "lamp", Flaw::Nothing).await;
    let mut agent = Wire::join(&url, "agent", "lamp").await;
    let start = json!({ "studyId": "pilot", "participantId": "P07" });
    let started = agent.ask("session.start", start).await.unwrap();
    let id = started["payload"]["sessionId"].as_str().unwrap().to_owned();
    for on in [json!(true), json!("bright")] {
        let call =
            json!({ "toolName": "switch", "params": { "on": on }, "reason": "=It is \"dark\"." });
        agent.ask("tool.call", call).await.unwrap();
    }
    let (_, list) = server.get("/api/study").await;
    let open = &list["sessions"][0];
    assert_eq!(
        (&open["endedAt"], &open["sessionId"]),
        (&Value::Null, &json!(id))
    );
    assert!(open["events"].as_u64().unwrap() >= 5, "{list}");
    let ended = agent
        .ask("session.end", json!({ "reason": "done" }))
        .await
        .unwrap();
    assert_eq!(ended["type"], "session.ended", "{ended}");
    id
}

fn log_of(server: &TestServer, id: &str) -> std::path::PathBuf {
    server.data().join("logs/study").join(format!("{id}.jsonl"))
}

#[tokio::test]
async fn a_study_session_is_listed_read_summed_up_and_downloaded() {
    let server = TestServer::start().await;
    let id = record(&server).await;
    let (_, list) = server.get("/api/study").await;
    let entry = &list["sessions"][0];
    for (name, value) in [
        ("sessionId", json!(id)),
        ("studyId", json!("pilot")),
        ("participantId", json!("P07")),
        ("reason", json!("done")),
        ("relaySession", json!("lamp")),
    ] {
        assert_eq!(entry[name], value, "{list}");
    }
    assert!(entry["endedAt"].is_string());
    let log = std::fs::read_to_string(log_of(&server, &id)).unwrap();
    let lines = log.lines().count();
    assert_eq!(entry["events"], lines);

    let mut events = Vec::new();
    loop {
        let path = format!("/api/study/{id}/events?after={}&limit=2", events.len());
        let (status, page) = server.get(&path).await;
        assert_eq!(status, 200, "{page}");
        events.extend(page["events"].as_array().unwrap().clone());
        if page["more"] == false {
            break;
        }
    }
    let stored: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let indexes: Vec<_> = events
        .iter()
        .map(|event| event["eventIndex"].as_u64().unwrap())
        .collect();
    assert_eq!(indexes, (1..=lines as u64).collect::<Vec<_>>());
    let kinds = |events: &[Value]| {
        events
            .iter()
            .map(|event| event["type"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds(&events), kinds(&stored));

    let (_, summary) = server.get(&format!("/api/study/{id}/summary")).await;
    assert_eq!(
        (&summary["steps"], &summary["errors"], &summary["by"]),
        (&json!(2), &json!(1), &json!({ "user": 0, "agent": 2 })),
        "{summary}"
    );

    let jsonl = server
        .http
        .get(server.url(&format!("/api/study/{id}/jsonl")))
        .send()
        .await
        .unwrap();
    let name = jsonl.headers()["content-disposition"]
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(name, format!("attachment; filename=\"{id}.jsonl\""));
    assert_eq!(jsonl.text().await.unwrap(), log);

    let csv = server
        .http
        .get(server.url(&format!("/api/study/{id}/csv")))
        .send()
        .await
        .unwrap();
    assert_eq!(csv.headers()["content-type"], "text/csv; charset=utf-8");
    let csv = csv.text().await.unwrap();
    assert_eq!(csv.lines().count(), lines + 1);
    assert!(csv.contains(r#""'=It is ""dark"".""#), "{csv}");
}

#[tokio::test]
async fn ids_that_could_lead_anywhere_name_no_study_session() {
    let server = TestServer::start().await;
    for id in [
        "s-19990101-001",
        "..%2F..%2Fx",
        "s-20260213-001.jsonl",
        "%00",
        "x".repeat(500).as_str(),
    ] {
        for what in ["events", "summary", "csv", "jsonl"] {
            let (status, error) = server.get(&format!("/api/study/{id}/{what}")).await;
            assert_eq!(status, 404, "{error}");
        }
    }
}

#[tokio::test]
async fn a_damaged_line_is_reported_with_its_number_and_the_rest_can_be_read() {
    let server = TestServer::start().await;
    let id = record(&server).await;
    let file = log_of(&server, &id);
    let log = std::fs::read_to_string(&file).unwrap();
    let mut lines: Vec<_> = log.lines().collect();
    lines[2] = "{\"half";
    std::fs::write(&file, lines.join("\n") + "\n").unwrap();
    let (status, page) = server.get(&format!("/api/study/{id}/events")).await;
    assert_eq!(
        (status, page["more"].clone()),
        (StatusCode::OK, json!(true))
    );
    assert_eq!(page["events"].as_array().unwrap().len(), 2);
    for path in ["events?after=2", "summary", "csv"] {
        let (status, error) = server.get(&format!("/api/study/{id}/{path}")).await;
        assert_eq!(status, 422, "{error}");
        assert_eq!(error["error_code"], "study_log_damaged");
        assert!(
            error["message"].as_str().unwrap().contains("line 3"),
            "{error}"
        );
    }
    let (status, rest) = server.get(&format!("/api/study/{id}/events?after=3")).await;
    assert_eq!(
        (status, rest["events"][0]["eventIndex"].clone()),
        (StatusCode::OK, json!(4))
    );
    std::fs::remove_file(&file).unwrap();
    let (status, error) = server.get(&format!("/api/study/{id}/jsonl")).await;
    assert_eq!(
        (status, error["error_code"].clone()),
        (StatusCode::NOT_FOUND, json!("study_log_gone"))
    );
}

#[tokio::test]
async fn a_token_is_given_to_callers_with_a_key_and_then_no_client_joins_without_it() {
    let server = TestServer::start().await;
    let path = server.url("/api/relay/tokens/lamp");
    let post = |bearer: Option<&'static str>, path: &str| {
        let request = server.bare.post(path);
        match bearer {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    };
    assert_eq!(post(None, &path).send().await.unwrap().status(), 401);
    let bad = server.url("/api/relay/tokens/..%2Fx");
    let refused = post(Some("local-token"), &bad).send().await.unwrap();
    assert_eq!(refused.status(), 400);
    let made = post(Some("local-token"), &path).send().await.unwrap();
    assert_eq!(made.status(), 201);
    let made: Value = made.json().await.unwrap();
    let token = made["agentToken"].as_str().unwrap();

    let mut stranger = Wire::stranger(&server.url("")).await;
    let body = json!({ "role": "agent", "sessionId": "lamp" });
    let refused = stranger.ask("relay.join", body.clone()).await.unwrap();
    assert_eq!(
        refused["payload"]["code"], "SESSION_NOT_ACTIVE",
        "{refused}"
    );
    let mut shown = body.clone();
    shown["token"] = json!(token);
    let joined = stranger.ask("relay.join", shown).await.unwrap();
    assert_eq!(joined["type"], "relay.joined");
    let (_, list) = server.get("/api/relay").await;
    assert_eq!(
        list["sessions"],
        json!([{ "name": "lamp", "host": false, "agents": 1, "studySession": null, "token": true }])
    );

    for status in [204, 404] {
        let removed = server.http.delete(&path).bearer_auth("local-token");
        assert_eq!(removed.send().await.unwrap().status(), status);
    }
}
