//! Addresses of launches: a secret in each, good for one browser until it ends.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use gangway_core::{Error, Launch, LaunchId, Pass, Result, store::Versioned};
use jiff::Timestamp;
use subtle::ConstantTimeEq;
use tokio::time::Instant;

use crate::{
    auth::{hash, new_secret},
    server::App,
};

/// What stands in the address of a launched page: the launch, and a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The launch.
    pub launch: LaunchId,
    secret: String,
}

/// A text that is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoToken;

impl FromStr for Token {
    type Err = NoToken;

    fn from_str(text: &str) -> std::result::Result<Self, NoToken> {
        let (launch, secret) = text.split_once('.').ok_or(NoToken)?;
        let launch = launch.parse().map_err(|_| NoToken)?;
        let plain = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
        match (20..=100).contains(&secret.len()) && secret.bytes().all(plain) {
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

    /// The name of the cookie that binds this address to a browser.
    #[must_use]
    pub fn cookie(&self) -> String {
        let hash = self.hash();
        format!("gangway_launch_{}", &hash[..12.min(hash.len())])
    }
}

/// A page that may be shown with its context.
pub struct Opened {
    /// The launch.
    pub launch: Arc<Launch>,
    /// Bytes of its data as JSON.
    pub size: usize,
    /// The origin of the page that may hold this one in a frame, if it is not one of ours.
    pub embed_origin: Option<String>,
    /// What the browser is to show the next time, when this is the first.
    pub cookie: Option<String>,
    /// What only a page that was shown knows: its channel and its data are for it alone.
    pub proof: String,
}

/// An address that a browser opened, as the store had it then. Neither it nor its launch changes any more, but both
/// may be removed.
pub(super) struct Known {
    at: Instant,
    pass: Versioned<Pass>,
    launch: Arc<Launch>,
    size: usize,
}

/// How long a browser's own address is taken for true; that it was removed is seen after that.
const TRUSTED: Duration = Duration::from_millis(500);

/// Whether an address still leads anywhere.
pub enum Admission {
    /// It does.
    Opened(Box<Opened>),
    /// It is too old.
    Expired,
    /// Another browser opened it.
    Used,
    /// There is no such address.
    Unknown,
}

impl App {
    /// One more address for a launch, with its secret, which is kept nowhere else.
    pub async fn new_pass(&self, launch: &Launch, embed_origin: Option<String>) -> Result<String> {
        let token = Token {
            launch: launch.id,
            secret: new_secret(),
        };
        let pass = Pass {
            browser: None,
            embed_origin,
            expires_at: launch.expires_at,
        };
        self.hub.add_pass(launch.id, &token.hash(), &pass).await?;
        Ok(format!(
            "{}?launch={token}",
            self.addresses.url(&launch.app)
        ))
    }

    /// Whether whoever shows this token and this cookie may see the page. The first one to come gets a cookie.
    pub async fn admit(self: &Arc<Self>, token: &Token, cookie: Option<&str>) -> Result<Admission> {
        let hashed = token.hash();
        // Another one may bind it in between; then it is looked at again.
        for _ in 0..2 {
            let known = match self.known(token.launch, &hashed).await {
                Some(known) => Some(known),
                None => self.look_up(token.launch, &hashed).await?,
            };
            let Some(known) = known else {
                return Ok(Admission::Unknown);
            };
            let pass = &known.pass;
            if pass.value.expires_at <= Timestamp::now() {
                return Ok(Admission::Expired);
            }
            match (&pass.value.browser, cookie) {
                (Some(bound), Some(shown)) if *bound == hash(shown) => {
                    return Ok(known.open(None, token.proof(bound)));
                }
                (Some(_), _) => return Ok(Admission::Used),
                (None, _) => {
                    let fresh = new_secret();
                    let mut bound = pass.clone();
                    bound.value.browser = Some(hash(&fresh));
                    let proof = token.proof(&hash(&fresh));
                    if self.hub.bind_pass(token.launch, &hashed, bound).await? {
                        return Ok(known.open(Some(fresh), proof));
                    }
                }
            }
        }
        Ok(Admission::Used)
    }

    /// An address that was looked up a moment ago, unless its session is gone since.
    async fn known(self: &Arc<Self>, launch: LaunchId, hash: &str) -> Option<Arc<Known>> {
        let known = self.launches.known.get(&(launch, hash.to_owned()))?;
        let there =
            known.at.elapsed() < TRUSTED && self.hub.open(known.launch.session).await.is_ok();
        there.then_some(known)
    }

    async fn look_up(&self, launch: LaunchId, hash: &str) -> Result<Option<Arc<Known>>> {
        let at = Instant::now();
        let Some(pass) = self.hub.pass(launch, hash).await? else {
            return Ok(None);
        };
        let found = match self.hub.launch(launch).await {
            Ok(found) => Arc::new(found),
            Err(Error::LaunchNotFound(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let known = Arc::new(Known {
            at,
            size: serde_json::to_vec(&found.data).map_or(usize::MAX, |text| text.len()),
            launch: found,
            pass,
        });
        // One that no browser has yet is about to change.
        if known.pass.value.browser.is_some() {
            // What is read takes several times the room of its text.
            let bytes = known.size.saturating_mul(4).saturating_add(4096);
            let key = (launch, hash.to_owned());
            self.launches.known.put(key, Arc::clone(&known), bytes);
        }
        Ok(Some(known))
    }

    /// The launch of a page that was shown already, and proves it: whoever has the address alone gets nothing.
    pub async fn shown(self: &Arc<Self>, token: &Token, proof: &str) -> Result<Option<Launch>> {
        let Some(pass) = self.hub.pass(token.launch, &token.hash()).await? else {
            return Ok(None);
        };
        let proven = pass.value.browser.as_ref().is_some_and(|browser| {
            let wanted = token.proof(browser);
            bool::from(wanted.as_bytes().ct_eq(proof.as_bytes()))
        });
        if pass.value.expires_at <= Timestamp::now() || !proven {
            return Ok(None);
        }
        self.hub.launch(token.launch).await.map(Some)
    }
}

impl Known {
    fn open(&self, cookie: Option<String>, proof: String) -> Admission {
        Admission::Opened(Box::new(Opened {
            launch: Arc::clone(&self.launch),
            size: self.size,
            embed_origin: self.pass.value.embed_origin.clone(),
            cookie,
            proof,
        }))
    }
}
