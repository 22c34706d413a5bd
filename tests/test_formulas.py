"""The formulas of docs/math.md are typeset on the site: each becomes TeX, and no label is lost on the way."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parent.parent / "docs"
MATH = (DOCS / "math.md").read_text("utf-8")


@pytest.fixture
def formulas(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS / "building"))
    return importlib.import_module("formulas")


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS / "building"))
    return importlib.import_module("math_page")


@pytest.mark.parametrize(
    ("plain", "made"),
    [
        ("theta_hat = A_t^-1 b_t", r"\hat{\theta}  = A_{t}^{-1} b_{t}"),
        ("|y|_{A^-1} <= sqrt(lambda) D", r"\lvert y\rvert_{A^{-1}} \le  \sqrt{\lambda } D"),
        ("g-_k <= gamma_k*", r"g_{k}^{-} \le  \gamma_{k}^{\ast}"),
        ("min over s of eta0^s", r"\min_{s} \eta_{0}^{s}"),
        ("E[e | past] = 1e-9", r"E[e \mid  \,\mathrm{past}\,] = 10^{-9}"),
        ("x_k.mu'^s", r"x_{k} \cdot \mu^{\prime,s}"),
    ],
)
def test_a_formula_becomes_tex(formulas: ModuleType, plain: str, made: str) -> None:
    assert re.sub(" +", " ", formulas.tex(plain)) == re.sub(" +", " ", made)


@pytest.mark.parametrize(
    "code", ["level_grid", "bias-free", '"unknown"', "make certify", "lower_bound(x, strict=True)"]
)
def test_code_is_no_formula(page: ModuleType, formulas: ModuleType, code: str) -> None:
    with pytest.raises(formulas.NotAFormula):
        formulas.tex(code)
    assert page.typeset(f"the `{code}` here") == f"the `{code}` here"


def test_every_block_of_the_page_becomes_a_formula_with_its_brackets_closed(page: ModuleType) -> None:
    blocks = page.BLOCK.findall(MATH)
    made = page.typeset(MATH)
    shown = re.findall(r"^\$\$\n(.*?)\n\$\$$", made, re.MULTILINE | re.DOTALL)
    assert len(shown) == len(blocks) > 50
    assert not page.BLOCK.findall(made)
    for formula in [*shown, *re.findall(r"(?<!\$)\$([^$\n]+)\$(?!\$)", made)]:
        assert formula.count("{") == formula.count("}"), formula
        assert formula.count(r"\lvert") == formula.count(r"\rvert"), formula
        assert formula.count(r"\left(") + formula.count(r"\left[") == len(re.findall(r"\\right[)\]]", formula)), formula


def test_labels_and_words_stay_where_they_are(page: ModuleType) -> None:
    label = re.compile(r"\([ACEGOST]\d+'?(?:[-, ]+[ACEGOST]\d+'?)*\)")
    assert label.findall(page.typeset(MATH)) == label.findall(MATH)
    bold = "**Both certify (b).** So *it needs no K.* Then (1, .2) and\n\nn_k pulls."
    assert page.typeset(bold) == "**Both certify (b).** So *it needs no $K$.* Then (1, .2) and\n\n$n_{k}$ pulls."
    text = "With A of (E1) and **(a)** a run i.e. one, the promise is 1 - delta_s."
    assert page.typeset(text) == r"With A of (E1) and **(a)** a run i.e. one, the promise is $1 - \delta_{s}$."
