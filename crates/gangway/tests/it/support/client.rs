//! Clients that show who they are, as a command of the owner would.

use std::sync::Mutex;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use tokio_tungstenite::tungstenite::{client::IntoClientRequest, handshake::client::Request};

/// The data folder's token of servers in the test's own process.
pub const LOCAL_TOKEN: &str = "local-token";

/// The token of the server that was started last. Each test is a process of its own.
static CURRENT: Mutex<String> = Mutex::new(String::new());

/// The token of the server that was started last, for those who speak to it by bytes alone.
pub fn current_token() -> String {
    CURRENT.lock().unwrap().clone()
}

/// A server with this token was started.
pub(super) fn started(token: &str) {
    token.clone_into(&mut CURRENT.lock().unwrap());
}

/// A client that sends this token, unless a request brings its own.
pub fn client(token: &str) -> reqwest::Client {
    // A second install fails, and means that it is there already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let headers = HeaderMap::from_iter([(AUTHORIZATION, bearer(token))]);
    let builder = reqwest::Client::builder().default_headers(headers);
    builder.no_proxy().build().unwrap()
}

/// What opens a WebSocket with this token.
pub fn socket(url: &str, token: &str) -> Request {
    let url = url.replacen("http://", "ws://", 1);
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert(AUTHORIZATION, bearer(token));
    request
}

fn bearer(token: &str) -> HeaderValue {
    format!("Bearer {token}").parse().unwrap()
}
