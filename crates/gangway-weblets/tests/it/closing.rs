//! A page whose launch is gone is notified and does not reconnect.

use std::time::Duration;

use gangway_core::secret::hash;
use gangway_core::{Command, Launch, LaunchId};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::server::TestServer;
use gangway_testing::weblets_client::{WebletSocket, opened, token};

/// The channel of a page that holds the app in a frame.
async fn around(server: &TestServer, launch: &str) -> WebletSocket {
    let host = server.address.to_string();
    let path = format!("/ws/launch-pages/{launch}");
    WebletSocket::open(server, &host, &path, None)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_page_is_notified_when_its_launch_is_gone_with_its_session() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    server.delete(launched["sessionId"].as_str().unwrap()).await;
    let gone = (4404, "deleted".to_owned());
    assert_eq!(page.closed().await, gone);
    let mut again = WebletSocket::try_page(&server, &launched, "")
        .await
        .unwrap();
    assert_eq!(again.closed().await, gone);
    let id = launched["launchId"].as_str().unwrap();
    assert_eq!(around(&server, id).await.closed().await, gone);
    assert_eq!(around(&server, "nonsense").await.closed().await, gone);
}

#[tokio::test]
async fn a_page_is_notified_when_its_launch_expires() {
    let mut server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    server.pass(Duration::from_secs(24 * 3600 + 1)).await;
    assert_eq!(page.closed().await, (4410, "expired".to_owned()));
}

#[tokio::test]
async fn a_page_that_comes_back_too_late_is_notified() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let hub = server.hub();
    let id: LaunchId = launched["launchId"].as_str().unwrap().parse().unwrap();
    let secret = hash(token(&launched).split_once('.').unwrap().1);
    let mut pass = hub.pass(id, &secret).await.unwrap().unwrap();
    let over = Timestamp::now() - SignedDuration::from_secs(1);
    pass.value.expires_at = over;
    assert!(hub.bind_pass(id, &secret, pass).await.unwrap());
    let expired = (4410, "expired".to_owned());
    let mut page = WebletSocket::try_page(&server, &launched, "")
        .await
        .unwrap();
    assert_eq!(page.closed().await, expired);
    let launch = Launch {
        id: LaunchId::new(),
        expires_at: over,
        ..hub.launch(id).await.unwrap()
    };
    let session = hub.open(launch.session).await.unwrap();
    let command = Command::Launch(Box::new(launch.clone()));
    session.submit(command).await.unwrap();
    let mut page = around(&server, &launch.id.to_string()).await;
    assert_eq!(page.closed().await, expired);
}
