//! Pages in frames of other sites.

use gangway_core::{AskBody, Asker, Scope};
use gangway_testing::{
    fake::Fake,
    webagent_client::{Broker, SHOP, allow, decide},
};
use gangway_webagent::permissions::Actor;
use serde_json::{Value, json};

use crate::server::TestServer;
use crate::server::server;

const PAY: &str = "https://pay.example";
const EVIL: &str = "https://evil.example";

async fn framed(server: &TestServer, origin: &str, ancestors: &[&str]) -> Broker {
    let hello = json!({
        "type": "hello", "v": 1, "origin": origin, "tab": "0".repeat(32), "ancestors": ancestors,
    });
    let (broker, welcome) = Broker::hello(server, hello).await;
    assert_eq!(welcome["type"], "welcome", "{welcome}");
    broker
}

fn permission_request() -> Value {
    json!({ "scopes": ["model:list"] })
}

async fn token(page: &mut Broker, origin: &str) -> Value {
    let made = page
        .call("frame.delegate", json!({ "origin": origin }))
        .await;
    made.unwrap()
}

#[tokio::test]
async fn a_framed_page_uses_what_its_origin_has_but_asks_for_nothing_more() {
    let server = server(&Fake::streams(&[])).await;
    allow(&server, PAY, &["model:list"]).await;
    // Also where the browser does not say who is around it.
    for around in [&[SHOP][..], &["null"], &[EVIL, PAY]] {
        let mut page = framed(&server, PAY, around).await;
        page.call("providers.list", json!({})).await.unwrap();
        page.call("permissions.request", permission_request())
            .await
            .unwrap();
        let more = json!({ "scopes": ["model:list", "model:prompt"] });
        let refused = page.call("permissions.request", more).await.unwrap_err();
        assert_eq!(refused["code"], "ERR_PERMISSION_DENIED");
        let message = refused["message"].as_str().unwrap();
        assert!(
            message.contains("data-gangway-delegate") && message.contains(PAY),
            "{message}"
        );
        assert!(server.service.asks.list().is_empty());
    }
    // Frames of the same site, and of Gangway itself, are no frames of others.
    let own = format!("http://{}", server.address);
    for around in [&[PAY, PAY][..], &[own.as_str()]] {
        let mut page = framed(&server, PAY, around).await;
        let id = page
            .begin("permissions.request", json!({ "scopes": ["chat:open"] }))
            .await;
        page.until("ask").await;
        page.send_message(json!({ "type": "abort", "id": id }))
            .await;
    }
}

#[tokio::test]
async fn a_page_that_is_delegated_to_asks_and_the_user_sees_both_origins() {
    let server = server(&Fake::streams(&[])).await;
    let mut top = Broker::of(&server, SHOP).await;
    for around in [SHOP, "null"] {
        let mut page = framed(&server, PAY, &[around]).await;
        let given = token(&mut top, PAY).await;
        page.call("frame.accept", given.clone()).await.unwrap();
        // It is good once.
        assert_eq!(
            page.refused("frame.accept", given).await,
            "ERR_PERMISSION_DENIED"
        );
        let id = page
            .begin("permissions.request", permission_request())
            .await;
        let ask = page.until("ask").await;
        let shown = server.service.asks.list();
        assert_eq!(shown[0].asker, Asker::Site(PAY.parse().unwrap()));
        let AskBody::Permission(request) = &shown[0].body else {
            panic!("{shown:?}")
        };
        assert_eq!(request.embedder.as_ref().unwrap().as_str(), SHOP);
        decide(&server, &ask, "once").await;
        assert_eq!(page.end(id).await.1.unwrap()["granted"], true);
        let pay = PAY.parse().unwrap();
        let forget = server.service.permissions.forget(&pay, Actor::Page);
        forget.await.unwrap();
    }
    let allowed = server
        .service
        .permissions
        .check(&SHOP.parse().unwrap(), Scope::ModelList);
    allowed.unwrap_err();
}

#[tokio::test]
async fn a_delegation_is_valid_for_no_other_page_and_no_framed_page_makes_one_of_its_own() {
    let server = server(&Fake::streams(&[])).await;
    let mut top = Broker::of(&server, SHOP).await;
    // Another origin than the one that it is for.
    let mut evil = framed(&server, EVIL, &[SHOP]).await;
    let stolen = token(&mut top, PAY).await;
    assert_eq!(
        evil.refused("frame.accept", stolen).await,
        "ERR_PERMISSION_DENIED"
    );
    // The right origin below another page, as reported by the browser.
    let mut elsewhere = framed(&server, PAY, &[EVIL]).await;
    let passed_on = token(&mut top, PAY).await;
    assert_eq!(
        elsewhere.refused("frame.accept", passed_on).await,
        "ERR_PERMISSION_DENIED"
    );
    assert_eq!(
        elsewhere
            .refused("permissions.request", permission_request())
            .await,
        "ERR_PERMISSION_DENIED"
    );
    // A framed page delegates only what was delegated to it.
    let pay = json!({ "origin": PAY });
    assert_eq!(
        evil.refused("frame.delegate", pay).await,
        "ERR_PERMISSION_DENIED"
    );
    let nobody = json!({ "token": "0".repeat(64) });
    assert_eq!(
        evil.refused("frame.accept", nobody).await,
        "ERR_PERMISSION_DENIED"
    );
    let mut many = 0;
    for _ in 0..250 {
        let made = top.call("frame.delegate", json!({ "origin": PAY })).await;
        many += usize::from(made.is_ok());
    }
    assert_eq!(many, 200);
}
