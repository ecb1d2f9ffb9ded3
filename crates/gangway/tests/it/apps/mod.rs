//! Apps on the command line: listed, checked, tried out, and the packages that they import fetched.

mod command;
mod simulate;
mod vendoring;

pub use gangway_testing::apps::{AppSite, plain, write};
