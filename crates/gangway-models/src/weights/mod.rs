//! Weights of models that run on this machine: the shelf they lie on.

mod shelf;

pub use shelf::{Shelf, Weights};
