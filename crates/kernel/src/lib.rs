//! The kernel: the small values that every part of the service speaks of, and the forms in which they are read and written.
//!
//! - Nothing here reaches a database, the network or a file. Time and randomness come from [`clock`] and [`ids`] alone, so that
//!   tests can fix both.
//! - A module uses only what stands above it.

pub mod text;

pub mod clock;
pub mod json;
pub mod kind;

pub mod document;
pub mod ids;
pub mod input;
