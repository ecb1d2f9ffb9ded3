//! The older HTTP transport: a stream of events from the server, and an endpoint for messages to it.

use std::collections::HashMap;

use futures_util::StreamExt;
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;
use rmcp::{
    RoleClient,
    model::ServerJsonRpcMessage,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::sync::mpsc;
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::AbortOnDropHandle,
};

use crate::http::{Client, HttpError};

/// Unprocessed messages from a server, before backpressure.
const INCOMING: usize = 64;

pub(crate) struct Events {
    client: Client,
    headers: HeaderMap,
    endpoint: Url,
    incoming: mpsc::Receiver<ServerJsonRpcMessage>,
    _reader: AbortOnDropHandle<()>,
    _gone: DropGuard,
    gone: CancellationToken,
}

impl Events {
    /// Opens the stream and waits for the endpoint.
    pub(crate) async fn open(
        client: Client,
        url: &Url,
        headers: &HashMap<HeaderName, HeaderValue>,
        gone: CancellationToken,
    ) -> Result<Self, HttpError> {
        let headers: HeaderMap = headers.clone().into_iter().collect();
        let request = client.get(url.as_str()).headers(headers.clone());
        let response = client.send(request).await?;
        let status = response.status();
        let kind = response.headers().get(http::header::CONTENT_TYPE);
        let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        if !status.is_success() || !is_stream {
            return Err(HttpError::NotMcp(format!("HTTP {status}")));
        }
        let mut events = client.events(response);
        let endpoint = loop {
            let event = events.next().await;
            let Some(Ok(event)) = event else {
                let what = "its stream ended before it sent an endpoint";
                return Err(HttpError::NotMcp(what.to_owned()));
            };
            if event.event.as_deref() == Some("endpoint") {
                break event.data.unwrap_or_default();
            }
        };
        let endpoint = url
            .join(endpoint.trim())
            .ok()
            // Anything else would send messages and headers to another host.
            .filter(|endpoint| endpoint.origin() == url.origin())
            .ok_or_else(|| HttpError::NotMcp("it sent an endpoint of another origin".to_owned()))?;
        let (out, incoming) = mpsc::channel(INCOMING);
        let reader = tokio::spawn(async move {
            while let Some(Ok(event)) = events.next().await {
                let data = event.data.unwrap_or_default();
                if let Ok(message) = serde_json::from_str(&data)
                    && out.send(message).await.is_err()
                {
                    return;
                }
            }
        });
        Ok(Self {
            client,
            headers,
            endpoint,
            incoming,
            _reader: AbortOnDropHandle::new(reader),
            _gone: gone.clone().drop_guard(),
            gone,
        })
    }
}

impl Transport<RoleClient> for Events {
    type Error = HttpError;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), HttpError>> + Send + 'static {
        let request = self
            .client
            .post(self.endpoint.as_str())
            .headers(self.headers.clone())
            .json(&item);
        let client = self.client.clone();
        async move {
            let status = client.send(request).await?.status();
            if status.is_success() {
                Ok(())
            } else {
                Err(HttpError::Broken(format!("HTTP {status}")))
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.incoming.recv().await;
        if message.is_none() {
            self.gone.cancel();
        }
        message
    }

    async fn close(&mut self) -> Result<(), HttpError> {
        self.incoming.close();
        Ok(())
    }
}
