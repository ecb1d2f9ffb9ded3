//! A server at a URL, over streamable HTTP or the older SSE transport.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use http::{HeaderName, HeaderValue};
use rmcp::{
    service::{ClientInitializeError, ClientServiceExt},
    transport::{
        AuthClient, StreamableHttpClientTransport,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use tokio_util::sync::CancellationToken;

use crate::{
    connect::{
        Connection, Failed, Hello, describe_handshake_failure, handshake, http_error, not_ready,
    },
    handler::Handler,
    http::{Client, HttpError},
    oauth::LoginTarget,
    ordered::Ordered,
    outbound,
    spec::{ServerSpec, Settings, UrlPolicy},
    sse::Events,
};

pub(crate) struct Remote {
    client: Client,
    url: reqwest::Url,
    headers: HashMap<HeaderName, HeaderValue>,
    most: usize,
    login: Option<LoginTarget>,
}

impl Remote {
    pub(crate) fn new(
        spec: &ServerSpec,
        url: &str,
        headers: &BTreeMap<String, String>,
        policy: UrlPolicy,
        settings: &Settings,
    ) -> Result<Self, String> {
        let url = outbound::check(url, policy).map_err(|refused| refused.to_string())?;
        // A configured token takes precedence.
        let has_token = headers
            .keys()
            .any(|name| name.eq_ignore_ascii_case("authorization"));
        let login = settings
            .tokens
            .clone()
            .filter(|_| !has_token)
            .map(|store| LoginTarget {
                store,
                server: spec.id.clone(),
                url: url.clone(),
                policy,
                client: spec.login.clone(),
                resolver: settings.resolver.clone(),
            });
        let http = outbound::client(policy, settings.resolver.clone())?;
        let headers = headers
            .iter()
            .map(|(name, value)| {
                let wrong = || format!("the header {name:?} cannot be sent");
                let name: HeaderName = name.parse().map_err(|_| wrong())?;
                let mut value: HeaderValue = value.parse().map_err(|_| wrong())?;
                value.set_sensitive(true);
                Ok((name, value))
            })
            .collect::<Result<_, String>>()?;
        Ok(Self {
            client: Client::new(http, settings.max_message_bytes),
            url,
            headers,
            most: settings.max_message_bytes,
            login,
        })
    }

    pub(crate) async fn streamable(
        &self,
        handler: Arc<Handler>,
        hello: Hello,
        limit: Duration,
    ) -> Result<Connection, Failed> {
        let config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str())
            .custom_headers(self.headers.clone())
            .max_sse_event_size(self.most);
        let client = self.client.clone();
        let manager = match &self.login {
            Some(place) => place.logged_in().await.map_err(Failed::Hello)?,
            None => None,
        };
        let (mode, logged_in) = (hello.mode(), manager.is_some());
        let serving = match manager {
            Some(manager) => {
                let client = AuthClient::new(client, manager);
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let transport = Ordered::new(transport, handler.clone());
                tokio::time::timeout(limit, handler.serve_with_lifecycle(transport, mode)).await
            }
            None => {
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let transport = Ordered::new(transport, handler.clone());
                tokio::time::timeout(limit, handler.serve_with_lifecycle(transport, mode)).await
            }
        };
        match serving {
            Ok(Ok(running)) => {
                let mut connection = Connection::new(running, CancellationToken::new(), None);
                connection.logged_in = logged_in;
                Ok(connection)
            }
            Ok(Err(error))
                if error.is_authorization_required() || error.auth_challenge().is_some() =>
            {
                let challenge = error.auth_challenge().filter(|text| !text.is_empty());
                Err(Failed::Login(challenge.map(str::to_owned)))
            }
            Ok(Err(error)) if unreachable(&error) => {
                Err(Failed::Start(describe_handshake_failure(&error)))
            }
            Ok(Err(error)) => Err(Failed::Hello(describe_handshake_failure(&error))),
            Err(_) => Err(Failed::Hello(not_ready(limit))),
        }
    }

    pub(crate) async fn events(
        &self,
        handler: Arc<Handler>,
        limit: Duration,
    ) -> Result<Connection, String> {
        let gone = CancellationToken::new();
        let opening = Events::open(self.client.clone(), &self.url, &self.headers, gone.clone());
        let events = tokio::time::timeout(limit, opening)
            .await
            .map_err(|_| "it sent no endpoint in time".to_owned())?
            .map_err(|error| error.to_string())?;
        let running = handshake(handler, events, Hello::Old, limit).await?;
        Ok(Connection::new(running, gone, None))
    }
}

fn unreachable(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::TransportError { error, .. } => {
            matches!(
                http_error(error.error.as_ref()),
                Some(HttpError::Unreachable(_))
            )
        }
        _ => false,
    }
}
