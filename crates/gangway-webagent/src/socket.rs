//! WebSockets: of pages, of our own pages that show permission requests, and of the extension.

pub(crate) mod browser;
pub(crate) mod page;
pub(crate) mod permissions;
