//! The cinema behind the booking app.

mod cancel;
mod client;
mod conflicts;
mod hosts;
mod kept;
mod path;
mod refusals;
mod studies;
