//! `/ws/asks`: notifications for Gangway's pages, and the window of a request.

use gangway_core::Scope;
use gangway_testing::socket::TestSocket;
use gangway_webagent::permissions::Decision;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{Asking, SHOP, answer, patch, query};
use crate::server::TestServer;

struct Watching(TestSocket);

impl Watching {
    async fn open(server: &TestServer, query: &str) -> Self {
        Self::try_open(server, query, None).await.unwrap()
    }

    async fn try_open(server: &TestServer, query: &str, origin: Option<&str>) -> Result<Self, u16> {
        let mut request = server.socket(&format!("/ws/asks{query}"));
        if let Some(origin) = origin {
            request
                .headers_mut()
                .insert("origin", origin.parse().unwrap());
        }
        let socket = TestSocket::open(request).await;
        socket.map(Self).map_err(|status| status.as_u16())
    }

    async fn receive(&mut self) -> Value {
        self.0.receive().await
    }

    /// The origins of the requests in the next frame.
    async fn asks(&mut self) -> Vec<String> {
        let frame = self.receive().await;
        assert_eq!(frame["type"], "asks", "{frame}");
        let asks = frame["asks"].as_array().unwrap();
        asks.iter()
            .map(|ask| ask["asker"]["origin"].as_str().unwrap().to_owned())
            .collect()
    }
}

#[tokio::test]
async fn every_page_of_gangway_is_notified_of_requests_and_answers() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let (mut one, mut other) = (
        Watching::open(&server, "").await,
        Watching::open(&server, "").await,
    );
    assert!(one.asks().await.is_empty() && other.asks().await.is_empty());
    let mut asking = Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt]));
    let id = asking.id().await;
    assert_eq!(one.asks().await, [SHOP]);
    assert_eq!(other.asks().await, [SHOP]);
    let mut late = Watching::open(&server, "").await;
    assert_eq!(late.asks().await, [SHOP]);
    answer(&server, &id, json!({ "decision": "always" })).await;
    for page in [&mut one, &mut other, &mut late] {
        let mut received = [page.receive().await, page.receive().await];
        received.sort_by_key(|frame| frame["type"].as_str().map(str::to_owned));
        assert_eq!(
            received,
            [
                json!({ "type": "asks", "asks": [] }),
                json!({ "type": "changed" })
            ]
        );
    }
    assert_eq!(asking.outcome().await.decision, Decision::Always);
}

#[tokio::test]
async fn a_change_of_what_is_allowed_is_reported() {
    let server = TestServer::start().await;
    let mut page = Watching::open(&server, "").await;
    page.asks().await;
    patch(
        &server,
        json!({ "origin": SHOP, "scopes": { "model:prompt": "denied" } }),
    )
    .await;
    assert_eq!(page.receive().await, json!({ "type": "changed" }));
}

#[tokio::test]
async fn closing_the_window_of_a_question_leaves_it_unanswered() {
    let server = TestServer::start().await;
    let mut asking = Asking::begin(
        &server.service.permissions,
        query(SHOP, &[Scope::ModelPrompt]),
    );
    let id = asking.id().await;
    let mut any = Watching::open(&server, "").await;
    any.asks().await;
    let mut window = Watching::open(&server, &format!("?ask={id}")).await;
    assert_eq!(window.asks().await, [SHOP]);
    window.0.close().await;
    let outcome = asking.outcome().await;
    assert_eq!(outcome.decision, Decision::Unanswered);
    assert!(any.asks().await.is_empty());
    // The window of an answered request gets an empty list.
    let mut window = Watching::open(&server, &format!("?ask={id}")).await;
    assert!(window.asks().await.is_empty());
}

#[tokio::test]
async fn a_hidden_question_is_shown_only_to_its_own_window() {
    let server = TestServer::start().await;
    let mut hidden = query(SHOP, &[Scope::ModelPrompt]);
    hidden.hidden = true;
    let mut asking = Asking::begin(&server.service.permissions, hidden);
    let id = asking.id().await;
    assert!(Watching::open(&server, "").await.asks().await.is_empty());
    assert_eq!(
        Watching::open(&server, &format!("?ask={id}"))
            .await
            .asks()
            .await,
        [SHOP]
    );
}

#[tokio::test]
async fn pages_of_other_origins_receive_nothing_and_nonsense_is_refused() {
    let server = TestServer::start().await;
    for origin in [SHOP, "null", "http://127.0.0.1:1"] {
        let refused = Watching::try_open(&server, "", Some(origin)).await;
        assert_eq!(refused.err(), Some(403), "{origin}");
    }
    let own = format!("http://{}", server.address);
    assert!(Watching::try_open(&server, "", Some(&own)).await.is_ok());
    assert_eq!(
        Watching::try_open(&server, "?ask=x", None).await.err(),
        Some(400)
    );
    assert_eq!(server.get("/ws/asks").await.0, 426);
    let mut page = Watching::open(&server, "").await;
    page.asks().await;
    // Messages of clients are ignored, and too many end the connection.
    page.0.send_raw(Message::text("{}")).await;
    page.0.send_raw(Message::text("x".repeat(5000))).await;
    assert_eq!(page.0.closed().await.unwrap().0, 1009);
}

#[tokio::test]
async fn a_stop_is_reported() {
    let server = TestServer::start().await;
    let mut page = Watching::open(&server, "").await;
    page.asks().await;
    let restarting = tokio::spawn(server.restart());
    assert_eq!(page.0.closed().await.unwrap().0, 1001);
    restarting.await.unwrap();
}
