//! What every HTTP protocol of Gangway shares. Depends on `gangway-core` and on no protocol.

pub mod cors;
pub mod error;
pub mod html;
pub mod metrics;
pub mod pace;
pub mod socket;
