//! The files of a folder, and no others: looked at, read, written and watched. Depends on no other crate of ours.
#![warn(missing_docs)]

mod error;
mod folder;
mod inside;
mod links;
mod media;
pub mod once;
mod path;
mod private;
mod read;
mod text;
mod watch;
mod write;

#[cfg(test)]
mod tests;

pub use error::FileError;
pub use folder::{Entry, Folder, Kind, Limits, Listing, Stat};
pub use media::media_type;
pub use path::FilePath;
pub use private::make_private_folder;
pub use read::FileRead;
pub use text::Utf8Pieces;
pub use watch::{Change, ChangeEvent, Watch};
