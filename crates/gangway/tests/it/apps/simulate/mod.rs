//! `gangway simulate`, as an author uses it. The page is played by the test, on the wire that the page's script speaks;
//! browsers are in `web/e2e`.

mod desk;

use std::path::Path;

use serde_json::{Value, json};

use self::desk::{Desk, FakePage};
use super::write;
use crate::support::Gangway;

const SCRIPT: &str = "
launch:
  agent: tester
  data: { notes: [a] }
rules:
  - event: note-added
    where: { text: first }
    ack: true
  - event: slow
    delay: 50
  - event: lost
    ignore: true
  - request: save-file
    times: 1
    deny: not yet
  - request: save-file
    result: { saved: true }
send:
  - event: theme-changed
    payload: { theme: dark }
    after_event: note-added
expect:
  - event: note-added
    payload: { text: first }
  - request: save-file
    params: { filename: '<string>' }
    within: 20000
  - request: dance
";

async fn record(desk: &Desk) -> Value {
    let mut run = desk.start(&["--script", "script.yaml", "--record", "kept.yaml"]);
    let mut page = FakePage::open(&mut run).await;
    let received = page.behave("first").await;
    let ended = run.end();
    assert_eq!(
        (ended.code, &ended.result["result"]),
        (0, &json!("passed")),
        "{} {}",
        ended.result,
        ended.errors
    );
    json!({ "heard": received, "talk": ended.result["talk"] })
}

#[tokio::test]
async fn a_script_takes_denies_answers_and_sends_as_it_says() {
    let message = record(&Desk::new(SCRIPT)).await;
    let of = |kind: &str| {
        let all = message["heard"].as_array().unwrap().iter();
        all.filter(|one| one["type"] == kind)
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("weblet-ack"),
        [json!({ "type": "weblet-ack", "id": "note-added-id" })]
    );
    assert_eq!(
        (
            &of("agent-event")[0]["event"],
            &of("agent-event")[0]["payload"]
        ),
        (&json!("theme-changed"), &json!({ "theme": "dark" }))
    );
    let answers = of("weblet-response");
    assert_eq!(
        answers[0]["error"],
        json!({ "code": "E-AGT-004", "message": "not yet" })
    );
    assert_eq!(answers[1]["result"], json!({ "saved": true }));
    assert_eq!(answers[2]["error"]["code"], "E-AGT-006");
    let texts: Vec<&Value> = message["talk"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["app"])
        .collect();
    assert!(
        texts.contains(
            &&json!({ "event": "note-added", "payload": { "text": "first", "more": 1 } })
        ),
        "{texts:?}"
    );
}

#[tokio::test]
async fn a_recording_passes_with_the_same_app_and_fails_with_another() {
    let desk = Desk::new(SCRIPT);
    record(&desk).await;
    for (text, code) in [("first", 0), ("second", 1)] {
        let mut run = desk.start(&["--replay", "kept.yaml"]);
        let mut page = FakePage::open(&mut run).await;
        match code {
            0 => assert_eq!(page.behave(text).await.len(), 5),
            _ => {
                page.emit("note-added", json!({ "text": text, "more": 1 }))
                    .await
            }
        }
        let ended = run.end();
        assert_eq!(ended.code, code, "{}", ended.result);
        let why = ended.result["failure"].as_str().unwrap_or_default();
        assert_eq!(
            why.contains("- text: \"first\"\n+ text: \"second\""),
            code == 1,
            "{why}"
        );
    }
    let mut run = desk.start(&["--replay", "kept.yaml"]);
    let mut page = FakePage::open(&mut run).await;
    page.emit("note-gone", json!({})).await;
    let ended = run.end();
    let why = ended.result["failure"].as_str().unwrap();
    assert!(
        ended.code == 1 && why.contains("- event note-added") && why.contains("+ event note-gone"),
        "{why}"
    );
}

#[tokio::test]
async fn what_an_app_says_after_the_end_of_a_recording_is_a_failure() {
    let desk = Desk::new(SCRIPT);
    let text = "recording: 1\napp: notes\nlaunch: {data: {notes: []}}\ntalk:\n  - {at: 0, app: {event: one}}\n  - {at: 1, agent: {ack: 1}}\n";
    std::fs::write(desk.path("short.yaml"), text).unwrap();
    let mut run = desk.start(&["--replay", "short.yaml"]);
    let mut page = FakePage::open(&mut run).await;
    page.emit("one", Value::Null).await;
    page.emit("two", json!({ "x": 1 })).await;
    let ended = run.end();
    let why = ended.result["failure"].as_str().unwrap();
    assert!(
        ended.code == 1 && why.contains("sent more: event two {\"x\":1}"),
        "{why}"
    );
}

#[tokio::test]
async fn an_expectation_that_is_not_met_in_time_says_what_came_instead() {
    let desk = Desk::new(SCRIPT);
    let script = "launch: {data: {notes: []}}\nexpect:\n  - {event: note-added, payload: {text: first}, within: 400}\n";
    std::fs::write(desk.path("script.yaml"), script).unwrap();
    let mut run = desk.start(&["--script", "script.yaml"]);
    let mut page = FakePage::open(&mut run).await;
    page.emit("note-added", json!({ "text": "other" })).await;
    let ended = run.end();
    let why = ended.result["failure"].as_str().unwrap();
    assert_eq!(ended.code, 1);
    for part in [
        "after 400 ms",
        "event note-added",
        "- text: \"first\"",
        "+ text: \"other\"",
    ] {
        assert!(why.contains(part), "{why}");
    }
}

#[tokio::test]
async fn events_that_are_ignored_are_not_taken_and_the_time_limit_holds() {
    let desk = Desk::new(SCRIPT);
    let script = "launch: {data: {notes: []}}\nrules: [{event: lost, ignore: true}]\nexpect: [{event: never}]\n";
    std::fs::write(desk.path("script.yaml"), script).unwrap();
    let mut run = desk.start(&["--script", "script.yaml", "--timeout", "2"]);
    let mut page = FakePage::open(&mut run).await;
    page.emit("lost", Value::Null).await;
    page.emit("other", Value::Null).await;
    // The second is accepted, so the first was received and closed.
    assert_eq!(page.receive().await["id"], "other-id");
    let ended = run.end();
    let why = ended.result["failure"].as_str().unwrap();
    assert!(
        ended.code == 1 && why.contains("timed out after 2 s") && why.contains("event never"),
        "{why}"
    );
}

#[tokio::test]
async fn a_user_at_the_terminal_answers_by_typing() {
    let desk = Desk::new(SCRIPT);
    let mut run = desk.start_talking(&["--data", r#"{"notes": ["a"]}"#, "--agent", "me"]);
    let mut page = FakePage::open(&mut run).await;
    page.emit("hello", json!({ "to": "you" })).await;
    assert_eq!(page.receive().await["type"], "weblet-ack");
    assert!(
        run.until("app → agent")
            .contains("event hello {\"to\":\"you\"}")
    );
    run.until("ack hello");
    run.types("nonsense");
    run.until("type one of");
    run.types(r#"send theme-changed {"theme": "dark"}"#);
    assert_eq!(page.receive().await["payload"]["theme"], "dark");
    for (typed, wanted) in [
        (
            r#"answer {"saved": true}"#,
            json!({ "result": { "saved": true } }),
        ),
        (
            "deny not today",
            json!({ "error": { "code": "E-AGT-004", "message": "not today" } }),
        ),
        (
            "unknown",
            json!({ "error": { "code": "E-AGT-006", "message": "Agent does not support action: dance" } }),
        ),
    ] {
        let ask = json!({ "type": "weblet-request", "requestId": typed, "action": "dance", "params": {} });
        page.send_message(ask).await;
        run.until("waiting for you");
        run.types(typed);
        let answer = page.receive().await;
        for (key, value) in wanted.as_object().unwrap() {
            assert_eq!(&answer[key], value, "{answer}");
        }
    }
    run.types("auto off");
    run.types("ack");
    run.until("no event is waiting");
    page.emit("late", Value::Null).await;
    run.until("waiting for you: ack");
    run.types("ack");
    assert_eq!(page.receive().await["id"], "late-id");
    run.types("quit");
    assert_eq!(run.child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_cannot_be_tried_ends_with_2_and_says_why() {
    let desk = Desk::new(SCRIPT);
    write(
        desk.folder.path(),
        &[
            ("typo.yaml", "rules: [{evnt: a}]"),
            ("both.yaml", "rules: [{event: a}, {event: a, request: b}]"),
            ("event.yaml", "rules: [{event: a, deny: no}]"),
            (
                "page.yaml",
                "launch: {data: {notes: []}}\npage: [{click: a}]",
            ),
            ("steps.yaml", "page: [{click: a, wait: b}]"),
            ("other.yaml", "recording: 1\napp: other\ntalk: []"),
        ],
    );
    let cases: [(&[&str], &str); 10] = [
        (&["--script", "none.yaml"], "none.yaml"),
        (&["--script", "typo.yaml"], "evnt"),
        (&["--script", "both.yaml"], "rules, number 2"),
        (&["--script", "event.yaml"], "for requests"),
        (&["--script", "page.yaml"], "--headless"),
        (&["--script", "steps.yaml"], "page, number 1"),
        (&["--replay", "other.yaml"], "a recording of other"),
        (&["--data", "{}"], "notes"),
        (&["--data", "[1]"], "--data must be a JSON object"),
        (
            &["--data", r#"{"notes":[]}"#, "--agent", "demo"],
            "another name",
        ),
    ];
    for (arguments, part) in cases {
        let ended = desk.start(arguments).end();
        let why = ended.result["failure"].as_str().unwrap();
        assert_eq!(
            (ended.code, why.contains(part)),
            (2, true),
            "{arguments:?}: {why}"
        );
    }
    let missing = Gangway::run(
        Path::new("/nonexistent"),
        &["simulate", "no-such-app", "--no-open"],
    );
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("not found"));
}
