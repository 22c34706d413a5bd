"""What the exit status says, in one place: the commands return these and `--help` explains them."""

OK = 0
BAD_INPUT = 2
UNDECIDED = 3
CONTRADICTION = 4
BREAKDOWN = 5
ENDED = 6
HELD = 7
STORAGE = 8
FAULTS = 9
ALARM = 10
INTERRUPTED = 130  # 128 + SIGINT, as shells count
CLOSED_PIPE = 141  # 128 + SIGPIPE: the reader left early, as with any other program in a pipe

BY_OUTCOME = {
    "certified": OK, "measured": OK, "undecided": UNDECIDED, "contradiction": CONTRADICTION, "breakdown": BREAKDOWN,
    "alarm": ALARM,
}  # fmt: skip

MEANINGS = {
    OK: "done; for `run`: the answer is certified, or measured where the policy certifies nothing",
    BAD_INPUT: "bad input or usage; nothing was pulled",
    UNDECIDED: "undecided: the budget of pulls is spent",
    CONTRADICTION: "contradiction: the data rule out every model that the problem allows",
    BREAKDOWN: "numerical breakdown, or an error inside surefoot",
    ENDED: "the study has ended: there is no further pull to ask for",
    HELD: "no pull now: the study is frozen, an implausible result is held, or all that is left of its budget is open",
    STORAGE: "the storage failed; nothing of this step was written",
    FAULTS: "an audit or a check found something wrong",
    ALARM: "alarm: the data contradict what the problem states; nothing is certified",
    INTERRUPTED: "interrupted by Ctrl-C",
}


def of_error(error: BaseException) -> int:
    """The exit status for an error that ends the program."""
    from surefoot import errors

    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, errors.NumericalBreakdown):
        return BREAKDOWN
    if isinstance(error, errors.Finished):
        return ENDED
    if isinstance(error, errors.Implausible):
        return HELD if error.held else BAD_INPUT  # of a table, or a correction, nothing is held
    if isinstance(error, errors.Frozen | errors.BudgetOpen | errors.Held):
        return HELD
    if isinstance(error, errors.StorageError):
        return STORAGE
    if isinstance(error, errors.SurefootError | OSError | MemoryError):  # what was refused: nothing has changed
        return BAD_INPUT
    return BREAKDOWN
