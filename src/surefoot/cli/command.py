"""What all commands have in common: how their words are read, and how their help is laid out."""

from pathlib import Path
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand

from surefoot.cli.help_pages import ORDER


class Command(TyperCommand):
    """A command whose help shows its options in groups, as plain text: rich's own form takes twice as long to start."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the words. An empty one is no path: pathlib takes it for the working folder."""
        typed = self.make_parser(ctx).parse_args(args=list(args))[0] if any(map(says_nothing, args)) else {}
        rest = super().parse_args(ctx, args)
        parameters: list[Any] = self.get_params(ctx) if typed else []
        for parameter in parameters:
            if typed.get(parameter.name) == "" and isinstance(ctx.params.get(parameter.name), Path):
                raise BadParameter("is empty. Name a path; . is the working folder.", ctx=ctx, param=parameter)
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the arguments, then each group of options, then those of no group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or kind, []).append(record)
        for title in sorted(groups, key=ORDER.index):
            with formatter.section(title):
                formatter.write_dl(groups[title])


def says_nothing(word: str) -> bool:
    """Whether the word is empty, or an option with an empty value behind it."""
    return word == "" or word.endswith("=")
