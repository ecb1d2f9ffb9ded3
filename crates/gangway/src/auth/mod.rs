//! Who may use this server: host names, origins, API keys and rates.

mod guard;
mod key;
mod routes;

pub use guard::{Guard, guard};
pub use key::{CreatedKey, KeyInfo, Keys, hash, new_secret};
pub use routes::{CreateKey, KeyList, Login, routes};
