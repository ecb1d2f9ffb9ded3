//! Applets: small pages in folders, found on disk or built in, that run in a frame beside the chat.

mod frame;
mod leave;
mod lines;
mod note;
mod routes;
mod shelf;
mod speak;
pub mod wire;

pub use frame::open_to_all;
pub use leave::Word;
pub use lines::{Lines, Pending, Place, Saying, Step};
pub use routes::{documented, pages};
pub use shelf::{Applet, Origin, Shelf};
