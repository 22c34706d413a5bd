"""The natural logarithm and its inverse, written out: the same last digit on every machine, and no call out of the
compiled loop.

System libraries differ in the last digit between versions, between CPU and GPU, and replaying a study on another
machine would then differ too.
"""

from math import inf, nan

from surefoot.core.kernel import float_bits, float_of_bits, kernel

SQRT_HALF_BITS = 0x3FE6A09E667F3BCD  # the bits of the square root of one half
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # high part exact times small integers
INVERSE_LN2 = 1.4426950408889634


@kernel
def log(x: float) -> float:
    """log(x) for a positive normal number, within one unit in the last place; not a number for anything else.

    x = 2^e m with m between sqrt(1/2) and sqrt(2), and log(m) = log(1 + f) by the series of its odd part in
    s = f / (2 + f), cut to a minimax polynomial in s^2.
    """
    if not 2.3e-308 < x < inf:
        return nan
    bits = float_bits(x)
    e = (bits - SQRT_HALF_BITS) >> 52
    f = float_of_bits(bits - (e << 52)) - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    odd = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    even = z * (
        6.666666666666735130e-01
        + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))
    )
    half_square = 0.5 * f * f
    return e * LN2_HIGH - ((half_square - (s * (half_square + (odd + even)) + e * LN2_LOW)) - f)


@kernel
def log1p(x: float) -> float:
    """log(1 + x) for x >= 0; small x, the rule after the first rounds, take eight terms of the series."""
    if x < 0.015625:
        return x * polynomial(x, 1.0, -1.0 / 2.0, 1.0 / 3.0, -1.0 / 4.0, 1.0 / 5.0, -1.0 / 6.0, 1.0 / 7.0, -1.0 / 8.0)
    return log(1.0 + x)


@kernel
def polynomial(
    r: float, a0: float, a1: float, a2: float, a3: float, a4: float, a5: float, a6: float, a7: float
) -> float:
    """a0 + a1 r + ... + a7 r^7 in three levels of independent products, which a processor computes side by side."""
    square = r * r
    lower = (a0 + a1 * r) + (a2 + a3 * r) * square
    upper = (a4 + a5 * r) + (a6 + a7 * r) * square
    return lower + upper * (square * square)


@kernel
def exp(x: float) -> float:
    """exp(x) within two units in the last place for x up to 700; 0 below -700.

    x = k log 2 + r with |r| at most half of log 2, and exp(r) by thirteen terms of its series.
    """
    if x < -700.0:
        return 0.0
    k = int(x * INVERSE_LN2 + (0.5 if x > 0.0 else -0.5))
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    near = polynomial(r, 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040, 1 / 40320, 1 / 362880)
    far = 1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600 + r / 6227020800))
    eighth = (r * r) * (r * r) * ((r * r) * (r * r))
    whole = 1.0 + (r + r * r * (near + far * eighth))
    return whole * float_of_bits((k + 1023) << 52)
