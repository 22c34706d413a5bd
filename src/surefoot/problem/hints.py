"""Words that people know from papers and neighbours, and what they are called here."""

HINTS = {
    "lambda": "'regularization'",
    "lambda_": "'regularization'",
    "gamma0": "'safe_level'",
    "delta_r": "'delta'",
    "delta_s": "'delta_safety'",
    "limits": "'safety'",
    "limit": "'at_least' or 'at_most'",
    "eta0": "'at_least' or 'at_most'",
    "min": "'at_least'",
    "max": "'at_most'",
    "sigma": "'noise'",
}
