"""docs/math.md with its formulas in TeX: those in blocks of their own, those in backquotes, and symbols in the text."""

import re

from formulas import FUNCTIONS, GREEK, QUANTITIES, NotAFormula, tex

BLOCK = re.compile(r"^ {4}\S.*\n(?: {4,}\S.*\n)*", re.MULTILINE)
ONE = r"[ACEGOST]\d+'?"
KEPT = re.compile(  # what is no running text: code, formulas, targets of links, labels, ends of emphasis, headings
    rf"`[^`\n]+`|^\$\$\n(?:.+\n)+\$\$$|\]\([^)]*\)|\((?:{ONE})(?:(?:, | and |-){ONE})*\)"
    r"|(?<=\S)[.,;:]\*\*?(?=\s)|^#+ .*$|^\|[-:| ]+\|$",
    re.MULTILINE,
)
RELATIONS = {"<=", ">=", "<", ">", "=", "!=", "<-"}
SURE = re.compile(r" <= | >= |\| past")  # no code has these
ARTICLES = {"a", "A"}  # these may be words


LONG = 90  # characters; formulas side by side then stand one below the other


def typeset(page: str) -> str:
    """The page with TeX in place of its formulas; what is no formula stays as it is."""
    page = BLOCK.sub(lambda found: displayed(found.group()), page)
    parts, place = [], 0
    for found in KEPT.finditer(page):
        parts += [in_text(page[place : found.start()]), quoted(found.group())]
        place = found.end()
    return "".join([*parts, in_text(page[place:])])


def displayed(block: str) -> str:
    """A block of formulas, one below the other."""
    plain = [line.strip() for line in block.splitlines()]
    if len(plain) == 1 and len(plain[0]) > LONG:
        plain = re.sub(r" {3,}(=|or|and) {3,}", r"   \1 ", plain[0])
        plain = re.split(" {3,}", plain)
    lines = [tex(line, words=True) for line in plain]
    rows = r" \\" + "\n"
    inside = lines[0] if len(lines) == 1 else rf"\begin{{aligned}} & {f'{rows} & '.join(lines)} \end{{aligned}}"
    return f"$$\n{inside}\n$$\n"


def quoted(part: str) -> str:
    """What stands in backquotes, as a formula if it is one."""
    if not part.startswith("`"):
        return part
    try:
        return f"${tex(part[1:-1], words=SURE.search(part) is not None)}$"
    except NotAFormula:
        return part


def in_text(text: str) -> str:
    """Running text in which runs of symbols are formulas."""
    words = re.split(r"(\s+)", text)
    done: list[str] = []
    run: list[str] = []  # words and the white space between them
    for at in range(0, len(words), 2):
        space = words[at - 1] if at else ""
        if "\n\n" in space:
            done.append(_typeset_run(run))
            run = []
        if not _is_symbolic(words[at]):
            done += [_typeset_run(run), space, words[at]]
            run = []
        else:
            run += [space, words[at]] if run else [words[at]]
            if len(run) == 1:
                done.append(space)
            if _ends(run):
                done.append(_typeset_run(run))
                run = []
    return "".join([*done, _typeset_run(run)])


def _is_symbolic(word: str) -> bool:
    """Whether the word can be part of a formula."""
    core = word.strip(",.;:()[]")
    if (
        word.startswith("*")
        or (not core and word)
        or re.fullmatch(r"\([a-z]\)[,.;:]?", word)
        or core in {"i.e", "e.g"}
        or core.endswith("'s")
    ):
        return False
    if core in {"|", "-"}:
        return core == "-"
    names = re.findall(r"[A-Za-z]+", core.replace("_hat", ""))
    bare = re.sub(r"_(LS|FE|min|[a-z]{1,2})(?![a-z])", "", core.replace("_hat", ""))
    known = all(
        len(name) == 1 or name in GREEK | FUNCTIONS | {"sqrt"} or (f"{name}_" in core and name in QUANTITIES)
        for name in re.findall(r"[A-Za-z]+", bare)
    )
    return (
        bool(core) and known and not re.search(r'["→`]|\w-[a-z]{2}', word) and (bool(names) or _is_sign_or_number(core))
    )


def _is_sign_or_number(core: str) -> bool:
    return re.fullmatch(r"[-+=<>/!\d.,()\[\]|^*]+|\d+e-?\d+", core) is not None


def _ends(run: list[str]) -> bool:
    """Whether the run is over with its last word: by a comma or a full stop outside brackets."""
    text = "".join(run)
    return run[-1][-1] in ",.;:" and text.count("(") + text.count("[") <= text.count(")") + text.count("]")


def _is_strong(word: str) -> bool:
    """Whether the word is a symbol for certain, and not a number or an article."""
    names = re.findall(r"[A-Za-z]+", word) or re.findall(r"\d\^-?\d", word)
    alone = word.strip(",.;:()\\")
    return (
        any(name in GREEK or len(name) == 1 or "^" in name or f"{name}_" in word for name in names)
        and alone not in ARTICLES
    )


def _typeset_run(run: list[str]) -> str:
    """The run as a formula between what does not belong to it."""
    first, last = 0, len(run)
    while first < last and not (_is_strong(run[first]) or run[first] in RELATIONS or _before_sign(run[first:last])):
        first += 1
    while last > first and not (
        _is_strong(run[last - 1]) or run[last - 1] in RELATIONS or _after_sign(run[first:last])
    ):
        last -= 1
    if _balanced(run) and not _balanced(run[first:last]):
        first, last = 0, len(run)
    core = "".join(run[first:last])
    if not any(_is_strong(word) for word in run[first:last]):
        return "".join(run)
    core, lead, tail = _trimmed(core)
    try:
        made = f"${tex(re.sub(chr(10), ' ', core))}$"
    except NotAFormula:
        made = (
            core
            if last - first == 1
            else "".join(_typeset_run([word]) if word.strip() else word for word in run[first:last])
        )
        return "".join(run[:first]) + (lead + made + tail if last - first == 1 else made) + "".join(run[last:])
    return "".join(run[:first]) + lead + made + tail + "".join(run[last:])


def _balanced(run: list[str]) -> bool:
    text = "".join(run)
    return text.count("(") == text.count(")") and text.count("[") == text.count("]")


def _before_sign(run: list[str]) -> bool:
    """Whether the first word is an operand of the sign that follows it."""
    return bool(run[0].strip()) and run[0] not in "+-/" and len(run) > 2 and run[2] in RELATIONS | {"+", "-", "/"}


def _after_sign(run: list[str]) -> bool:
    return bool(run[-1].strip()) and run[-1] not in "+-/" and len(run) > 2 and run[-3] in RELATIONS | {"+", "-", "/"}


def _trimmed(core: str) -> tuple[str, str, str]:
    """The formula without brackets that are closed elsewhere and without the punctuation after it."""
    lead = tail = ""
    while core and core[-1] in ",.;:":
        core, tail = core[:-1], core[-1] + tail
    while core.count("(") > core.count(")") and core.startswith("("):
        core, lead = core[1:], lead + "("
    while core.count(")") > core.count("(") and core.endswith(")"):
        core, tail = core[:-1], ")" + tail
        while core and core[-1] in ",.;:":
            core, tail = core[:-1], core[-1] + tail
    return core, lead, tail
