//! Applets: small pages in folders, found on disk or built in, that run in a frame beside the chat.

mod confine;
mod frame;
mod leave;
mod lines;
mod note;
mod opened;
mod routes;
mod shelf;
mod speak;
pub mod wire;

pub use leave::Word;
pub use lines::{Lines, Pending, Place, Saying, Step};
pub use opened::{OpenGuard, Opened};
pub(crate) use routes::Documented;
pub(crate) use routes::frame_path;
pub use routes::routes;
pub use shelf::{Applet, Origin, Shelf};
