//! Logged-in browsers. Each has a token that its pages keep in storage bound to the origin, port included: a cookie
//! would go to every port of this host.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError, RwLock},
    time::{Duration, Instant},
};

use gangway_core::{
    Result,
    store::{Expect, Put, Store, record},
};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tokio::sync::watch;
use ts_rs::TS;
use utoipa::ToSchema;

use gangway_core::secret::{hash, new_secret};

use super::{browser::browser, name::KeyId};

/// The prefix that tells the token of a login from a key.
pub const PREFIX: &str = "gwl_";

/// The id of a login, used in lists; not a secret.
pub type LoginId = KeyId;

/// Far more browsers than anyone has; the least recently used one is dropped.
const MOST: usize = 1000;

/// A login expires after this time without use.
const LASTS: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The precision with which the last use is stored.
const KEPT_EVERY: SignedDuration = SignedDuration::from_hours(1);

/// Unused login codes.
const MOST_CODES: usize = 16;

const CODE_LASTS: Duration = Duration::from_secs(10 * 60);

pub struct Logins {
    store: Store,
    open: RwLock<HashMap<LoginId, Login>>,
    /// Notified when a login ends.
    ends: watch::Sender<()>,
    /// Hashes of single-use login codes, oldest first.
    codes: Mutex<VecDeque<(String, Instant)>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Login {
    hash: String,
    /// The only origin whose pages may use it.
    origin: String,
    browser: String,
    address: String,
    created_at: Timestamp,
    last_used_at: Timestamp,
    /// The key that was used to log in; the login ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<KeyId>,
    #[serde(skip)]
    kept_at: Timestamp,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct LoginInfo {
    /// For ending it.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub id: LoginId,
    /// Such as `Firefox on Linux`.
    pub browser: String,
    /// The network address that it logged in from.
    pub address: String,
    /// The origin of the logged-in pages.
    pub origin: String,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was last used.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub last_used_at: Timestamp,
    /// Whether the request that lists it came from it.
    pub current: bool,
}

pub struct NewLogin<'a> {
    pub origin: &'a str,
    pub user_agent: &'a str,
    pub address: String,
    /// The key it logs in with, if any.
    pub key: Option<KeyId>,
}

impl Logins {
    pub async fn load(store: Store) -> Result<Self> {
        let now = Timestamp::now();
        let rows = store.list::<Login>("login/", None, 2 * MOST).await?;
        let open = rows
            .into_iter()
            .filter_map(|(key, row)| {
                let mut login = row.value;
                login.kept_at = login.last_used_at;
                let id = key.strip_prefix("login/")?.parse().ok()?;
                login.lasts(now).then_some((id, login))
            })
            .collect();
        Ok(Self {
            store,
            open: RwLock::new(open),
            ends: watch::Sender::new(()),
            codes: Mutex::default(),
        })
    }

    /// A code that logs one browser in, once.
    pub fn code(&self, now: Instant) -> String {
        let code = new_secret();
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.push_back((hash(&code), now));
        if codes.len() > MOST_CODES {
            codes.pop_front();
        }
        code
    }

    /// Uses up a login code; false when it is unknown or expired.
    #[must_use]
    pub fn redeem(&self, code: &str, now: Instant) -> bool {
        let code = hash(code);
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|(_, since)| now.saturating_duration_since(*since) < CODE_LASTS);
        let before = codes.len();
        codes.retain(|(stored, _)| !bool::from(stored.as_bytes().ct_eq(code.as_bytes())));
        codes.len() < before
    }

    /// Logs a browser in and returns the token for its pages. It survives a restart when this returns.
    pub async fn start(&self, new: NewLogin<'_>, now: Timestamp) -> Result<String> {
        let token = format!("{PREFIX}{}", new_secret());
        let id = LoginId::new();
        let login = Login {
            hash: hash(&token),
            origin: new.origin.to_owned(),
            browser: browser(new.user_agent),
            address: new.address,
            created_at: now,
            last_used_at: now,
            key: new.key,
            kept_at: now,
        };
        let mut puts = vec![record(format!("login/{id}"), &login)?];
        let too_many = {
            let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
            let oldest = open.iter().min_by_key(|(_, login)| login.last_used_at);
            let gone = open.iter().filter(|(_, login)| !login.lasts(now));
            let mut gone: Vec<_> = gone.map(|(id, _)| id.clone()).collect();
            if open.len() - gone.len() >= MOST {
                gone.extend(oldest.map(|(id, _)| id.clone()));
            }
            gone
        };
        puts.extend(too_many.iter().map(forget));
        let commit = self.store.put(puts).await?;
        self.store.keep(commit).await?;
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.insert(id, login);
        open.retain(|id, _| !too_many.contains(id));
        drop(open);
        self.ends.send_replace(());
        Ok(token)
    }

    /// The login of a token; `None` for a page of any other origin than the one that logged in.
    #[must_use]
    pub fn find(
        &self,
        token: &str,
        origins: &[String],
        now: Timestamp,
    ) -> Option<(LoginId, Option<KeyId>)> {
        let hash = hash(token);
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        let same = |login: &Login| bool::from(login.hash.as_bytes().ct_eq(hash.as_bytes()));
        let (id, login) = open.iter_mut().find(|(_, login)| same(login))?;
        let own = origins.iter().all(|origin| *origin == login.origin);
        if !own || !login.lasts(now) {
            return None;
        }
        login.last_used_at = now;
        Some((id.clone(), login.key.clone()))
    }

    /// Most recently used first.
    #[must_use]
    pub fn list(&self, current: Option<&LoginId>) -> Vec<LoginInfo> {
        let now = Timestamp::now();
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let mut logins: Vec<_> = open
            .iter()
            .filter(|(_, login)| login.lasts(now))
            .map(|(id, login)| LoginInfo {
                id: id.clone(),
                browser: login.browser.clone(),
                address: login.address.clone(),
                origin: login.origin.clone(),
                created_at: login.created_at,
                last_used_at: login.last_used_at,
                current: Some(id) == current,
            })
            .collect();
        logins.sort_by_key(|login| std::cmp::Reverse(login.last_used_at));
        logins
    }

    /// Ends logins, and closes what their pages have open; returns how many.
    pub async fn end(&self, ended: impl Fn(&LoginId) -> bool) -> Result<usize> {
        let gone: Vec<_> = {
            let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
            open.extract_if(|id, _| ended(id))
                .map(|(id, _)| id)
                .collect()
        };
        if gone.is_empty() {
            return Ok(0);
        }
        self.ends.send_replace(());
        let commit = self.store.put(gone.iter().map(forget).collect()).await?;
        self.store.keep(commit).await?;
        Ok(gone.len())
    }

    pub async fn ended(&self, id: &LoginId) {
        let mut ends = self.ends.subscribe();
        while self.get(id).is_some() {
            if ends.changed().await.is_err() {
                return;
            }
        }
    }

    /// Stores when logins were last used.
    pub async fn keep(&self) -> Result<()> {
        let puts: Vec<_> = {
            let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
            open.iter_mut()
                .filter(|(_, login)| login.last_used_at.duration_since(login.kept_at) > KEPT_EVERY)
                .filter_map(|(id, login)| {
                    login.kept_at = login.last_used_at;
                    record(format!("login/{id}"), login).ok()
                })
                .collect()
        };
        if !puts.is_empty() {
            self.store.put(puts).await?;
        }
        Ok(())
    }

    /// The key of a live login, if it was made with one.
    #[must_use]
    pub fn get(&self, id: &LoginId) -> Option<Option<KeyId>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let login = open.get(id).filter(|login| login.lasts(Timestamp::now()))?;
        Some(login.key.clone())
    }
}

impl Login {
    fn lasts(&self, now: Timestamp) -> bool {
        now.duration_since(self.last_used_at) < LASTS
    }
}

fn forget(id: &LoginId) -> Put {
    Put::remove(format!("login/{id}"), Expect::Any)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn logins() -> (tempfile::TempDir, Logins) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        (folder, Logins::load(store).await.unwrap())
    }

    fn new(key: Option<KeyId>) -> NewLogin<'static> {
        NewLogin {
            origin: "http://localhost:3000",
            user_agent: "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0",
            address: "127.0.0.1".into(),
            key,
        }
    }

    #[tokio::test]
    async fn a_login_lasts_thirty_days_after_its_last_use() {
        let (_folder, logins) = logins().await;
        let (key, now) = (KeyId::new(), Timestamp::now());
        let token = logins.start(new(Some(key.clone())), now).await.unwrap();
        let almost = LASTS - SignedDuration::from_secs(1);
        for later in [now + almost, now + almost + almost] {
            let (_, by) = logins.find(&token, &[], later).unwrap();
            assert_eq!(by, Some(key.clone()));
        }
        assert!(
            logins
                .find(&token, &[], now + almost + almost + LASTS)
                .is_none()
        );
    }

    #[tokio::test]
    async fn a_login_is_for_pages_of_its_own_origin_port_included() {
        let (_folder, logins) = logins().await;
        let now = Timestamp::now();
        let token = logins.start(new(None), now).await.unwrap();
        let find = |origin: &str| logins.find(&token, &[origin.to_owned()], now);
        assert!(find("http://localhost:3000").is_some());
        assert!(find("http://localhost:4000").is_none());
        assert!(find("https://localhost:3000").is_none());
    }

    #[tokio::test]
    async fn logins_survive_a_restart_and_those_that_were_ended_do_not() {
        let (folder, logins) = logins().await;
        let now = Timestamp::now();
        let stored = logins.start(new(None), now).await.unwrap();
        let ended = logins.start(new(None), now).await.unwrap();
        let (id, _) = logins.find(&ended, &[], now).unwrap();
        assert_eq!(logins.end(|one| *one == id).await.unwrap(), 1);
        drop(logins);
        let logins = Logins::load(Store::open(folder.path()).unwrap())
            .await
            .unwrap();
        assert!(logins.find(&stored, &[], now).is_some());
        assert!(logins.find(&ended, &[], now).is_none());
        let listed = logins.list(None);
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].browser, "Firefox on Linux");
    }

    #[tokio::test]
    async fn a_code_is_valid_once_and_for_ten_minutes() {
        let (_folder, logins) = logins().await;
        let now = Instant::now();
        let code = logins.code(now);
        assert!(!logins.redeem("other", now));
        assert!(logins.redeem(&code, now) && !logins.redeem(&code, now));
        let late = logins.code(now);
        assert!(!logins.redeem(&late, now + CODE_LASTS));
        let codes: Vec<_> = (0..=MOST_CODES).map(|_| logins.code(now)).collect();
        assert!(!logins.redeem(&codes[0], now) && logins.redeem(&codes[1], now));
    }
}
