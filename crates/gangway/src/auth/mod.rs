//! Who may use this server: host names, origins, API keys and rates.

mod app_host;
mod guard;
mod host_name;
mod key;
mod login;
mod name;
mod pass;
mod paths;
mod rights;
mod routes;

pub use guard::{Admitted, Guard};
pub(crate) use host_name::host;
pub use key::{CreatedKey, KeyInfo, Keys, hash, new_secret};
pub use login::{By, Logins};
pub use name::{KeyId, KeyName, NoKeyId, NoKeyName};
pub use pass::guard;
pub(crate) use paths::{is_agents_own, is_apps_own, is_open};
pub use rights::{NoPattern, Reach, ToolPattern};
pub use routes::{CreateKey, KeyList, Login, LoginCode, routes};
