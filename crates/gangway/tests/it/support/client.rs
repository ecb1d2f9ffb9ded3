//! The token of the server that a test started.

use std::sync::Mutex;

/// The token of the server that was started last. Each test is a process of its own.
static CURRENT: Mutex<String> = Mutex::new(String::new());

/// The token of the server that was started last, for those who speak to it by bytes alone.
pub fn current_token() -> String {
    CURRENT.lock().unwrap().clone()
}

/// A server with this token was started.
pub(super) fn started(token: &str) {
    token.clone_into(&mut CURRENT.lock().unwrap());
}
