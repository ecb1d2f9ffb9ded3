//! Conversations of pages with a model.

use gangway_core::{Event, Outcome, SubscriptionEnd};
use gangway_testing::{
    fake::Fake,
    webagent_client::{Broker, SHOP, allow, end, grant, says},
};
use serde_json::{Value, json};

use crate::server::server;

async fn open(page: &mut Broker, request: Value) -> String {
    let made = page.call("text.create", request).await.unwrap();
    made["sessionId"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_comes_in_chunks_as_the_model_writes_it_and_the_next_one_knows_it() {
    let model = Fake::streams(&[&says("Ahoy"), &says(" there"), &end()]);
    let server = server(&model).await;
    allow(&server, SHOP, &["model:prompt"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    let request = json!({ "systemPrompt": "You are a sailor.", "temperature": 0.5 });
    let session = open(&mut page, request).await;
    let prompt = json!({ "sessionId": session, "input": "Hello" });
    let id = page.begin("text.prompt", prompt).await;
    let (events, end) = page.end(id).await;
    end.unwrap();
    assert_eq!(
        events,
        [
            json!({ "type": "token", "token": "Ahoy" }),
            json!({ "type": "token", "token": " there" }),
            json!({ "type": "done" }),
        ]
    );
    let again = json!({ "sessionId": session, "input": "And now?" });
    page.call("text.prompt", again).await.unwrap();
    let asked = model.asked();
    assert_eq!(asked[0]["temperature"], 0.5);
    let texts: Vec<_> = asked[1]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| &m["content"])
        .collect();
    assert_eq!(
        texts,
        ["You are a sailor.", "Hello", "Ahoy there", "And now?"]
    );

    page.call("text.destroy", json!({ "sessionId": session }))
        .await
        .unwrap();
    let gone = json!({ "sessionId": session, "input": "x" });
    assert_eq!(
        page.refused("text.prompt", gone.clone()).await,
        "ERR_SESSION_NOT_FOUND"
    );
    assert_eq!(
        page.refused("text.destroy", gone).await,
        "ERR_SESSION_NOT_FOUND"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_a_destroy_and_a_revoke_end_an_answer_at_once() {
    let server = server(&Fake::streams(&[&says("One")]).then_silent()).await;
    allow(&server, SHOP, &["model:prompt"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    let session = open(&mut page, json!({})).await;
    let prompt = json!({ "sessionId": session, "input": "Go" });

    let id = page.begin("text.prompt", prompt.clone()).await;
    page.until("event").await;
    page.send_message(json!({ "type": "abort", "id": id }))
        .await;
    assert_eq!(page.end(id).await.1.unwrap_err()["code"], "ERR_ABORTED");

    let id = page.begin("text.prompt", prompt).await;
    page.until("event").await;
    let destroy = page
        .begin("text.destroy", json!({ "sessionId": session }))
        .await;
    assert_eq!(
        page.end(id).await.1.unwrap_err()["code"],
        "ERR_SESSION_NOT_FOUND"
    );
    let _ = destroy;

    let session = open(&mut page, json!({})).await;
    let id = page
        .begin(
            "text.prompt",
            json!({ "sessionId": session, "input": "Go" }),
        )
        .await;
    page.until("event").await;
    grant(
        &server,
        SHOP,
        json!({ "scopes": { "model:prompt": "denied" } }),
    )
    .await;
    assert_eq!(
        page.end(id).await.1.unwrap_err()["code"],
        "ERR_PERMISSION_DENIED"
    );
}

#[tokio::test]
async fn an_answer_ends_when_the_grant_that_it_needs_does() {
    let server = server(&Fake::streams(&[&says("One")]).then_silent()).await;
    let hour = json!({ "scopes": { "model:prompt": "granted-always" }, "duration": "1h" });
    grant(&server, SHOP, hour).await;
    let mut page = Broker::of(&server, SHOP).await;
    let session = open(&mut page, json!({})).await;
    let prompt = json!({ "sessionId": session, "input": "Go" });
    let id = page.begin("text.prompt", prompt).await;
    page.until("event").await;
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(60 * 60)).await;
    tokio::time::resume();
    assert_eq!(
        page.end(id).await.1.unwrap_err()["code"],
        "ERR_SCOPE_REQUIRED"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_sessions_and_invalid_requests_are_refused() {
    let server = server(&Fake::streams(&[])).await;
    let mut page = Broker::of(&server, SHOP).await;
    assert_eq!(
        page.refused("text.create", json!({})).await,
        "ERR_SCOPE_REQUIRED"
    );
    allow(&server, SHOP, &["model:prompt"]).await;
    for request in [
        json!({ "temperature": 3 }),
        json!({ "temperature": "hot" }),
        json!({ "systemPrompt": "x".repeat(200_000) }),
    ] {
        assert_eq!(
            page.refused("text.create", request).await,
            "ERR_INVALID_ARGUMENT"
        );
    }
    let unknown = json!({ "provider": "nobody" });
    assert_eq!(
        page.refused("text.create", unknown).await,
        "ERR_MODEL_FAILED"
    );
    let mut made = 0;
    for _ in 0..500 {
        match page.call("text.create", json!({})).await {
            Ok(_) => made += 1,
            Err(error) => assert_eq!(error["code"], "ERR_RATE_LIMITED"),
        }
    }
    assert_eq!(made, 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_fails_is_reported_by_type() {
    let server = server(&Fake::answers(500, &[], "{}")).await;
    allow(&server, SHOP, &["model:prompt", "model:list"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    let session = open(&mut page, json!({})).await;
    let prompt = json!({ "sessionId": session, "input": "x" });
    assert_eq!(
        page.refused("text.prompt", prompt).await,
        "ERR_MODEL_FAILED"
    );
    let providers = page.call("providers.list", json!({})).await.unwrap();
    let mine = providers
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["id"] == "m")
        .unwrap();
    assert_eq!(
        (&mine["type"], &mine["isNative"], &mine["runtime"]),
        (&json!("openai"), &json!(false), &json!("bridge"))
    );
    // Where it is, and where its key comes from, is no page's business.
    assert!(mine.get("baseUrl").is_none() && mine.get("keySource").is_none());
    let able = page.call("capabilities", json!({})).await.unwrap();
    assert_eq!(able["bridgeConnected"], true);
}

#[tokio::test]
async fn without_any_model_a_page_gets_an_error_before_it_sends_anything() {
    let server = crate::server::TestServer::start().await;
    allow(&server, SHOP, &["model:prompt"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    assert_eq!(
        page.refused("text.create", json!({})).await,
        "ERR_MODEL_FAILED"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_does_not_read_does_not_stall_the_turn_for_other_readers() {
    // More than the page's outbox and the log's memory hold.
    let chunk = "x".repeat(1023) + " ";
    let chunks: Vec<_> = (0..3000).map(|_| says(&chunk)).chain([end()]).collect();
    let chunks: Vec<_> = chunks.iter().map(String::as_str).collect();
    let server = server(&Fake::streams(&chunks)).await;
    allow(&server, SHOP, &["model:prompt"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    let session = open(&mut page, json!({})).await;
    let prompt = json!({ "sessionId": session, "input": "Go on and on" });
    let id = page.begin("text.prompt", prompt).await;

    let hub = server.hub();
    let outcome = async {
        let live = loop {
            match hub.left_over(jiff::Timestamp::MAX).await.unwrap()[..] {
                [session] => break hub.open(session).await.unwrap(),
                _ => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            }
        };
        let mut log = live.subscribe(0);
        loop {
            match log.next(1 << 20).await.unwrap() {
                Ok(events) => {
                    let ended = events.iter().find_map(|logged| match &logged.event {
                        Event::TurnEnded { outcome, .. } => Some(*outcome),
                        _ => None,
                    });
                    if let Some(outcome) = ended {
                        break outcome;
                    }
                }
                Err(SubscriptionEnd::Slow) => log = live.subscribe(log.after()),
                Err(why) => panic!("{why:?}"),
            }
        }
    };
    let outcome = tokio::time::timeout(std::time::Duration::from_secs(60), outcome).await;
    assert_eq!(outcome.expect("the turn stalled"), Outcome::Completed);

    // The page has missed nothing.
    let mut text = String::new();
    loop {
        let received = page.receive().await;
        assert_eq!(received["id"], id, "{received}");
        if page.seen % 100 == 0 {
            page.send_message(json!({ "type": "ack", "n": page.seen }))
                .await;
        }
        match received["event"]["type"].as_str() {
            Some("token") => text.push_str(received["event"]["token"].as_str().unwrap()),
            Some("done") => break,
            _ => panic!("{received}"),
        }
    }
    assert!(text == chunk.repeat(3000), "{} bytes", text.len());
}
