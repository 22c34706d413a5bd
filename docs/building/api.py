"""The reference of the Python names, made from `surefoot.__all__` and from docstrings."""

import inspect
import re
from types import ModuleType

from words import blocks

import surefoot as sf

GROUPS = {
    "Stating a problem": ["Problem", "Reward", "Limit", "Dial", "plan"],
    "An experiment in one process": ["Session", "Pull", "Recommendation", "Status", "Certificate", "Trace"],
    "An experiment that is kept": [
        "create_study", "load_study", "import_study", "list_studies", "delete_study", "Study", "SignedHead",
    ],
    "Simulation": ["simulate", "Runs", "sweep", "Sweep", "compare", "Comparison"],
    "Policies": ["SafeGap", "SafeLinGapE", "LinGapE", "Uniform"],
    "How the paper's policies explore": ["RoundRobin", "UniformRandom", "EOptimal", "UntilConfident"],
    "For policies and worlds of your own": ["kernel"],
}  # fmt: skip
MODULES = ["worlds", "policies", "plots", "theory", "errors"]


def reference() -> str:
    """Every public name, in Markdown with directives of autodoc."""
    grouped = {name for names in GROUPS.values() for name in names} | set(MODULES)
    parts = [_section(title, names) for title, names in GROUPS.items()]
    rest = sorted(set(sf.__all__) - grouped)
    if rest:
        parts.append(_section("More", rest))
    return "\n\n".join([*parts, *map(_module, MODULES)])


def _section(title: str, names: list[str]) -> str:
    return "\n\n".join([f"## {title}", *(_directive(f"surefoot.{name}", getattr(sf, name)) for name in names)])


def _module(name: str) -> str:
    module: ModuleType = getattr(sf, name)
    names = [each for each in getattr(module, "__all__", vars(module)) if _is_documented(module, each)]
    listed = [_directive(f"surefoot.{name}.{each}", getattr(module, each)) for each in names]
    first = re.sub(r"([*_<\[\]])", r"\\\1", (inspect.getdoc(module) or "").partition("\n\n")[0])
    return "\n\n".join([f"## surefoot.{name}", first, *listed])


def _is_documented(module: ModuleType, name: str) -> bool:
    """Whether the name is a class or a function of the module that is not listed by itself already."""
    thing = getattr(module, name)
    of_its_own = (inspect.isclass(thing) or inspect.isfunction(thing)) and not name.startswith("_")
    return of_its_own and name not in sf.__all__ and (thing.__module__ or "").startswith(module.__name__)


def _directive(path: str, thing: object) -> str:
    if inspect.isclass(thing):
        members = "" if issubclass(thing, BaseException) else "   :members:\n"
        return f"```{{eval-rst}}\n.. autoclass:: {path}\n{members}```"
    return f"```{{eval-rst}}\n.. autofunction:: {path}\n```"


def as_rst(lines: list[str]) -> None:
    """Turns the lines of a docstring, in place, into reStructuredText: its lists of entries, code, and plain signs."""
    made: list[str] = []
    for block in blocks("\n".join(lines)) if any(lines) else []:
        if isinstance(block, str):
            made += [_escaped(block), ""]
        else:
            for name, words in block.items():
                made += [f"``{name}``", f"   {_escaped(words)}", ""]
    lines[:] = made


def _escaped(text: str) -> str:
    """Text with its code and its emphasis; other signs of reStructuredText stand for themselves."""
    parts = re.split(r"(`[^`]+`|\*[a-z]+\*)", text)
    plain = [re.sub(r"([\\*|`]|_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
    marked = [f"`{part}`" if part.startswith("`") else part for part in parts[1::2]] + [""]
    return "".join(piece for pair in zip(plain, marked, strict=True) for piece in pair)
