//! A catalog of servers that can be installed: fetched from a registry, read with care, turned into ways to install.
//!
//! Whatever stands in a registry was written by strangers.

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
