//! Normal, chi-square, F and t distributions.
//!
//! - The normal quantile is algorithm AS 241 (Wichura, Applied Statistics 37, 1988), exact to about 1e-16.
//! - Chi-square is the incomplete gamma function, by its series below the mean and its continued fraction above.
//! - F and t are the incomplete beta function, by its continued fraction with the method of Lentz (Thompson & Barnett
//!   1986).
//! - A quantile without a formula of its own is found by halving a range until it cannot be halved.

use super::real;

/// The number of terms after which a series or continued fraction ends; millions of degrees of freedom need fewer.
const MAX_TERMS: usize = 20_000;

/// What divides where a continued fraction would divide by zero.
const TINY: f64 = 1e-300;

/// The value below which a standard normal number lies with this probability, which is above 0 and below 1.
pub(crate) fn normal_quantile(probability: f64) -> f64 {
    const CENTRE: [[f64; 8]; 2] = [
        [
            2.509_080_928_730_122_7e3,
            3.343_057_558_358_813e4,
            6.726_577_092_700_87e4,
            4.592_195_393_154_987e4,
            1.373_169_376_550_946e4,
            1.971_590_950_306_551_4e3,
            1.331_416_678_917_843_8e2,
            3.387_132_872_796_366_6,
        ],
        [
            5.226_495_278_852_854e3,
            2.872_908_573_572_194_3e4,
            3.930_789_580_009_271e4,
            2.121_379_430_158_659_7e4,
            5.394_196_021_424_751e3,
            6.871_870_074_920_579e2,
            4.231_333_070_160_091e1,
            1.0,
        ],
    ];
    const MIDDLE: [[f64; 8]; 2] = [
        [
            7.745_450_142_783_414e-4,
            2.272_384_498_926_918_4e-2,
            2.417_807_251_774_506e-1,
            1.270_458_252_452_368_4,
            3.647_848_324_763_204_5,
            5.769_497_221_460_691,
            4.630_337_846_156_546,
            1.423_437_110_749_683_5,
        ],
        [
            1.050_750_071_644_416_9e-9,
            5.475_938_084_995_345e-4,
            1.519_866_656_361_645_7e-2,
            1.481_039_764_274_800_8e-1,
            6.897_673_349_851e-1,
            1.676_384_830_183_803_8,
            2.053_191_626_637_759,
            1.0,
        ],
    ];
    const FAR: [[f64; 8]; 2] = [
        [
            2.010_334_399_292_288_1e-7,
            2.711_555_568_743_487_6e-5,
            1.242_660_947_388_078_4e-3,
            2.653_218_952_657_612_4e-2,
            2.965_605_718_285_048_7e-1,
            1.784_826_539_917_291_3,
            5.463_784_911_164_114,
            6.657_904_643_501_103,
        ],
        [
            2.044_263_103_389_939_8e-15,
            1.421_511_758_316_446e-7,
            1.846_318_317_510_054_8e-5,
            7.868_691_311_456_133e-4,
            1.487_536_129_085_061_5e-2,
            1.369_298_809_227_358e-1,
            5.998_322_065_558_88e-1,
            1.0,
        ],
    ];
    let from_median = probability - 0.5;
    if from_median.abs() <= 0.425 {
        return from_median * rational(&CENTRE, 0.180_625 - from_median * from_median);
    }
    let depth = (-libm::log(if from_median < 0.0 { probability } else { 1.0 - probability })).sqrt();
    let size = if depth <= 5.0 { rational(&MIDDLE, depth - 1.6) } else { rational(&FAR, depth - 5.0) };
    if from_median < 0.0 { -size } else { size }
}

/// The quotient of two polynomials, highest power first.
fn rational(polynomials: &[[f64; 8]; 2], at: f64) -> f64 {
    let [above, below] = polynomials.map(|factors| factors.iter().fold(0.0, |sum, factor| sum * at + factor));
    above / below
}

/// The probability that a chi-square value is at least this large.
pub(crate) fn chi_square_upper(value: f64, degrees: f64) -> f64 {
    let (shape, at) = (degrees / 2.0, value / 2.0);
    if at <= 0.0 {
        return 1.0;
    }
    let front = libm::exp(shape * libm::log(at) - at - libm::lgamma(shape));
    if at < shape + 1.0 {
        let mut term = 1.0 / shape;
        let mut sum = term;
        for index in 1..MAX_TERMS {
            term *= at / (shape + real(index));
            sum += term;
            if term < sum * f64::EPSILON {
                break;
            }
        }
        return 1.0 - front * sum;
    }
    let terms = (1..MAX_TERMS).map(|index| {
        let index = real(index);
        (-index * (index - shape), at + 1.0 - shape + 2.0 * index)
    });
    front / continued_fraction(at + 1.0 - shape, terms)
}

/// The probability that an F value is at least this large.
pub(crate) fn f_upper(value: f64, above: f64, below: f64) -> f64 {
    if value <= 0.0 { 1.0 } else { incomplete_beta(below / (below + above * value), below / 2.0, above / 2.0) }
}

/// The value below which a t value lies with this probability, which is above 0 and below 1.
pub(crate) fn t_quantile(probability: f64, degrees: f64) -> f64 {
    let outside = 2.0 * probability.min(1.0 - probability);
    let two_sided = |value: f64| incomplete_beta(degrees / (degrees + value * value), degrees / 2.0, 0.5);
    let mut high = 1.0;
    while two_sided(high) > outside && high < 1e150 {
        high *= 2.0;
    }
    let mut low = 0.0;
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return if probability < 0.5 { -middle } else { middle };
        }
        if two_sided(middle) > outside { low = middle } else { high = middle }
    }
}

/// The regularised incomplete beta function.
fn incomplete_beta(at: f64, first: f64, second: f64) -> f64 {
    if at <= 0.0 || at >= 1.0 {
        return if at <= 0.0 { 0.0 } else { 1.0 };
    }
    if at > (first + 1.0) / (first + second + 2.0) {
        return 1.0 - incomplete_beta(1.0 - at, second, first);
    }
    let scale = libm::lgamma(first + second) - libm::lgamma(first) - libm::lgamma(second);
    let front = libm::exp(scale + first * libm::log(at) + second * libm::log1p(-at));
    let terms = (1..MAX_TERMS).map(|index| {
        let half = real(index / 2);
        let place = first + real(index);
        let numerator = if index % 2 == 0 {
            half * (second - half) * at / ((place - 1.0) * place)
        } else {
            -(first + half) * (first + second + half) * at / ((place - 1.0) * place)
        };
        (numerator, 1.0)
    });
    front / (first * continued_fraction(1.0, terms))
}

/// b0 + a1 / (b1 + a2 / (b2 + ...)) from the pairs of a and b.
fn continued_fraction(first: f64, terms: impl Iterator<Item = (f64, f64)>) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut fraction = away_from_zero(first);
    let (mut numerator, mut denominator) = (fraction, 0.0);
    for (above, add) in terms {
        denominator = 1.0 / away_from_zero(add + above * denominator);
        numerator = away_from_zero(add + above / numerator);
        let change = numerator * denominator;
        fraction *= change;
        if (change - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected.abs(), "{found} is not {expected}");
    }

    // The expected values were computed with 40 digits.

    #[test]
    fn normal_quantiles_are_exact_to_rounding() {
        for (probability, expected) in [
            (1e-20, -9.262_340_089_798_408),
            (1e-6, -4.753_424_308_822_899),
            (0.01, -2.326_347_874_040_841),
            (0.075, -1.439_531_470_938_456),
            (0.3, -0.524_400_512_708_040_8),
            (0.9, 1.281_551_565_544_600_6),
            (0.975, 1.959_963_984_540_054),
            (0.999_999, 4.753_424_308_817_088),
        ] {
            assert_near(normal_quantile(probability), expected, 1e-14);
        }
        assert!(normal_quantile(0.5).abs() < 1e-300 && normal_quantile(f64::MIN_POSITIVE) > -40.0);
    }

    #[test]
    fn t_quantiles_hold_from_one_to_many_degrees_of_freedom() {
        for (probability, degrees, expected) in [
            (0.975, 1.0, 12.706_204_736_174_694),
            (0.975, 3.0, 3.182_446_305_283_708),
            (0.025, 12.0, -2.178_812_829_667_228),
            (0.995, 240.0, 2.596_469_181_966_818),
            (0.975, 399_500.0, 1.959_969_922_658_440_3),
        ] {
            assert_near(t_quantile(probability, degrees), expected, 1e-9);
        }
    }

    #[test]
    fn upper_tails_hold_near_and_far_from_the_mean() {
        for (value, degrees, expected) in [
            (0.5, 1.0, 0.479_500_122_186_953),
            (3.0, 7.0, 0.885_002_231_643_150_6),
            (30.760_441_929_399_082, 19.0, 0.042_883_473_126_947_92),
            (500.0, 400.0, 0.000_482_212_759_593_433_7),
            (0.001, 3.0, 0.999_991_592_080_942),
            (100_100.0, 100_000.0, 0.410_980_732_012_148_4),
            (-1.0, 3.0, 1.0),
        ] {
            assert_near(chi_square_upper(value, degrees), expected, 1e-9);
        }
        for (value, above, below, expected) in [
            (11.666_666_666_666_666, 3.0, 5.0, 0.010_738_664_835_640_683),
            (0.2, 4.0, 9.0, 0.932_078_895_317_530_3),
            (2.5, 499.0, 399_500.0, 1.344_330_063_742_005_6e-65),
            (1.0, 1.0, 1.0, 0.5),
            (1.02, 2_000.0, 300_000.0, 0.262_194_572_923_790_5),
            (0.0, 2.0, 3.0, 1.0),
        ] {
            assert_near(f_upper(value, above, below), expected, 1e-7);
        }
    }
}
