//! The cinema where it meets other parts of the server: the hosts of apps, and the death of the process.

mod hosts;
mod kill;
