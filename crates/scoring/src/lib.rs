#![doc = include_str!("../README.md")]

pub mod agreement;
pub mod chain;
pub mod correction;
pub mod draw;
pub mod elections;
pub mod incidence;
pub mod least_squares;
pub mod mixed;
pub mod model_error;
pub mod modes;
pub mod normalise;
pub mod numeric;
pub mod paired;
pub mod places;
pub mod rasch;
pub mod rational;
pub mod score_table;
pub mod sheet;
pub mod wilson;

pub use model_error::ModelError;
pub use numeric::{Interval, mean, published};
pub use score_table::{Score, ScoreTable};
