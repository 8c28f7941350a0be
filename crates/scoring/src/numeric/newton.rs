//! The smallest value of a smooth function of a few variables, by Newton's method with halved steps.
//!
//! - A step that does not lower the function is halved. Where the second derivatives are not positive definite,
//!   multiples of the unit matrix are added until they are (Levenberg 1944, Marquardt 1963).
//! - No variable changes by more than 5 in one step: all of ours are logarithms or small numbers.
//! - A variable at a bound that its derivative pushes outwards stays there.
//! - The search ends after the first step that is shorter than 1e-8, which by quadratic convergence leaves about 1e-15,
//!   or that is taken where the function is as good as flat.

use super::matrix::{Cholesky, Matrix, scale};
use crate::ModelError;

const MAX_STEPS: usize = 200;
const MAX_HALVINGS: usize = 50;
const SHORT: f64 = 1e-8;
const LONG: f64 = 5.0;
const FLAT: f64 = 1e-9;

/// A function around a point.
pub(crate) struct Local {
    pub(crate) value: f64,
    pub(crate) gradient: Vec<f64>,
    pub(crate) hessian: Matrix,
}

impl Local {
    pub(crate) fn zero(size: usize) -> Self {
        Self { value: 0.0, gradient: vec![0.0; size], hessian: Matrix::zero(size) }
    }
}

/// The point of the minimum between the bounds of every variable, and the function there. `evaluate` gives nothing
/// where the function is not defined.
pub(crate) fn minimise(
    mut point: Vec<f64>,
    (low, high): (f64, f64),
    mut evaluate: impl FnMut(&[f64]) -> Option<Local>,
) -> Result<(Vec<f64>, Local), ModelError> {
    let mut here = evaluate(&point).ok_or(ModelError::NotConverged)?;
    for _ in 0..MAX_STEPS {
        let step = step(&point, &here, (low, high)).ok_or(ModelError::NotConverged)?;
        let slack = 1e-13 * (1.0 + here.value.abs());
        let mut fraction = 1.0;
        let lower = (0..MAX_HALVINGS).find_map(|_| {
            let next: Vec<f64> =
                point.iter().zip(&step).map(|(value, change)| (value + fraction * change).clamp(low, high)).collect();
            fraction /= 2.0;
            evaluate(&next).filter(|there| there.value <= here.value + slack).map(|there| (next, there))
        });
        let Some((next, there)) = lower else { return Err(ModelError::NotConverged) };
        let length = next.iter().zip(&point).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
        let steepest = step.iter().zip(&here.gradient).filter(|(change, _)| change.abs() > 0.0);
        let slope = steepest.map(|(_, slope)| slope.abs()).fold(0.0, f64::max);
        (point, here) = (next, there);
        if length < SHORT || slope < FLAT {
            return Ok((point, here));
        }
    }
    Err(ModelError::NotConverged)
}

/// Newton's step, nothing where a derivative is no number.
fn step(point: &[f64], here: &Local, (low, high): (f64, f64)) -> Option<Vec<f64>> {
    let held: Vec<bool> = (point.iter().zip(&here.gradient))
        .map(|(value, slope)| (*value <= low && *slope > 0.0) || (*value >= high && *slope < 0.0))
        .collect();
    let mut hessian = here.hessian.clone();
    let mut step: Vec<f64> = here.gradient.iter().map(|slope| -slope).collect();
    for index in (0..point.len()).filter(|index| held[*index]) {
        step[index] = 0.0;
        for other in 0..point.len() {
            hessian.row_mut(index)[other] = 0.0;
            hessian.row_mut(other)[index] = 0.0;
        }
        hessian.add(index, index, 1.0);
    }
    // Not a power of ten, so that a multiple does not meet a negative diagonal element just so.
    let unit = 1.7e-3 * scale(&hessian);
    let mut added = 0.0;
    for _ in 0..30 {
        let mut attempt = hessian.clone();
        (0..point.len()).for_each(|index| attempt.add(index, index, added));
        if let Some(factor) = Cholesky::of(attempt) {
            factor.solve(&mut step);
            let longest = step.iter().map(|change| change.abs()).fold(0.0, f64::max);
            let fraction = (LONG / longest).min(1.0);
            return step
                .iter()
                .all(|change| change.is_finite())
                .then(|| step.iter().map(|change| fraction * change).collect());
        }
        added = if added == 0.0 { unit } else { added * 10.0 };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (x - 3)^4 + (x - 3)^2 + (y - x)^2.
    fn bowl(point: &[f64]) -> Local {
        let (across, along) = (point[0] - 3.0, point[1] - point[0]);
        let mut local = Local::zero(2);
        local.value = across.powi(4) + across * across + along * along;
        local.gradient = vec![4.0 * across.powi(3) + 2.0 * across - 2.0 * along, 2.0 * along];
        local.hessian.add(0, 0, 12.0 * across * across + 4.0);
        local.hessian.add(1, 0, -2.0);
        local.hessian.add(0, 1, -2.0);
        local.hessian.add(1, 1, 2.0);
        local
    }

    #[test]
    fn the_minimum_is_found_from_afar_and_at_a_bound() {
        let (free, _) = minimise(vec![-40.0, 90.0], (-100.0, 100.0), |point| Some(bowl(point))).unwrap();
        assert!(free.iter().all(|value| (value - 3.0).abs() < 1e-12));
        let (bounded, _) = minimise(vec![-40.0, 0.0], (-100.0, 2.0), |point| Some(bowl(point))).unwrap();
        assert!(bounded.iter().all(|value| (value - 2.0).abs() < 1e-12));
    }

    #[test]
    fn a_minimum_is_found_from_where_the_function_curves_the_other_way() {
        let wave = |point: &[f64]| {
            let mut local = Local::zero(1);
            local.value = -libm::cos(point[0]);
            local.gradient = vec![libm::sin(point[0])];
            local.hessian.add(0, 0, libm::cos(point[0]));
            Some(local)
        };
        let (found, _) = minimise(vec![2.5], (-3.0, 3.0), wave).unwrap();
        assert!(found[0].abs() < 1e-12);
    }

    #[test]
    fn what_has_no_minimum_does_not_converge() {
        let slope = |point: &[f64]| {
            let mut local = Local::zero(1);
            local.value = -point[0];
            local.gradient = vec![-1.0];
            Some(local)
        };
        assert_eq!(minimise(vec![0.0], (f64::MIN, f64::MAX), slope).err(), Some(ModelError::NotConverged));
    }
}
