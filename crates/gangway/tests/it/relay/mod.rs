//! The relay: pages and external agents, from both sides of the wire.

mod client;
mod hostile;
mod joining;
mod offered;
mod resume;
mod routing;
mod stages;
mod study;
