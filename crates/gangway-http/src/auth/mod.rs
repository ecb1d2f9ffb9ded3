//! Authentication and authorization: host names, origins, API keys, logins, and the guard that every request passes.

mod admitted;
mod app_host;
mod browser;
mod guard;
mod host_name;
mod key;
mod login;
mod middleware;
mod name;
mod near;
mod panel;
mod rights;
mod scope;
mod settings;
mod shown;
mod signer;
#[cfg(test)]
mod tests;

pub use admitted::Admitted;
pub use guard::Guard;
pub use host_name::host;
pub use key::{CreatedKey, KeyInfo, Keys};
pub use login::{LoginId, LoginInfo, Logins, NewLogin};
pub use middleware::guard;
pub use name::{KeyId, KeyName, NoKeyId, NoKeyName};
pub use panel::{PanelToken, Panels};
pub use rights::{NoPattern, Reach, ToolPattern};
pub use scope::{KeyScope, MOST_SCOPES, NoScope, RelayRole};
pub use settings::{AppApi, GuardSettings};
pub use signer::Signer;
