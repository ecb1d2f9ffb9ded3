//! The catalog of installable servers, downloaded from a registry and turned into offers.
//!
//! Registry entries are untrusted.

mod cache;
mod fetch;
mod fill;
mod listed;
mod names;
mod offer;
mod refusal;
mod seed;
mod template;
#[cfg(test)]
mod tests;

pub use cache::{Cache, Document, Matches};
pub use fetch::{FetchLimits, FetchedServers, gather};
pub use fill::{BadInput, Filled};
pub use listed::{ParsedServer, RegistryServer};
pub use offer::{InputLocation, InputSpec, InstallOption, InstallOptionKind};
pub use seed::seed;
