//! Tools that Gangway itself offers: about applets and about apps.

pub mod applets;
pub mod apps;
mod writing;
