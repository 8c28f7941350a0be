//! Normal random numbers from a published seed: `ChaCha` with 20 rounds, and the inverse of the normal distribution.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::distribution::normal_quantile;

/// A stream of independent standard normal numbers.
pub(crate) struct NormalDraws(ChaCha20Rng);

impl NormalDraws {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self(ChaCha20Rng::from_seed(seed))
    }

    /// The next number, from the middle of one of 2^52 equal steps of probability.
    #[expect(clippy::cast_precision_loss, reason = "52 bits are exact")]
    pub(crate) fn draw(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 52) as f64;
        normal_quantile(((self.0.next_u64() >> 12) as f64 + 0.5) / STEPS)
    }
}
