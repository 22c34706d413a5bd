"""A formula in plain text, as docs/math.md has them, in TeX."""

import re

GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "rho", "sigma",
    "tau", "phi", "omega", "Gamma", "Delta", "Phi",
}  # fmt: skip
FUNCTIONS = {"log", "exp", "det", "min", "max", "inf", "sup", "sinh"}
OPERATORS = {"argmin", "argmax", "sign", "diag", "clip", "kl", "mean", "mod", "div"}
QUANTITIES = {  # numbers that have a word for a name
    "low", "high", "up", "down", "radius", "share", "cap", "noise", "rest", "behind", "plain", "den", "shrink", "score",
    "stray", "lead", "reading", "baseline", "limit", "past", "constant", "width", "size", "square", "discount",
    "boundary", "number", "bits", "RSS", "Lam",
}  # fmt: skip
SIGNS = {
    "<=": r"\le ", ">=": r"\ge ", "<-": r"\leftarrow ", "!=": r"\ne ", "+-": r"\pm ", "-+": r"\mp ", "...": r"\dots ",
    "..": r"\dots ", "~": r"\sim ", "%": r"\% ", "->": r"\to ",
}  # fmt: skip
UPRIGHT = {"LS", "FE", "min", "max"}  # as an index
LABEL = r"\([ACEGOST]\d+'?\)"
TOKEN = re.compile(
    rf"(?P<label>{LABEL})"
    r"|(?P<pair>\bg[+-](?=_|[\s,;)\]/]|$))"  # g- and g+, the ends of a level's interval
    r"|(?P<tiny>\d+(?:\.\d+)?e-?\d+)"
    r"|(?P<number>\d+(?:,\d{3})*(?:\.\d+)?|(?<![\w)*'])\.\d+)"
    r"|(?P<word>[A-Za-z]+\d?)"
    r"|(?P<sign><=|>=|<-|->|!=|\+-|-\+|\.\.\.|\.\.|[~%])"
    r"|(?P<gap>\s+)"
    r"|(?P<other>.)"
)


class NotAFormula(ValueError):
    """The text holds something that no formula has."""


def tex(plain: str, *, words: bool = False) -> str:
    """The formula in TeX; words that are no names are refused, or set as words."""
    return _Reader(plain, words).formula()


class _Reader:
    """Reads one formula from left to right."""

    def __init__(self, plain: str, words: bool) -> None:
        plain = plain.replace(r"\*", "*").replace(r"\|", "|").replace("log_det", "log det")
        plain = re.sub(r" +(?=(?:<-|=) )", " ", plain)  # lined up for the eye
        self.tokens = [(found.lastgroup or "", found.group()) for found in TOKEN.finditer(plain)]
        self.place = 0
        self.words = words
        self.inside_bars = False

    def formula(self) -> str:
        text = self.until("")
        if self.inside_bars:
            raise NotAFormula("a bar is not closed")
        return re.sub(r"\\text\{[^{}]*\}(?:\s*\\text\{[^{}]*\})+", _in_one, text).strip()

    def until(self, close: str) -> str:
        """What is read up to the closing bracket, or up to the end."""
        parts: list[str] = []
        while self.place < len(self.tokens):
            kind, text = self.tokens[self.place]
            self.place += 1
            if text == close:
                return "".join(parts)
            parts.append(self.piece(kind, text))
        if close:
            raise NotAFormula(f"a bracket is not closed by {close}")
        return "".join(parts)

    def piece(self, kind: str, text: str) -> str:
        match kind:
            case "gap":
                return r"\qquad " if len(text) > 2 else r"\quad " if len(text) == 2 else " "
            case "label":
                return rf"\text{{{text}}}"
            case "pair":
                return self.symbol("g", power=text[1])
            case "tiny":
                digits, power = text.split("e")
                return (rf"{digits} \cdot " if digits != "1" else "") + f"10^{{{int(power)}}}"
            case "number":
                return self.symbol(text.replace(",", "{,}"))
            case "word":
                return self.word(text)
            case "sign":
                return SIGNS[text]
        return self.other(text)

    def word(self, text: str) -> str:
        name, digit = (text[:-1], text[-1]) if text[-1].isdigit() else (text, "")
        if text == "sqrt" and self.following() == "(":
            self.place += 1
            return self.symbol(rf"\sqrt{{{self.until(')')}}}")
        if text in ("sum", "prod"):
            return (rf"\{text}" + self.over() if self.over_what() else self.symbol(rf"\{text}")) + " "
        if text in FUNCTIONS or text in OPERATORS:
            named = rf"\{text}" if text in FUNCTIONS else rf"\operatorname*{{{text}}}"
            return (named + self.over() if self.over_what() else self.symbol(named)) + " "
        if name in GREEK:
            return self.symbol(rf"\{name}", digit) + " "
        if len(name) == 1:
            return self.symbol(name, digit)
        if text in QUANTITIES:
            return self.symbol(rf"\,\mathrm{{{text}}}") + r"\,"
        if self.words:
            return rf"\text{{ {text} }}"
        raise NotAFormula(text)

    def over_what(self) -> re.Match[str] | None:
        rest = "".join(text for _, text in self.tokens[self.place :])
        return re.match(r" over ([^()]{1,40}?) of ", rest)

    def over(self) -> str:
        """What a least or a mean value is taken over: "over k of" as an index."""
        found = self.over_what()
        assert found is not None
        length = len(found.group())
        while length > 0:
            length -= len(self.tokens[self.place][1])
            self.place += 1
        return rf"_{{{tex(found[1], words=True)}}}"

    def other(self, text: str) -> str:
        if text == "|":
            return self.bar()
        if text in "([":
            close = ")" if text == "(" else "]"
            inside = self.until(close)
            left, right = (r"\left", r"\right") if re.search(r"\\(sqrt|sum|prod)", inside) else ("", "")
            return self.symbol(f"{left}{text}{inside}{right}{close}")
        if text == ".":
            factor = self.place < len(self.tokens) and self.tokens[self.place][0] != "gap"
            return r" \cdot " if factor else ". "
        if text == "*":
            return r"\ast "
        if text in ')]}{"`$\\&#' or ord(text) > 127:
            raise NotAFormula(text)
        return text

    def bar(self) -> str:
        """Bars around a length; one that stands alone says "given"."""
        around = [self.tokens[at][0] for at in (self.place - 2, self.place) if 0 <= at < len(self.tokens)]
        if around == ["gap", "gap"]:
            return r"\mid "
        self.inside_bars = not self.inside_bars
        return r"\lvert " if self.inside_bars else self.symbol(r"\rvert")

    def following(self) -> str:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def symbol(self, base: str, digit: str = "", power: str = "") -> str:
        """The symbol with the hat, primes, stars, indices and powers that follow it."""
        low, high, primes = ([digit] if digit else []), ([power] if power else []), 0
        while (mark := self.following()) and mark in "'*_^":
            self.place += 1
            if mark == "'":
                primes += 1
            elif mark == "*":
                high.append(r"\ast")
            elif mark == "_" and self.following() == "hat":
                self.place += 1
                base = rf"\hat{{{base}}}"
            else:
                (low if mark == "_" else high).append(self.script())
        high = [r"\prime " * primes, *high] if primes else high
        joined = [",".join(part.strip() for part in parts) for parts in (low, high)]
        return base + "".join(f"{mark}{{{text}}}" for mark, text in zip("_^", joined, strict=True) if text)

    def script(self) -> str:
        """One index or power: a name, a number, one with a sign, or what a bracket holds."""
        if self.place >= len(self.tokens):
            raise NotAFormula("an index is missing")
        kind, text = self.tokens[self.place]
        self.place += 1
        if text in "{(":
            return self.until("}" if text == "{" else ")")
        if text in "+-":
            kind, text, sign = "", self.following(), text
            known = text.isalnum()
            self.place += known
            return sign + text if known else sign
        if text == "*":
            return r"\ast"
        if kind not in ("word", "number"):
            raise NotAFormula(text)
        if text == "T":
            return r"\top"
        if text in GREEK:
            return rf"\{text}"
        return rf"\mathrm{{{text}}}" if text in UPRIGHT or len(text) > 2 else text


def _in_one(found: re.Match[str]) -> str:
    """Neighbouring words as one."""
    return r"\text{" + re.sub(" +", " ", " ".join(re.findall(r"\\text\{([^{}]*)\}", found.group()))) + "}"
