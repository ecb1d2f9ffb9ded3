//! What Gangway does for an app, with the person's word.

use std::{sync::Arc, time::Duration};

use gangway_core::{AppEvent, AppEventKind, Ask, AskBody, AskDecision, Asker, Command, Reply};
use gangway_weblets::Side;
use reqwest::Method;
use serde_json::json;

use crate::server::TestServer;
use gangway_testing::eventually;
use gangway_testing::weblets_client::{WebletSocket, opened};

/// Answers the one request that is open.
async fn answer(server: &TestServer, decision: AskDecision) -> Arc<Ask> {
    let asks = &server.service.asks;
    let ask = eventually(async || asks.list().pop()).await;
    let reply = Reply {
        decision,
        ..Reply::default()
    };
    asks.answer(&ask.id, reply).await.unwrap();
    ask
}

fn message(ask: &Ask) -> &str {
    match &ask.body {
        AskBody::Action { message, .. } => message,
        other => panic!("{other:?}"),
    }
}

fn open(server: &TestServer) -> usize {
    server.service.asks.list().len()
}

#[tokio::test]
async fn a_file_is_saved_in_the_sessions_folder_once_the_user_agrees() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    page.request(
        "r1",
        "save-file",
        json!({ "filename": "report.csv", "content": "a,b\n" }),
    )
    .await;
    let question = answer(&server, AskDecision::Always).await;
    let asker = Asker::App("notes".parse().unwrap(), "My notes".to_owned());
    assert_eq!(question.asker, asker);
    let asked = "save report.csv (4 bytes)";
    assert!(message(&question).contains(asked), "{question:?}");
    let received = page.receive().await;
    assert_eq!(
        received["result"],
        json!({ "saved": true, "path": "report.csv", "bytes": 4 })
    );
    let cwd = server.cwd(launched["sessionId"].as_str().unwrap()).await;
    assert_eq!(
        std::fs::read_to_string(cwd.join("report.csv")).unwrap(),
        "a,b\n"
    );
    // Always means without asking again, until it is taken back.
    page.request(
        "r2",
        "save-file",
        json!({ "filename": "b.json", "content": { "a": 1 } }),
    )
    .await;
    assert_eq!(page.receive().await["success"], true);
    let (_, shown) = server.call(Method::GET, "/api/apps/notes", None).await;
    assert_eq!(shown["grants"], json!(["save-file"]));
    let (status, _) = server
        .call(Method::DELETE, "/api/apps/notes/grants/save-file", None)
        .await;
    assert_eq!(status, 204);
    page.request(
        "r3",
        "save-file",
        json!({ "filename": "c.txt", "content": "c" }),
    )
    .await;
    answer(&server, AskDecision::Deny).await;
    let error = json!({ "code": "E-AGT-004", "message": "the person denied it" });
    assert_eq!(page.receive().await["error"], error);
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_before_anyone_is_asked() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    for (n, (action, params)) in [
        ("save-file", json!({ "filename": "../x", "content": "a" })),
        (
            "save-file",
            json!({ "filename": "//etc/x", "content": "a" }),
        ),
        ("save-file", json!({ "content": "a" })),
        (
            "save-file",
            json!({ "filename": "a", "content": "?", "encoding": "base64" }),
        ),
        ("open-url", json!({ "url": "javascript:alert(1)" })),
        ("open-url", json!({ "url": "file:///etc/passwd" })),
        ("call-tool", json!({ "tool": "no-slash" })),
        ("prompt", json!({ "text": " " })),
        ("notify", json!({})),
    ]
    .into_iter()
    .enumerate()
    {
        page.request(&format!("r{n}"), action, params.clone()).await;
        let received = page.receive().await;
        assert_eq!(
            received["error"]["code"], "E-AGT-004",
            "{action} {params} {received}"
        );
    }
    assert_eq!(open(&server), 0);
}

#[tokio::test]
async fn one_app_does_not_take_all_of_the_users_attention() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    for n in 0..4 {
        let params = json!({ "filename": format!("{n}.txt"), "content": "x" });
        page.request(&format!("r{n}"), "save-file", params).await;
    }
    let received = page.receive().await;
    assert_eq!(received["error"]["code"], "E-AGT-004", "{received}");
    assert_eq!(open(&server), 3);
}

#[tokio::test]
async fn what_had_begun_when_the_server_ended_is_not_done_again() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("demo")).await;
    let hub = server.hub();
    hub.grant_app(&"notes".parse().unwrap(), "save-file", true)
        .await
        .unwrap();
    // The log as it is when the server dies with the deed half done.
    let launch = launched["launchId"].as_str().unwrap().parse().unwrap();
    let launch = hub.launch(launch).await.unwrap();
    let session = hub.open(launch.session).await.unwrap();
    let params = json!({ "filename": "a.txt", "content": "a" });
    let requested = |request: &str| AppEvent::Requested {
        request: request.to_owned(),
        action: "save-file".to_owned(),
        params: params.clone(),
    };
    let request = "r1".to_owned();
    for app_event in [
        requested("r1"),
        AppEvent::Begun { request },
        requested("r2"),
    ] {
        let command = Command::App {
            launch: launch.id,
            app: launch.app.clone(),
            app_event: Box::new(app_event),
        };
        session.submit(command).await.unwrap();
    }
    drop(session);
    let server = server.restart().await;
    let folder = server.data().join("workspaces");
    let file = folder.join(launch.session.to_string()).join("a.txt");
    let mut page = WebletSocket::page(&server, &launched, "").await;
    for _ in 0..2 {
        page.request("r1", "save-file", params.clone()).await;
        let received = page.receive().await;
        assert_eq!(received["error"]["code"], "E-AGT-005", "{received}");
        let message = received["error"]["message"].as_str().unwrap();
        assert!(message.contains("may or may not"), "{message}");
    }
    assert!(!file.exists());
    // What had not begun is done now, and its beginning is noted before its end.
    page.request("r2", "save-file", params.clone()).await;
    assert_eq!(page.receive().await["success"], true);
    assert!(file.exists());
    let hub = server.hub();
    let noted = async |kind| {
        hub.find_app_event(&launch, kind, "r2")
            .await
            .unwrap()
            .unwrap()
            .0
    };
    assert!(noted(AppEventKind::Begun).await < noted(AppEventKind::Answered).await);
}

#[tokio::test]
async fn a_question_goes_with_its_page_and_comes_back_with_it() {
    let mut server = TestServer::start().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    let params = json!({ "filename": "a.txt", "content": "a" });
    page.request("r1", "save-file", params.clone()).await;
    let first = eventually(async || server.service.asks.list().pop()).await;
    let first = first.id.clone();
    drop(page);
    // A page that is away for a moment finds its question as it was.
    let mut page = WebletSocket::page(&server, &launched, "").await;
    assert_eq!(server.service.asks.list()[0].id, first);
    page.request("r1", "save-file", params.clone()).await;
    drop(page);
    let presence = &server.service.weblets.launches.presence;
    let launch = launched["launchId"].as_str().unwrap().parse().unwrap();
    eventually(async || (presence.count(launch, Side::Page) == 0).then_some(())).await;
    server.pass(Duration::from_secs(16)).await;
    let gone = eventually(async || (open(&server) == 0).then_some(()));
    // Not much later; otherwise another timeout has ended it.
    let gone = tokio::time::timeout(Duration::from_secs(10), gone).await;
    assert!(gone.is_ok(), "the question stays");
    let mut page = WebletSocket::page(&server, &launched, "").await;
    page.request("r1", "save-file", params).await;
    let again = answer(&server, AskDecision::Once).await;
    assert_ne!(again.id, first);
    assert_eq!(page.receive().await["result"]["saved"], true);
}

#[tokio::test]
async fn an_app_cannot_turn_around_what_the_user_reads() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    let arguments = json!({ "to": "a\u{202e}moc.live\u{2066}\u{9b}" });
    let params = json!({ "tool": "mail/send", "arguments": arguments });
    page.request("r1", "call-tool", params).await;
    let question = answer(&server, AskDecision::Deny).await;
    let text = message(&question);
    let hidden = |c: char| c.is_control() || ('\u{2000}'..'\u{2100}').contains(&c);
    assert!(!text.contains(hidden), "{text:?}");
    assert!(
        text.contains("a\\u{202e}moc.live\\u{2066}\\u{009b}"),
        "{text}"
    );
    assert_eq!(page.receive().await["success"], false);
    let params = json!({ "url": "https://a.example/\u{202e}moc" });
    page.request("r2", "open-url", params).await;
    assert_eq!(page.receive().await["error"]["code"], "E-AGT-004");
    // The same holds for what it wants to say.
    let mut feed = server.feed(launched["sessionId"].as_str().unwrap()).await;
    let params = json!({ "text": "one\ntwo \u{202e}eerht" });
    page.request("r3", "prompt", params).await;
    let asking = feed.until("applet.asks").await;
    assert_eq!(asking["prompt"], "one\ntwo \\u{202e}eerht");
}
