//! Weights of models that run on this machine: the folder, and downloads into it.

mod address;
mod blocks;
pub mod catalog;
mod digest;
mod error;
mod fetch;
mod figures;
mod gguf;
mod index;
mod name;
mod note;
mod part;
mod pull;
mod store;
mod unpack;

pub use address::WeightsUrl;
pub use catalog::{CatalogEntry, Pin};
pub use error::WeightsError;
pub use gguf::{Gguf, Unusable, grouped};
pub use name::{ModelName, readable};
pub use note::WeightsRecord;
pub use pull::{Progress, Pulled, Puller, Step, WeightsSource};
pub use store::{Weights, WeightsStore};
