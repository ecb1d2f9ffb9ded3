//! Addresses of launches: each has a secret that is bound to the first browser, until it expires.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use gangway_core::{
    AppName, Error, Launch, LaunchId, LaunchPass, Result,
    secret::{hash, new_secret},
    store::Versioned,
};
use jiff::Timestamp;
use subtle::ConstantTimeEq;
use tokio::time::Instant;

use crate::Launches;

/// The launch and the secret in the address of a launched page.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) launch: LaunchId,
    secret: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoToken;

impl FromStr for Token {
    type Err = NoToken;

    fn from_str(text: &str) -> std::result::Result<Self, NoToken> {
        let (launch, secret) = text.split_once('.').ok_or(NoToken)?;
        let launch = launch.parse().map_err(|_| NoToken)?;
        match is_secret(secret) {
            true => Ok(Self {
                launch,
                secret: secret.to_owned(),
            }),
            false => Err(NoToken),
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.launch, self.secret)
    }
}

impl Token {
    fn hash(&self) -> String {
        hash(&self.secret)
    }

    fn proof(&self, browser: &str) -> String {
        hash(&format!("{}/{browser}", self.secret))
    }

    /// The cookie that binds this address to a browser; reveals neither the secret nor the address.
    fn bound_to(&self, browser: &str) -> String {
        hash(&format!("{browser}/{self}"))
    }

    /// Whether this address is bound to a browser with one of these cookies.
    fn is_bound(&self, browser: &str, cookies: &[String]) -> bool {
        cookies.iter().any(|cookie| {
            let bound = self.bound_to(cookie);
            bool::from(bound.as_bytes().ct_eq(browser.as_bytes()))
        })
    }
}

/// Whether a text has the format of a secret.
fn is_secret(text: &str) -> bool {
    let plain = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
    (20..=100).contains(&text.len()) && text.bytes().all(plain)
}

/// A page that may be shown with its context.
pub(crate) struct OpenedPage {
    pub(crate) launch: Arc<Launch>,
    pub(crate) data: Arc<str>,
    /// The origin of the page that embeds this one, if it is not ours.
    pub(crate) embed_origin: Option<String>,
    /// The cookie to set, if the address is new to the browser.
    pub(crate) cookie: Option<String>,
    /// Proves that a page was shown: its channel and data are for it alone.
    pub(crate) proof: String,
}

/// An opened address, as stored. Neither it nor its launch changes any more, but both may be removed.
pub(crate) struct CachedPass {
    at: Instant,
    pass: Versioned<LaunchPass>,
    launch: Arc<Launch>,
    data: Arc<str>,
}

/// How long a cached address is valid; a removal is noticed after that.
const TRUSTED: Duration = Duration::from_millis(500);

pub(crate) enum PageAccess {
    Page(Box<Launch>),
    /// Expired.
    Ended,
    /// There is no such launch, or this is not one of its pages.
    Unknown,
}

pub(crate) enum Admission {
    Opened(Box<OpenedPage>),
    Expired,
    /// Another browser opened it.
    Used,
    Unknown,
}

impl Launches {
    /// Creates another address for a launch; its secret is not stored.
    pub async fn new_address(
        &self,
        launch: &Launch,
        embed_origin: Option<String>,
    ) -> Result<String> {
        let token = Token {
            launch: launch.id,
            secret: new_secret(),
        };
        let pass = LaunchPass {
            browser: None,
            embed_origin,
            expires_at: launch.expires_at,
        };
        self.hub()?
            .add_pass(launch.id, &token.hash(), &pass)
            .await?;
        Ok(format!(
            "{}?launch={token}",
            self.http.addresses.url(&launch.app)
        ))
    }

    /// Whether the holder of this token and one of these cookies may see a page of this app. The first browser may,
    /// and gets the cookie.
    pub(crate) async fn admit(
        &self,
        token: &Token,
        app: &AppName,
        cookies: &[String],
    ) -> Result<Admission> {
        let hashed = token.hash();
        // Another browser may bind it concurrently; then retry.
        for _ in 0..2 {
            let known = match self.known(token.launch, &hashed).await {
                Some(known) => Some(known),
                None => self.look_up(token.launch, &hashed).await?,
            };
            let Some(known) = known else {
                return Ok(Admission::Unknown);
            };
            // First: the host of another app must not use up an address.
            if known.launch.app != *app {
                return Ok(Admission::Unknown);
            }
            let pass = &known.pass;
            if pass.value.expires_at <= Timestamp::now() {
                return Ok(Admission::Expired);
            }
            if let Some(browser) = &pass.value.browser {
                return Ok(match token.is_bound(browser, cookies) {
                    true => known.open(None, token.proof(browser)),
                    false => Admission::Used,
                });
            }
            let own = cookies.iter().find(|cookie| is_secret(cookie));
            let own = own.cloned().unwrap_or_else(new_secret);
            let browser = token.bound_to(&own);
            let proof = token.proof(&browser);
            let mut bound = pass.clone();
            bound.value.browser = Some(browser);
            if self.hub()?.bind_pass(token.launch, &hashed, bound).await? {
                return Ok(known.open(Some(own), proof));
            }
        }
        Ok(Admission::Used)
    }

    /// A cached address, unless its session was deleted since.
    async fn known(&self, launch: LaunchId, hash: &str) -> Option<Arc<CachedPass>> {
        let known = self.known.get(&(launch, hash.to_owned()))?;
        let there = known.at.elapsed() < TRUSTED
            && self.hub().ok()?.open(known.launch.session).await.is_ok();
        there.then_some(known)
    }

    async fn look_up(&self, launch: LaunchId, hash: &str) -> Result<Option<Arc<CachedPass>>> {
        let at = Instant::now();
        let Some(pass) = self.hub()?.pass(launch, hash).await? else {
            return Ok(None);
        };
        let found = match self.hub()?.launch(launch).await {
            Ok(found) => Arc::new(found),
            Err(Error::LaunchNotFound(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let known = Arc::new(CachedPass {
            at,
            data: serde_json::to_string(&found.data)
                .unwrap_or_default()
                .into(),
            launch: found,
            pass,
        });
        // An address without a browser is about to change.
        if known.pass.value.browser.is_some() {
            // A parsed value takes several times the memory of its text, which is kept too.
            let bytes = known.data.len().saturating_mul(5).saturating_add(4096);
            let key = (launch, hash.to_owned());
            self.known.put(key, Arc::clone(&known), bytes);
        }
        Ok(Some(known))
    }

    /// Whether a browser with one of these cookies opened this address, and it has not expired.
    pub(crate) async fn was_opened_by(
        &self,
        token: &Token,
        app: &AppName,
        cookies: &[String],
    ) -> Result<bool> {
        let hashed = token.hash();
        let known = match self.known(token.launch, &hashed).await {
            Some(known) => Some(known),
            None => self.look_up(token.launch, &hashed).await?,
        };
        Ok(known.is_some_and(|known| {
            let pass = &known.pass.value;
            let browser = pass.browser.as_ref();
            known.launch.app == *app
                && pass.expires_at > Timestamp::now()
                && browser.is_some_and(|browser| token.is_bound(browser, cookies))
        }))
    }

    /// The launch of a page that proves that it was shown: the address alone is not enough.
    pub(crate) async fn shown(&self, token: &Token, proof: &str) -> Result<PageAccess> {
        let Some(pass) = self.hub()?.pass(token.launch, &token.hash()).await? else {
            return Ok(PageAccess::Unknown);
        };
        let proven = pass.value.browser.as_ref().is_some_and(|browser| {
            let wanted = token.proof(browser);
            bool::from(wanted.as_bytes().ct_eq(proof.as_bytes()))
        });
        if !proven {
            return Ok(PageAccess::Unknown);
        }
        if pass.value.expires_at <= Timestamp::now() {
            return Ok(PageAccess::Ended);
        }
        match self.hub()?.launch(token.launch).await {
            Ok(launch) => Ok(PageAccess::Page(Box::new(launch))),
            Err(Error::LaunchNotFound(_)) => Ok(PageAccess::Unknown),
            Err(error) => Err(error),
        }
    }
}

impl CachedPass {
    fn open(&self, cookie: Option<String>, proof: String) -> Admission {
        Admission::Opened(Box::new(OpenedPage {
            launch: Arc::clone(&self.launch),
            data: Arc::clone(&self.data),
            embed_origin: self.pass.value.embed_origin.clone(),
            cookie,
            proof,
        }))
    }
}
