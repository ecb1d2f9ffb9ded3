//! Who may use this server: host names, origins, API keys and rates.

pub mod access;
mod admitted;
mod app_host;
mod browser;
mod guard;
mod host_name;
mod key;
mod login;
mod name;
mod near;
mod pass;
mod rights;
mod routes;
mod routing;
mod scope;
mod shown;
mod signer;

pub use admitted::Admitted;
pub use guard::Guard;
pub(crate) use host_name::host;
pub use key::{CreatedKey, KeyInfo, Keys};
pub use login::{LoginId, LoginInfo, Logins};
pub use name::{KeyId, KeyName, NoKeyId, NoKeyName};
pub use pass::guard;
pub use rights::{NoPattern, Reach, ToolPattern};
pub(crate) use routes::Documented;
pub use routes::{CreateKey, KeyList, LoggedIn, Login, LoginCode, LoginList, routes};
pub use scope::{KeyScope, NoScope, RelayRole};
pub use signer::Signer;
