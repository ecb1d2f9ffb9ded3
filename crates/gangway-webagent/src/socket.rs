//! WebSockets of pages and of the extension.

pub(crate) mod browser;
pub(crate) mod page;
