//! Dense square matrices and the Cholesky factorisation, with sums in a fixed order of eight lanes that the compiler
//! can vectorise.

use super::real;

/// How small a pivot may become against its diagonal element before a matrix counts as singular.
const SINGULAR: f64 = 1e-13;

/// A square matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    size: usize,
    values: Vec<f64>,
}

impl Matrix {
    pub(crate) fn zero(size: usize) -> Self {
        Self { size, values: vec![0.0; size * size] }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.size..(row + 1) * self.size]
    }

    pub(crate) fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.size..(row + 1) * self.size]
    }

    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.size + column] += value;
    }

    pub(crate) fn trace(&self) -> f64 {
        (0..self.size).map(|index| self.at(index, index)).sum()
    }

    /// How many eigenvalues of a symmetric matrix are negative, by Sylvester's law of inertia on L D L'. Only the lower
    /// triangle is read.
    pub(crate) fn negative_eigenvalues(mut self) -> usize {
        let mut negative = 0;
        for pivot in 0..self.size {
            let diagonal = self.at(pivot, pivot);
            let divisor = if diagonal == 0.0 { f64::MIN_POSITIVE } else { diagonal };
            negative += usize::from(divisor < 0.0);
            let column: Vec<f64> = (pivot + 1..self.size).map(|row| self.at(row, pivot)).collect();
            for (offset, value) in column.iter().enumerate() {
                let factor = value / divisor;
                let row = &mut self.row_mut(pivot + 1 + offset)[pivot + 1..];
                row.iter_mut().zip(&column[..=offset]).for_each(|(cell, other)| *cell -= factor * other);
            }
        }
        negative
    }
}

/// The lower triangle L of a positive definite matrix L L'.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cholesky(Matrix);

impl Cholesky {
    /// Nothing where the matrix is not positive definite. Only the lower triangle is read.
    pub(crate) fn of(mut matrix: Matrix) -> Option<Self> {
        let size = matrix.size;
        for index in 0..size {
            let (above, below) = matrix.values.split_at_mut(index * size);
            let row = &mut below[..size];
            for (column, other) in above.chunks_exact(size).enumerate() {
                row[column] = (row[column] - dot(&row[..column], &other[..column])) / other[column];
            }
            let pivot = row[index] - dot(&row[..index], &row[..index]);
            if pivot.is_nan() || pivot <= SINGULAR * row[index].abs() {
                return None;
            }
            row[index] = pivot.sqrt();
        }
        Some(Self(matrix))
    }

    /// The solution of L L' x = right-hand side, in its place.
    pub(crate) fn solve(&self, vector: &mut [f64]) {
        for index in 0..self.0.size {
            let row = self.0.row(index);
            vector[index] = (vector[index] - dot(&row[..index], &vector[..index])) / row[index];
        }
        self.solve_transposed(vector);
    }

    /// The solution of L' x = right-hand side, in its place: it makes a draw of covariance (L L')^-1 from independent
    /// normal numbers.
    pub(crate) fn solve_transposed(&self, vector: &mut [f64]) {
        for index in (0..self.0.size).rev() {
            let row = self.0.row(index);
            let value = vector[index] / row[index];
            vector[..index].iter_mut().zip(row).for_each(|(cell, factor)| *cell -= value * factor);
            vector[index] = value;
        }
    }

    /// The natural logarithm of the determinant of L L'.
    pub(crate) fn log_determinant(&self) -> f64 {
        2.0 * (0..self.0.size).map(|index| libm::log(self.0.at(index, index))).sum::<f64>()
    }

    /// (L L')^-1, both triangles.
    pub(crate) fn inverse(&self) -> Matrix {
        let size = self.0.size;
        // Row k holds column k of L^-1, so that every product below runs along rows.
        let mut columns = Matrix::zero(size);
        for column in 0..size {
            let cells = columns.row_mut(column);
            cells[column] = 1.0 / self.0.at(column, column);
            for index in column + 1..size {
                let row = self.0.row(index);
                cells[index] = -dot(&row[column..index], &cells[column..index]) / row[index];
            }
        }
        let mut inverse = Matrix::zero(size);
        for row in 0..size {
            for column in 0..=row {
                let value = dot(&columns.row(row)[row..], &columns.row(column)[row..]);
                inverse.row_mut(row)[column] = value;
                inverse.row_mut(column)[row] = value;
            }
        }
        inverse
    }
}

/// The sum of products of two slices of one length.
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let (left_chunks, left_rest) = left.as_chunks::<8>();
    let (right_chunks, right_rest) = right.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for (left, right) in left_chunks.iter().zip(right_chunks) {
        for lane in 0..8 {
            lanes[lane] += left[lane] * right[lane];
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    lanes.iter().sum::<f64>() + rest
}

/// The largest absolute diagonal element, at least as large as would matter in a sum with it.
pub(crate) fn scale(matrix: &Matrix) -> f64 {
    let largest = (0..matrix.size()).map(|index| matrix.at(index, index).abs()).fold(0.0, f64::max);
    largest.max(1e-8 / real(matrix.size().max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hilbert_like(size: usize) -> Matrix {
        let mut matrix = Matrix::zero(size);
        for row in 0..size {
            for column in 0..size {
                matrix.add(row, column, 1.0 / real(row + column + 1) + if row == column { 1.0 } else { 0.0 });
            }
        }
        matrix
    }

    #[test]
    fn the_inverse_and_the_solution_agree_with_the_matrix() {
        let matrix = hilbert_like(19);
        let factor = Cholesky::of(matrix.clone()).unwrap();
        let inverse = factor.inverse();
        for column in 0..19 {
            let mut unit = vec![0.0; 19];
            unit[column] = 1.0;
            factor.solve(&mut unit);
            for (row, solved) in unit.iter().enumerate() {
                assert!((solved - inverse.at(row, column)).abs() < 1e-13);
                let product: f64 = (0..19).map(|inner| matrix.at(row, inner) * inverse.at(inner, column)).sum();
                assert!((product - f64::from(u8::from(row == column))).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor_and_its_negative_eigenvalues_are_counted() {
        let mut matrix = hilbert_like(5);
        assert_eq!(matrix.clone().negative_eigenvalues(), 0);
        matrix.add(2, 2, -9.0);
        assert_eq!(matrix.clone().negative_eigenvalues(), 1);
        assert!(Cholesky::of(matrix).is_none());
        assert!(Cholesky::of(Matrix::zero(3)).is_none());
    }
}
