//! Requests to a local server, with the owner's token from its note.

use std::time::Duration;

use anyhow::Context;
use gangway_http::error::ApiError;
use serde::{Serialize, de::DeserializeOwned};

use crate::data::ServerNote;

/// A running server.
pub struct ServerClient {
    note: ServerNote,
    client: reqwest::Client,
}

/// Longer than anyone waits.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// An error response of the server.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct ErrorResponse(pub ApiError);

/// An HTTP client for this machine only: the token must not be sent to a proxy.
pub fn local_http() -> reqwest::ClientBuilder {
    // Nothing here is encrypted, but a client requires a crypto provider. A second install fails because there is one
    // already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        // A pooled connection may belong to a server that has exited, and it would be unknown what it still received.
        .pool_max_idle_per_host(0)
}

impl ServerClient {
    /// The server of a note.
    pub fn to(note: ServerNote) -> anyhow::Result<Self> {
        let client = local_http()
            .connect_timeout(Duration::from_secs(2))
            .timeout(Duration::from_secs(10))
            .build()
            .context("creating an HTTP client")?;
        Ok(Self { note, client })
    }

    /// A request to the MCP endpoint, which may respond with an endless stream.
    pub fn mcp(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.client
            .request(method, self.url(path))
            .bearer_auth(&self.note.token)
            .timeout(LONG)
    }

    /// GETs JSON.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        let response = self.send(self.client.get(self.url(path))).await?;
        Ok(response.json().await?)
    }

    /// POSTs JSON, and returns JSON.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        let response = self
            .send(self.client.post(self.url(path)).json(body))
            .await?;
        Ok(response.json().await?)
    }

    /// The same without a timeout, for a tool call or a question to the user.
    pub async fn post_patiently<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        let request = self.client.post(self.url(path)).json(body);
        let response = self.send(request.timeout(LONG)).await?;
        Ok(response.json().await?)
    }

    /// The same without a response body.
    pub async fn post_only(&self, path: &str, body: &impl Serialize) -> anyhow::Result<()> {
        let request = self.client.post(self.url(path)).json(body);
        self.send(request).await.map(|_| ())
    }

    /// The same with PATCH.
    pub async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        let request = self.client.patch(self.url(path)).json(body);
        Ok(self.send(request).await?.json().await?)
    }

    /// The same with PUT.
    pub async fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        let request = self.client.put(self.url(path)).json(body);
        Ok(self.send(request).await?.json().await?)
    }

    /// DELETEs, and returns JSON.
    pub async fn delete_for<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        let request = self.client.delete(self.url(path));
        Ok(self.send(request).await?.json().await?)
    }

    /// DELETEs without a response body.
    pub async fn delete(&self, path: &str) -> anyhow::Result<()> {
        self.send(self.client.delete(self.url(path)))
            .await
            .map(|_| ())
    }

    /// Downloads a response of any size, and passes it on in chunks.
    pub async fn download(
        &self,
        path: &str,
        mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        let request = self.client.get(self.url(path)).timeout(LONG);
        let mut response = self.send(request).await?;
        while let Some(chunk) = response.chunk().await? {
            take(&chunk)?;
        }
        Ok(())
    }

    /// Its URL and token.
    pub fn address(&self) -> (&str, &str) {
        (&self.note.url, &self.note.token)
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.note.url)
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> anyhow::Result<reqwest::Response> {
        let at = || format!("requesting {}", self.note.url);
        let response = request
            .bearer_auth(&self.note.token)
            .send()
            .await
            .with_context(at)?;
        if response.status().is_success() {
            return Ok(response);
        }
        let error: ApiError = response.json().await.with_context(at)?;
        Err(ErrorResponse(error).into())
    }
}
