"""The natural logarithm, written out: the same last digit on every machine, and no call out of the compiled loop.

System libraries differ in the last digit between versions, between CPU and GPU, and replaying a study on another
machine would then differ too.
"""

from math import inf, nan

from surefoot.core.kernel import float_bits, float_of_bits, kernel

SQRT_HALF_BITS = 0x3FE6A09E667F3BCD  # the bits of the square root of one half
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # high part exact times small integers


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
