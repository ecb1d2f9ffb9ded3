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

pub use cache::{Cache, Document, Found};
pub use fetch::{Bounds, Gathered, gather};
pub use fill::{BadInput, Filled};
pub use listed::{Listed, Reading};
pub use offer::{Offer, OfferKind, Place, Wanted};
pub use seed::seed;
