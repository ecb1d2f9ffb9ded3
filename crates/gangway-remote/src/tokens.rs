//! Tokens of an agent: the session token of its creator, and the tokens of frames that show its chat.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use gangway_core::secret::{hash, new_secret};

/// Frames per agent; the oldest must be reloaded.
const FRAMES: usize = 64;

/// How long a frame may stay open without a reload.
const FRAME_LIFE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Stores hashes only.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tokens {
    session: String,
    /// Expiry of the session token, if before the end of its agent.
    until: Option<Timestamp>,
    frames: Vec<(String, Timestamp)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// For the agent's creator.
    Session,
    /// For a frame: valid for the chat only.
    Frame,
}

/// 32 random bytes, with a prefix by which people and secret scanners recognize it.
#[must_use]
pub fn new_token() -> String {
    format!("gwa_{}", new_secret())
}

impl Tokens {
    #[must_use]
    pub fn new(token: &str, hours: u64, now: Timestamp) -> Self {
        Self {
            session: hash(token),
            until: until(hours, now),
            frames: Vec::new(),
        }
    }

    /// The kind of this token, if it is valid.
    #[must_use]
    pub fn check(&self, token: &str, now: Timestamp) -> Option<TokenKind> {
        let given = hash(token);
        let same = |stored: &str| bool::from(stored.as_bytes().ct_eq(given.as_bytes()));
        if same(&self.session) {
            let good = self.until.is_none_or(|until| now < until);
            return good.then_some(TokenKind::Session);
        }
        // All are compared, so that the time reveals nothing.
        let mut found = None;
        for (stored, until) in &self.frames {
            if same(stored) && now < *until {
                found = Some(TokenKind::Frame);
            }
        }
        found
    }

    /// Adds the token of a frame; above the limit the oldest is revoked.
    pub fn add_frame(&mut self, token: &str, now: Timestamp) {
        self.frames.retain(|(_, until)| now < *until);
        if self.frames.len() >= FRAMES {
            self.frames.remove(0);
        }
        let end = now + FRAME_LIFE;
        let end = self.until.map_or(end, |until| end.min(until));
        self.frames.push((hash(token), end));
    }

    /// Replaces the session token and revokes those of all frames.
    pub fn rotate(&mut self, token: &str, hours: u64, now: Timestamp) {
        *self = Self::new(token, hours, now);
    }
}

fn until(hours: u64, now: Timestamp) -> Option<Timestamp> {
    let hours = i64::try_from(hours).ok().filter(|hours| *hours > 0)?;
    now.checked_add(SignedDuration::from_hours(hours)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
    }

    #[test]
    fn a_token_is_valid_for_its_agent_until_it_ends() {
        let (mine, other) = (new_token(), new_token());
        let tokens = Tokens::new(&mine, 2, at(0));
        assert_eq!(tokens.check(&mine, at(1)), Some(TokenKind::Session));
        assert_eq!(tokens.check(&other, at(1)), None);
        assert_eq!(tokens.check("", at(1)), None);
        assert_eq!(tokens.check(&mine, at(2)), None);
        let endless = Tokens::new(&mine, 0, at(0));
        assert!(endless.check(&mine, at(100_000)).is_some());
    }

    #[test]
    fn a_rotation_ends_the_old_token_and_every_frame() {
        let (old, frame, new) = (new_token(), new_token(), new_token());
        let mut tokens = Tokens::new(&old, 0, at(0));
        tokens.add_frame(&frame, at(0));
        assert_eq!(tokens.check(&frame, at(1)), Some(TokenKind::Frame));
        tokens.rotate(&new, 0, at(1));
        let seen = [&old, &frame, &new].map(|token| tokens.check(token, at(1)));
        assert_eq!(seen, [None, None, Some(TokenKind::Session)]);
    }

    #[test]
    fn frames_are_bounded_and_the_oldest_goes_first() {
        let mut tokens = Tokens::new("x", 0, at(0));
        let frames: Vec<_> = (0..=FRAMES).map(|_| new_token()).collect();
        for frame in &frames {
            tokens.add_frame(frame, at(0));
        }
        assert_eq!(tokens.check(&frames[0], at(0)), None);
        assert!(tokens.check(&frames[1], at(0)).is_some());
        assert_eq!(tokens.check(&frames[1], at(7 * 24)), None);
    }
}
