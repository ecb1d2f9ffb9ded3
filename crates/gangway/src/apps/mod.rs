//! Apps: pages in folders with an `APP.md`, which agents find, launch with data, and talk to.

pub mod context;
mod folder;
pub mod manifest;
pub mod rank;
pub mod serve;
mod shelf;

pub use folder::AppFolder;
pub use serve::Pages;
pub use shelf::{App, Around, Origin, Shelf, Stray};
