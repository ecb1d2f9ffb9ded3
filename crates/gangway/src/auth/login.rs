//! Pages that logged in with a key: a random token each, in the memory of this server alone.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, header};
use subtle::ConstantTimeEq;

use super::{
    key::{hash, new_secret},
    name::KeyId,
};

/// The cookie that a page of ours gets for a key; scripts cannot read it.
const COOKIE: &str = "gangway_login";

/// Far more pages than anyone has open, few enough to hold; the oldest makes room.
const MOST: usize = 1000;

/// A page that was left open this long logs in again.
const LASTS: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Codes that wait to be used.
const MOST_CODES: usize = 16;

/// A code that was not used by then is none.
const CODE_LASTS: Duration = Duration::from_secs(10 * 60);

/// The log-ins there are, by the hash of their token.
#[derive(Default)]
pub struct Logins {
    open: Mutex<HashMap<String, Login>>,
    /// Codes that log a page in once, by their hash, oldest first.
    codes: Mutex<VecDeque<(String, Instant)>>,
}

struct Login {
    by: By,
    since: Instant,
}

/// What a page was logged in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// An API key; the log-in ends with it.
    Key(KeyId),
    /// A code that a command of the same user asked for.
    Code,
}

impl Logins {
    /// A code that logs one page in, once and soon.
    pub fn code(&self, now: Instant) -> String {
        let code = new_secret();
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.push_back((hash(&code), now));
        if codes.len() > MOST_CODES {
            codes.pop_front();
        }
        code
    }

    /// Whether this is a code that was not used yet; now it is.
    #[must_use]
    pub fn redeem(&self, code: &str, now: Instant) -> bool {
        let code = hash(code);
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|(_, since)| now.saturating_duration_since(*since) < CODE_LASTS);
        let before = codes.len();
        codes.retain(|(kept, _)| !bool::from(kept.as_bytes().ct_eq(code.as_bytes())));
        codes.len() < before
    }

    /// Logs a page in; the token for its cookie.
    pub fn start(&self, by: By, now: Instant) -> String {
        let token = new_secret();
        let mut open = self.lock();
        open.retain(|_, login| login.lasts(now));
        if open.len() >= MOST {
            let oldest = open.iter().min_by_key(|(_, login)| login.since);
            let oldest = oldest.map(|(hash, _)| hash.clone());
            oldest.and_then(|oldest| open.remove(&oldest));
        }
        open.insert(hash(&token), Login { by, since: now });
        token
    }

    /// What a page logged in with.
    #[must_use]
    pub fn by(&self, token: &str, now: Instant) -> Option<By> {
        let open = self.lock();
        let login = open.get(&hash(token)).filter(|login| login.lasts(now))?;
        Some(login.by.clone())
    }

    /// Logs a page out.
    pub fn end(&self, token: &str) {
        self.lock().remove(&hash(token));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Login>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Login {
    fn lasts(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) < LASTS
    }
}

/// The tokens that a page sent; more than one where others set cookies of the same name.
pub(super) fn tokens(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let cookies = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|v| v.to_str().ok())
        .flat_map(|v| v.split(';'));
    cookies
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value)
}

/// The header that gives a page its token, or takes it away.
pub(super) fn set_cookie(token: Option<&str>, request: &HeaderMap) -> String {
    let origin = request.get(header::ORIGIN).map(|v| v.as_bytes());
    // A proxy speaks TLS for this server, so only the page itself says that it came over TLS.
    let secure = origin.is_some_and(|origin| origin.starts_with(b"https://"));
    let mut cookie = format!(
        "{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict",
        token.unwrap_or_default()
    );
    if secure {
        cookie.push_str("; Secure");
    }
    if token.is_none() {
        cookie.push_str("; Max-Age=0");
    }
    cookie
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_lasts_thirty_days() {
        let (logins, key, now) = (Logins::default(), KeyId::new(), Instant::now());
        let token = logins.start(By::Key(key.clone()), now);
        let later = now + LASTS;
        assert_eq!(
            logins.by(&token, later - Duration::from_secs(1)),
            Some(By::Key(key))
        );
        assert_eq!(logins.by(&token, later), None);
    }

    #[test]
    fn a_code_is_good_once_and_for_ten_minutes() {
        let (logins, now) = (Logins::default(), Instant::now());
        let code = logins.code(now);
        assert!(!logins.redeem("other", now));
        assert!(logins.redeem(&code, now) && !logins.redeem(&code, now));
        let late = logins.code(now);
        assert!(!logins.redeem(&late, now + CODE_LASTS));
        let codes: Vec<_> = (0..=MOST_CODES).map(|_| logins.code(now)).collect();
        assert!(!logins.redeem(&codes[0], now) && logins.redeem(&codes[1], now));
    }

    #[test]
    fn one_login_too_many_ends_the_oldest() {
        let (logins, now) = (Logins::default(), Instant::now());
        let start = |n| logins.start(By::Code, now + Duration::from_secs(n));
        let tokens: Vec<_> = (0..=MOST as u64).map(start).collect();
        let later = now + Duration::from_secs(5000);
        assert_eq!(logins.by(&tokens[0], later), None);
        assert!(
            tokens[1..]
                .iter()
                .all(|token| logins.by(token, later).is_some())
        );
    }
}
