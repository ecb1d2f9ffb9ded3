//! Logins at servers: OAuth 2.1 with authorization code and PKCE, in the user's browser.

use std::{collections::VecDeque, sync::Arc};

use async_trait::async_trait;
use futures_util::{StreamExt, future::BoxFuture};
use reqwest::{Client, Url};
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationRequest,
    AuthorizationSession, CredentialStore, OAuthClientConfig, OAuthHttpClient,
    OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest,
    StoredCredentials, WWWAuthenticateParams,
};
use serde::{Deserialize, Serialize};
use tokio::time::{Duration, Instant};

use crate::{
    address::is_public,
    outbound::{self, Resolve, UrlError},
    spec::{LoginClient, ServerId, UrlPolicy},
};

/// Bytes of a response.
const MAX_ANSWER: usize = 1024 * 1024;

/// Redirects of a metadata request.
const MAX_REDIRECTS: usize = 5;

/// The timeout of a request.
const LIMIT: Duration = Duration::from_secs(30);

/// Pending logins; people abandon some.
const MAX_PENDING: usize = 16;

/// A pending login expires after this time.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(600);

/// Stores the OAuth credentials of servers. The value is an opaque secret.
pub trait TokenStore: Send + Sync {
    fn load(&self, server: ServerId) -> BoxFuture<'_, Result<Option<String>, String>>;

    /// Replaces the stored value; `None` deletes it.
    fn save(&self, server: ServerId, secret: Option<String>) -> BoxFuture<'_, Result<(), String>>;
}

/// The stored value: valid for one URL, even if another server gets the same id later.
#[derive(Serialize, Deserialize)]
struct StoredLogin {
    url: String,
    credentials: StoredCredentials,
}

/// The stored credentials of one server.
#[derive(Clone)]
struct ServerCredentials {
    store: Arc<dyn TokenStore>,
    server: ServerId,
    url: String,
}

#[async_trait]
impl CredentialStore for ServerCredentials {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let secret = self.store.load(self.server.clone()).await;
        let secret = secret.map_err(AuthError::CredentialStoreError)?;
        let stored = secret.and_then(|secret| serde_json::from_str::<StoredLogin>(&secret).ok());
        Ok(stored
            .filter(|stored| stored.url == self.url)
            .map(|stored| stored.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let stored = StoredLogin {
            url: self.url.clone(),
            credentials,
        };
        let secret = serde_json::to_string(&stored)
            .map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        let saving = self.store.save(self.server.clone(), Some(secret));
        saving.await.map_err(AuthError::CredentialStoreError)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        let clearing = self.store.save(self.server.clone(), None);
        clearing.await.map_err(AuthError::CredentialStoreError)
    }
}

/// Sends OAuth requests. Their URLs come from the server and are not trusted: other hosts than its own must be on the
/// public internet, unless the server itself is not.
struct OauthHttp {
    own_host: String,
    is_near: bool,
    own: Client,
    policy: UrlPolicy,
    others: Client,
}

impl OauthHttp {
    fn new(url: &Url, policy: UrlPolicy, resolver: Arc<dyn Resolve>) -> Result<Self, String> {
        let host = url.host_str().unwrap_or_default().to_owned();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let near = bare == "localhost"
            || bare
                .parse()
                .is_ok_and(|ip: std::net::IpAddr| !is_public(ip));
        Ok(Self {
            is_near: near && policy == UrlPolicy::Any,
            own: outbound::client(policy, resolver.clone())?,
            others: outbound::client(UrlPolicy::PublicOnly, resolver)?,
            own_host: host,
            policy,
        })
    }

    fn client(&self, url: &Url) -> Result<&Client, UrlError> {
        let is_own = url.host_str() == Some(&self.own_host) || self.is_near;
        let policy = if is_own {
            self.policy
        } else {
            UrlPolicy::PublicOnly
        };
        outbound::check(url.as_str(), policy)?;
        Ok(if is_own { &self.own } else { &self.others })
    }

    async fn ask(
        &self,
        request: OAuthHttpRequest,
    ) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let follow = request.redirect_policy == OAuthHttpRedirectPolicy::Follow
            && request.request.method() == http::Method::GET;
        let mut request = reqwest::Request::try_from(request.request)?;
        let headers = request.headers().clone();
        for _ in 0..=MAX_REDIRECTS {
            let url = request.url().clone();
            *request.timeout_mut() = Some(LIMIT);
            let response = self
                .client(&url)?
                .execute(request)
                .await
                .map_err(outbound::describe)?;
            let location = response.headers().get(http::header::LOCATION);
            let next = location.and_then(|value| url.join(value.to_str().ok()?).ok());
            match next.filter(|_| follow && response.status().is_redirection()) {
                Some(next) => {
                    request = reqwest::Request::new(http::Method::GET, next.clone());
                    if next.origin() == url.origin() {
                        *request.headers_mut() = headers.clone();
                    }
                }
                None => return read_body(response).await,
            }
        }
        Err("it has too many redirects".into())
    }
}

async fn read_body(
    response: reqwest::Response,
) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
    let mut answer = http::Response::builder().status(response.status());
    for (name, value) in response.headers() {
        answer = answer.header(name, value);
    }
    let mut body = Vec::new();
    let mut parts = response.bytes_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(outbound::describe)?;
        if body.len() + part.len() > MAX_ANSWER {
            return Err("its response is too large".into());
        }
        body.extend_from_slice(&part);
    }
    Ok(answer.body(body)?)
}

impl OAuthHttpClient for OauthHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(self.ask(request))
    }
}

/// The server to log in at.
pub(crate) struct LoginTarget {
    pub(crate) store: Arc<dyn TokenStore>,
    pub(crate) server: ServerId,
    pub(crate) url: Url,
    pub(crate) policy: UrlPolicy,
    pub(crate) client: Option<LoginClient>,
    pub(crate) resolver: Arc<dyn Resolve>,
}

impl LoginTarget {
    async fn manager(&self) -> Result<AuthorizationManager, String> {
        let clerk = OauthHttp::new(&self.url, self.policy, self.resolver.clone())?;
        let making =
            AuthorizationManager::new_with_oauth_http_client(self.url.clone(), Arc::new(clerk));
        let mut manager = making.await.map_err(describe)?;
        manager.set_credential_store(self.drawer());
        Ok(manager)
    }

    /// Adds the stored token to requests, and renews it; `None` before a login.
    pub(crate) async fn logged_in(&self) -> Result<Option<AuthorizationManager>, String> {
        if self.store.load(self.server.clone()).await?.is_none() {
            return Ok(None);
        }
        let mut manager = self.manager().await?;
        let found = manager.initialize_from_store().await.map_err(describe)?;
        // The client secret is not stored with the token, and renewing may need it.
        if let Some(own) = self
            .client
            .as_ref()
            .filter(|own| found && own.secret.is_some())
        {
            let mut config = OAuthClientConfig::new(&own.id, self.url.as_str());
            config.client_secret = own.secret.clone();
            manager.configure_client(config).map_err(describe)?;
        }
        Ok(found.then_some(manager))
    }

    /// The scopes to request after `insufficient_scope`: the missing ones and all that were granted. Otherwise none,
    /// and the server's metadata decide.
    async fn more(&self, challenge: Option<&str>) -> Result<Vec<String>, String> {
        let wanted = challenge.map(|text| WWWAuthenticateParams::parse(text, &self.url));
        let Some(wanted) = wanted.filter(WWWAuthenticateParams::is_insufficient_scope) else {
            return Ok(Vec::new());
        };
        let stored = CredentialStore::load(&self.drawer())
            .await
            .map_err(describe)?;
        let mut scopes = stored.map_or(Vec::new(), |stored| stored.granted_scopes);
        for scope in wanted.scope.iter().flat_map(|text| text.split_whitespace()) {
            if !scopes.iter().any(|known| known == scope) {
                scopes.push(scope.to_owned());
            }
        }
        Ok(scopes)
    }

    fn drawer(&self) -> ServerCredentials {
        ServerCredentials {
            store: self.store.clone(),
            server: self.server.clone(),
            url: self.url.to_string(),
        }
    }

    /// Starts a login: the URL for the browser, and the pending state.
    async fn begin(
        &self,
        callback: &str,
        challenge: Option<&str>,
    ) -> Result<AuthorizationSession, String> {
        let mut manager = self.manager().await?;
        let found = manager.resolve_metadata_from_challenge(challenge).await;
        manager.set_metadata(found.map_err(describe)?.metadata);
        let mut request = AuthorizationRequest::new(callback)
            .with_client_name("Gangway")
            .with_scopes(self.more(challenge).await?)
            .with_initial_scope_selection();
        if let Some(own) = &self.client {
            request = request.with_preregistered_client(&own.id);
            if let Some(secret) = &own.secret {
                request = request.with_client_secret(secret);
            }
        }
        let session = AuthorizationSession::new(manager, request).await;
        let session = session.map_err(|(_, error)| describe(error))?;
        // The browser is sent there: it must be a web page, and not lead to where we do not connect.
        outbound::check(session.get_authorization_url(), self.policy)
            .map_err(|_| "its login page has an invalid URL".to_owned())?;
        Ok(session)
    }
}

fn describe(error: AuthError) -> String {
    crate::journal::cut(&error.to_string(), 500)
}

/// Logins that wait for the browser to return.
#[derive(Default)]
pub(crate) struct Logins {
    pending: parking_lot::Mutex<VecDeque<PendingLogin>>,
}

struct PendingLogin {
    state: String,
    server: ServerId,
    begun: Instant,
    session: AuthorizationSession,
}

impl Logins {
    pub(crate) async fn begin(
        &self,
        place: &LoginTarget,
        callback: &str,
        challenge: Option<&str>,
    ) -> Result<String, String> {
        let session = place.begin(callback, challenge).await?;
        let page = session.get_authorization_url().to_owned();
        let state = Url::parse(&page).ok().and_then(|url| {
            let mut pairs = url.query_pairs();
            pairs
                .find(|(key, _)| key == "state")
                .map(|(_, value)| value.into_owned())
        });
        let login = PendingLogin {
            state: state.ok_or("its login page has an invalid URL")?,
            server: place.server.clone(),
            begun: Instant::now(),
            session,
        };
        let mut pending = self.pending.lock();
        pending.retain(|login| login.begun.elapsed() < LOGIN_TIMEOUT);
        if pending.len() == MAX_PENDING {
            pending.pop_front();
        }
        pending.push_back(login);
        Ok(page)
    }

    /// Completes the login of this callback, once, and stores the tokens.
    pub(crate) async fn end(&self, callback: &str) -> Result<ServerId, String> {
        let unknown = || "no login is pending for this URL; start again".to_owned();
        let parsed = AuthorizationCallback::from_redirect_url(callback).map_err(describe)?;
        let login = {
            let mut pending = self.pending.lock();
            pending.retain(|login| login.begun.elapsed() < LOGIN_TIMEOUT);
            let at = pending
                .iter()
                .position(|login| login.state == parsed.csrf_token);
            at.and_then(|at| pending.remove(at)).ok_or_else(unknown)?
        };
        let exchange = login.session.handle_callback_url(callback);
        exchange.await.map_err(describe)?;
        Ok(login.server)
    }
}
