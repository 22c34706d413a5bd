"""Random numbers with an address: Philox4x64-10 and the normal quantile function.

A draw is a function of (seed, purpose, run, number, lane) and of nothing else: no generator is kept, so results do
not depend on workers, on order or on a crash, and policies are compared on common random numbers.
"""

from math import sqrt
from typing import Any

from surefoot.core.kernel import high_word, kernel, u64
from surefoot.core.logarithm import log, polynomial

NOISE, EXPLORE, WIDTHS = 0, 1, 2  # purposes: each is a stream of its own

# Numbers of 64 bits, so the compiler takes them for unsigned words.
MULTIPLIER_0, MULTIPLIER_1 = 0xD2E7470EE14C6C93, 0xCA5A826395121157
WEYL_0, WEYL_1 = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B


@kernel
def philox(seed: int, purpose: int, run: int, block: int, out: Any) -> None:
    """Four random 64-bit words: Philox4x64-10 with key (seed, purpose) and counter (block, run, 0, 0)."""
    key0, key1 = u64(seed), u64(purpose)
    c0, c1, c2, c3 = u64(block), u64(run), u64(0), u64(0)
    for _ in range(10):
        high0, low0 = high_word(MULTIPLIER_0, c0), u64(MULTIPLIER_0 * c0)
        high1, low1 = high_word(MULTIPLIER_1, c2), u64(MULTIPLIER_1 * c2)
        c0, c1, c2, c3 = u64(high1 ^ c1 ^ key0), low1, u64(high0 ^ c3 ^ key1), low0
        key0, key1 = u64(key0 + WEYL_0), u64(key1 + WEYL_1)
    out[0], out[1], out[2], out[3] = c0, c1, c2, c3


@kernel
def uniform(word: int) -> float:
    """A number strictly between 0 and 1 from 52 bits of the word, symmetric about one half."""
    return float(u64(word) >> u64(12)) * 2.0**-52 + 2.0**-53


@kernel
def normal(u: float) -> float:
    """The standard normal quantile of u, to 16 digits (Wichura's rational approximations, AS241).

    Every way ends in the same division: on a GPU the runs of all ways wait for each other, and it takes as long as a
    polynomial.
    """
    q = u - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        top = q * polynomial(
            r, 3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
            4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
        )  # fmt: skip
        bottom = polynomial(
            r, 1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
            2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
        )  # fmt: skip
    else:
        top, bottom = in_tail(sqrt(-log(min(u, 1.0 - u))))
        top = -top if q < 0.0 else top
    return top / bottom


@kernel
def in_tail(r: float) -> tuple[float, float]:
    """Numerator and denominator of the quantile of 1 - exp(-r^2), for numbers in the upper tail."""
    if r <= 5.0:
        r -= 1.6
        top = polynomial(
            r, 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
            1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
        )  # fmt: skip
        bottom = polynomial(
            r, 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
            1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
        )  # fmt: skip
    else:
        r -= 5.0
        top = polynomial(
            r, 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
            2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
        )  # fmt: skip
        bottom = polynomial(
            r, 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
            7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
        )  # fmt: skip
    return top, bottom
