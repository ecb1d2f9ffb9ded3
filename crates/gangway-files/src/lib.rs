//! Sandboxed files of a folder: listing, reading, writing, watching. Depends on no other crate of ours.

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
