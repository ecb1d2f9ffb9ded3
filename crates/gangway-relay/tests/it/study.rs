//! Study sessions: begun, kept line by line, ended, and alive across broken connections and restarts.

use serde_json::{Value, json};

use crate::server::TestServer;
use gangway_testing::relay_client::{Client, call, code};

/// Answers what a page is asked until this many questions came.
async fn serve(host: &mut Client, questions: usize) {
    for _ in 0..questions {
        let asked = host.receive().await;
        let (kind, payload) = match asked["type"].as_str().unwrap() {
            "session.start" => (
                "session.started",
                json!({ "sessionId": asked["payload"]["sessionId"] }),
            ),
            "session.end" => ("session.ended", json!({ "stateReset": true })),
            "tool.call" => (
                "tool.result",
                json!({ "ok": true, "uiSpec": { "stage": "movie" } }),
            ),
            "agent.message" => continue,
            other => panic!("{other}"),
        };
        host.reply(&asked, kind, payload).await;
    }
}

fn start() -> Value {
    json!({ "studyId": "pilot-01", "participantId": "P07" })
}

fn lines(server: &TestServer, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(server.data().join(file)).unwrap();
    assert!(text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn a_study_session_is_logged_from_its_start_to_its_end_without_a_gap() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    let mut other = Client::agent(&server, "s").await;
    let (_, started) = tokio::join!(serve(&mut host, 1), agent.ask("session.start", start()));
    let id = started["payload"]["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(started["type"], "session.started");
    assert!(id.starts_with("s-2") && id.ends_with("-001"), "{id}");
    for _ in 0..3 {
        tokio::join!(serve(&mut host, 1), agent.ask("tool.call", call("next")));
    }
    host.push("user.message", json!({ "text": "evening" }))
        .await;
    agent.receive_type("user.message").await;
    agent
        .send_message("agent.message", json!({ "text": "I see" }))
        .await;
    serve(&mut host, 1).await;
    let refused = agent.ask("tool.call", json!({ "toolName": "next" })).await;
    assert_eq!(code(&refused), "INVALID_PARAMS");
    let end = json!({ "reason": "study-complete" });
    let (_, ended) = tokio::join!(serve(&mut host, 1), agent.ask("session.end", end));
    let file = format!("logs/study/{id}.jsonl");
    assert_eq!(ended["type"], "session.ended");
    assert_eq!(
        ended["payload"],
        json!({ "stateReset": true, "sessionId": id, "logFile": file })
    );
    assert_eq!(
        other.receive_type("session.ended").await["payload"],
        ended["payload"]
    );
    let log = lines(&server, &file);
    for (n, line) in log.iter().enumerate() {
        assert_eq!(line["sessionId"], id.as_str());
        assert_eq!(line["eventIndex"], n + 1);
        let at = line["timestamp"].as_str().unwrap();
        assert!(at.len() == 24 && at.ends_with('Z'), "{at}");
    }
    let messages: Vec<_> = log
        .iter()
        .map(|line| {
            (
                line["direction"].as_str().unwrap(),
                line["type"].as_str().unwrap(),
            )
        })
        .collect();
    let call = [("in", "tool.call"), ("out", "tool.result")];
    let wanted = [("in", "session.start"), ("out", "session.started")]
        .into_iter()
        .chain(call.into_iter().cycle().take(6))
        .chain([
            ("out", "user.message"),
            ("in", "agent.message"),
            ("internal", "error"),
            ("in", "session.end"),
            ("out", "session.ended"),
        ]);
    assert_eq!(messages, wanted.collect::<Vec<_>>());
    assert_eq!(log[2]["payload"]["reason"], "to see what comes of it");
}

#[tokio::test]
async fn a_page_with_ids_of_its_own_is_known_to_agents_by_the_id_of_the_study_session() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    let own = json!({ "sessionId": "s-own", "uiSpec": { "stage": "flavour" } });
    let answer = async |host: &mut Client, kind: &str| {
        let asked = host.receive().await;
        host.reply(&asked, kind, own.clone()).await;
    };
    let get = || json!({});
    let (_, before) = tokio::join!(
        answer(&mut host, "snapshot.state"),
        agent.ask("snapshot.get", get())
    );
    assert_eq!(before["payload"], own);
    let (_, started) = tokio::join!(
        answer(&mut host, "session.started"),
        agent.ask("session.start", start())
    );
    let id = &started["payload"]["sessionId"];
    assert_ne!(*id, own["sessionId"]);
    let (_, snapshot) = tokio::join!(
        answer(&mut host, "snapshot.state"),
        agent.ask("snapshot.get", get())
    );
    assert_eq!(
        snapshot["payload"],
        json!({ "sessionId": id, "uiSpec": own["uiSpec"] })
    );
    let (_, ended) = tokio::join!(
        answer(&mut host, "session.ended"),
        agent.ask("session.end", json!({}))
    );
    assert_eq!(ended["payload"]["sessionId"], *id);
}

#[tokio::test]
async fn a_study_session_outlives_broken_connections_and_a_restart() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    let (_, started) = tokio::join!(serve(&mut host, 1), agent.ask("session.start", start()));
    let id = started["payload"]["sessionId"].clone();
    host.leave().await;
    agent.leave().await;
    let server = server.restart().await;
    let (mut agent, joined) =
        Client::joined(&server, json!({ "role": "agent", "sessionId": "s" })).await;
    assert_eq!(joined["studySession"], id);
    let mut host = Client::host(&server, "s").await;
    // The same one is given again, another one is refused.
    let (_, again) = tokio::join!(serve(&mut host, 1), agent.ask("session.start", start()));
    assert_eq!(again["payload"]["sessionId"], id);
    let other = json!({ "studyId": "pilot-01", "participantId": "P08" });
    assert_eq!(
        code(&agent.ask("session.start", other).await),
        "INVALID_PARAMS"
    );
    tokio::join!(serve(&mut host, 1), agent.ask("tool.call", call("next")));
    let (_, ended) = tokio::join!(serve(&mut host, 1), agent.ask("session.end", json!({})));
    let log = lines(&server, ended["payload"]["logFile"].as_str().unwrap());
    let counted: Vec<_> = log
        .iter()
        .map(|line| line["eventIndex"].as_u64().unwrap())
        .collect();
    assert_eq!(counted, (1..=log.len() as u64).collect::<Vec<_>>());
    let joins = log
        .iter()
        .filter(|line| line["direction"] == "internal")
        .count();
    assert!(joins >= 4, "joins are logged: {joins}");
    assert_eq!(
        code(&agent.ask("session.end", json!({})).await),
        "SESSION_NOT_ACTIVE"
    );
    let (_, next) = tokio::join!(serve(&mut host, 1), agent.ask("session.start", start()));
    let next = next["payload"]["sessionId"].as_str().unwrap();
    assert!(next.ends_with("-002"), "{next}");
}

#[tokio::test]
async fn sessions_of_two_pages_are_two_and_each_has_its_own_log() {
    let server = TestServer::start().await;
    let mut ids = Vec::new();
    let mut open = Vec::new();
    for name in ["a", "b"] {
        let mut host = Client::host(&server, name).await;
        let mut agent = Client::agent(&server, name).await;
        let (_, started) = tokio::join!(serve(&mut host, 1), agent.ask("session.start", start()));
        ids.push(started["payload"]["sessionId"].as_str().unwrap().to_owned());
        open.push((host, agent));
    }
    assert_ne!(ids[0], ids[1]);
    for (n, (host, agent)) in open.iter_mut().enumerate() {
        for _ in 0..=n {
            tokio::join!(serve(host, 1), agent.ask("tool.call", call("next")));
        }
    }
    for (n, id) in ids.iter().enumerate() {
        let log = lines(&server, &format!("logs/study/{id}.jsonl"));
        let calls = log
            .iter()
            .filter(|line| line["type"] == "tool.call")
            .count();
        assert_eq!(calls, n + 1);
        assert!(log.iter().all(|line| line["sessionId"] == id.as_str()));
    }
}

#[tokio::test]
async fn a_page_that_does_not_want_to_end_keeps_the_session_open_and_one_that_is_closed_does_not() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    tokio::join!(serve(&mut host, 1), agent.ask("session.start", start()));
    agent.send_message("session.end", json!({})).await;
    let asked = host.receive().await;
    let busy = json!({ "code": "TOOL_EXECUTION_FAILED", "message": "a booking is under way" });
    host.reply(&asked, "error", busy).await;
    assert_eq!(code(&agent.receive().await), "TOOL_EXECUTION_FAILED");
    host.leave().await;
    let ended = agent.ask("session.end", json!({ "reason": "gone" })).await;
    let log = lines(&server, ended["payload"]["logFile"].as_str().unwrap());
    let last: Vec<_> = log[log.len() - 2..]
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(last, ["session.end", "session.ended"]);
    assert_eq!(
        (&ended["type"], &ended["payload"]["stateReset"]),
        (&json!("session.ended"), &json!(false))
    );
}

#[tokio::test]
async fn what_is_no_text_in_the_start_or_the_end_of_a_study_is_refused() {
    let server = TestServer::start().await;
    let _host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    for bad in [
        json!({ "studyId": 7 }),
        json!({ "participantId": {} }),
        json!({ "studyId": "x".repeat(300) }),
    ] {
        assert_eq!(
            code(&agent.ask("session.start", bad).await),
            "INVALID_PARAMS"
        );
    }
    assert_eq!(
        code(&agent.ask("session.end", json!({ "reason": 1 })).await),
        "INVALID_PARAMS"
    );
}

#[tokio::test]
async fn what_a_page_is_asked_and_answers_is_named_in_the_log_and_so_is_who_asked() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let join = json!({ "role": "agent", "sessionId": "s", "clientId": "alice" });
    let (mut alice, _) = Client::joined(&server, join).await;
    let mut bob = Client::agent(&server, "s").await;
    let (_, started) = tokio::join!(serve(&mut host, 1), alice.ask("session.start", start()));
    alice.send_message("tool.call", call("slow")).await;
    let slow = host.receive().await;
    bob.send_message("tool.call", call("quick")).await;
    let quick = host.receive().await;
    host.reply(&quick, "tool.result", json!({ "ok": true }))
        .await;
    bob.receive().await;
    host.reply(&slow, "tool.result", json!({ "ok": true }))
        .await;
    alice.receive().await;
    // A page cannot end a study.
    host.push("session.ended", json!({ "logFile": "/etc/passwd" }))
        .await;
    assert_eq!(code(&host.receive().await), "INVALID_MESSAGE");
    let id = started["payload"]["sessionId"].as_str().unwrap();
    let log = lines(&server, &format!("logs/study/{id}.jsonl"));
    let of = |kind: &str| {
        log.iter()
            .filter(|line| line["type"] == kind)
            .cloned()
            .collect::<Vec<_>>()
    };
    let (asked, answered) = (of("tool.call"), of("tool.result"));
    assert_eq!(
        (&asked[0]["agent"], &asked[0]["id"]),
        (&json!("alice"), &slow["id"])
    );
    assert_eq!(asked[1]["id"], quick["id"]);
    assert_eq!(
        (&answered[0]["replyTo"], &answered[1]["replyTo"]),
        (&quick["id"], &slow["id"])
    );
}

#[tokio::test]
async fn two_who_begin_the_same_study_at_once_get_the_same_one() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut one = Client::agent(&server, "s").await;
    let mut two = Client::agent(&server, "s").await;
    let (_, first, second) = tokio::join!(
        serve(&mut host, 2),
        one.ask("session.start", start()),
        two.ask("session.start", start())
    );
    assert_eq!(
        first["payload"]["sessionId"],
        second["payload"]["sessionId"]
    );
    let (_, all) = server.call(reqwest::Method::GET, "/api/study", None).await;
    assert_eq!(all["sessions"].as_array().unwrap().len(), 1, "{all}");
}

#[tokio::test]
async fn an_end_goes_through_although_the_caller_is_gone() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    let mut other = Client::agent(&server, "s").await;
    tokio::join!(serve(&mut host, 1), agent.ask("session.start", start()));
    agent
        .send_message("session.end", json!({ "reason": "done" }))
        .await;
    let asked = host.receive_type("session.end").await;
    agent.drop_dead();
    host.push("state.updated", json!({ "source": "stage" }))
        .await;
    host.push("state.updated", json!({ "source": "stage" }))
        .await;
    host.reply(&asked, "session.ended", json!({ "stateReset": true }))
        .await;
    assert_eq!(
        other.receive_type("session.ended").await["payload"]["stateReset"],
        true
    );
    let (_, all) = server.call(reqwest::Method::GET, "/api/study", None).await;
    assert!(all["sessions"][0]["endedAt"].is_string(), "{all}");
}
