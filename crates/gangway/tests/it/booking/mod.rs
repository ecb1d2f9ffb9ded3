//! The cinema behind the booking app.

mod client;
mod conflicts;
mod hosts;
mod kept;
mod path;
mod refusals;
