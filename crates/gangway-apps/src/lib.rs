//! Apps: pages in folders with an `APP.md`, which agents find, launch with data, and talk to.

pub mod cache;
pub mod context;
mod discovery;
mod folder;
mod folders;
pub mod manifest;
mod program;
pub mod rank;
mod registry;
pub mod serve;
mod shipped;
mod vendor;

pub use folder::AppFolder;
pub use folders::Folders;
pub use registry::{App, AppRegistry, Origin, SearchPaths, UntrustedApps, UnusableApp};
pub use serve::{Pages, is_module};
pub use shipped::Shipped;
pub use vendor::VendorFolder;
