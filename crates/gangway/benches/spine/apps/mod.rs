//! Launched apps: the script in their page, their events, and how fast the page is sent.

mod emit;
mod inject;
mod nginx;
mod page;

use std::net::SocketAddr;

use anyhow::Context;
use serde_json::{Value, json};

use crate::{
    Effort,
    frames::Page,
    server::Gangway,
    table::Row,
    wire::{header, websocket, websocket_with},
};

/// An app that every server has, with a policy of its own for what it loads.
const APP: &str = "budget-dashboard";

/// What that app lists among its events.
const EVENT: &str = "expense-flagged";

/// Its folder in the sources, where its page is a file.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../apps/budget-dashboard");

/// All of it.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, measured) in [
        ("injection", inject::measure(effort).await),
        ("emit", emit::measure(effort).await),
        ("app page", page::measure(effort).await),
    ] {
        match measured {
            Ok(measured) => rows.extend(measured),
            Err(error) => rows.push(Row::broken(name, &error)),
        }
    }
    Ok(rows)
}

/// A server that has the app as a folder on the disk.
fn server() -> anyhow::Result<Gangway> {
    Gangway::with_settings(&format!("apps: [{}]\n", json!(FOLDER)))
}

/// An app that was opened for an agent, in one browser.
struct Launched {
    address: SocketAddr,
    id: String,
    token: String,
    /// The host of the app, with its port.
    host: String,
    /// What the browser shows the next time.
    cookie: String,
    /// What its page proves with that it was shown.
    proof: String,
}

impl Launched {
    /// Launches the app with about this many bytes of data, for an external agent, and opens its page.
    async fn new(gangway: &Gangway, bytes: usize) -> anyhow::Result<Self> {
        let mut connection = gangway.connect().await?;
        let params = json!({ "agent": "bench", "data": { "expenses": expenses(bytes) } });
        let path = format!("/api/apps/{APP}/launch");
        let (status, body) = connection
            .request("POST", &path, &params.to_string())
            .await?;
        anyhow::ensure!(
            status == 201,
            "{status}: {}",
            String::from_utf8_lossy(&body)
        );
        let answer: Value = serde_json::from_slice(&body)?;
        let url = answer["url"].as_str().context("no url")?;
        let rest = url.strip_prefix("http://").context("no http")?;
        let (host, token) = rest.split_once("/?launch=").context("no token")?;
        let mut launched = Self {
            address: gangway.process.address,
            id: answer["launchId"].as_str().context("no id")?.to_owned(),
            token: token.to_owned(),
            host: host.to_owned(),
            cookie: String::new(),
            proof: String::new(),
        };
        connection.send_raw(launched.request().as_bytes()).await?;
        let (head, page) = connection.whole_answer().await?;
        anyhow::ensure!(
            crate::wire::find(&page, b"launchId").is_some(),
            "the page has no context: {head}"
        );
        let cookie = header(&head, "set-cookie").context("no cookie")?;
        cookie
            .split(';')
            .next()
            .unwrap_or_default()
            .clone_into(&mut launched.cookie);
        let page = String::from_utf8_lossy(&page);
        let (_, rest) = page.split_once("proof=").context("no proof")?;
        launched.proof = rest.chars().take_while(char::is_ascii_hexdigit).collect();
        Ok(launched)
    }

    /// The request for its page, as its browser sends it.
    fn request(&self) -> String {
        let Self { token, host, .. } = self;
        let cookie = match self.cookie.as_str() {
            "" => String::new(),
            cookie => format!("Cookie: {cookie}\r\n"),
        };
        format!(
            "GET /?launch={token} HTTP/1.1\r\nHost: {host}\r\nAccept: text/html\r\n{cookie}\r\n"
        )
    }

    /// The channel of its page.
    async fn page(&self) -> anyhow::Result<Page> {
        let Self {
            token, host, proof, ..
        } = self;
        let path = format!("/__gangway/ws?launch={token}&proof={proof}&page=bench");
        let origin = format!("Origin: http://{host}\r\n");
        let socket = websocket_with(self.address, host, &path, &origin).await?;
        let mut page = Page::new(socket);
        page.hear(r#""welcome""#).await?;
        Ok(page)
    }

    /// The channel of its agent.
    async fn agent(&self) -> anyhow::Result<Page> {
        let path = format!("/ws/launches/{}", self.id);
        let mut agent = Page::new(websocket(self.address, &path).await?);
        agent.hear(r#""welcome""#).await?;
        Ok(agent)
    }
}

/// As many expenses as make this many bytes of JSON.
fn expenses(bytes: usize) -> Vec<Value> {
    let one = |nth: usize| {
        let category = ["food", "rent", "travel"][nth % 3];
        json!({
            "id": format!("e-{nth:06}"),
            "date": format!("2026-{:02}-{:02}", nth % 12 + 1, nth % 28 + 1),
            "description": "Lunch at the corner, with coffee",
            "category": category,
            "amount": nth,
        })
    };
    let each = one(0).to_string().len() + 4;
    (0..bytes / each).map(one).collect()
}
