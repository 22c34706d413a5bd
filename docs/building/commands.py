"""The reference of the command line, made from the commands themselves: what `--help` says, as a page."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from surefoot.cli.app import app
from surefoot.cli.help_pages import ORDER


def reference() -> str:
    """All commands, in Markdown."""
    root = typer.main.get_command(app)
    with root.make_context("surefoot", [], resilient_parsing=True) as context:
        pages = [_page(command, nested) for command, nested in _commands(root, context)]
    return "\n\n".join(pages)


def _commands(group: Any, context: Any) -> Iterator[tuple[Any, Any]]:
    """The command and, where it has some, its own commands, each in its context."""
    yield group, context
    for name in getattr(group, "commands", {}):
        command = group.get_command(context, name)
        if not command.hidden:
            with command.make_context(name, [], parent=context, resilient_parsing=True) as nested:
                yield from _commands(command, nested)


def _page(command: Any, context: Any) -> str:
    name = context.command_path
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    parts = [f"## {name}", *_paragraphs(command.help or ""), f"```text\n{usage}\n```"]
    parts += [_table(title, records) for title, records in _options(command, context)]
    taught = [part for part in (command.epilog or "").replace("\b\n", "").split("\n\n") if _belongs(part, context)]
    if taught:
        parts.append("```text\n" + "\n\n".join(taught).strip() + "\n```")
    return "\n\n".join(parts)


def _belongs(part: str, context: Any) -> bool:
    """Whether a part of the help is of this command: what exit statuses mean is said once, at the top."""
    return context.parent is None or not part.startswith("Exit status:")


def _paragraphs(text: str) -> list[str]:
    """Help text as Markdown: placeholders in capitals and options stand as code."""
    marked = re.sub(r"(?<![\w`])(--[a-z][\w-]*)", r"`\1`", text.replace("\b\n", ""))
    return [_plain(" ".join(part.split())) for part in marked.split("\n\n")]


def _options(command: Any, context: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    """The arguments and options that help shows, by their groups."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
            groups.setdefault(getattr(parameter, "rich_help_panel", None) or kind, []).append(record)
    return sorted(groups.items(), key=lambda group: ORDER.index(group[0]) if group[0] in ORDER else len(ORDER))


def _table(title: str, records: list[tuple[str, str]]) -> str:
    rows = [f"| `{_cell(flags)}` | {_plain(_cell(words))} |" for flags, words in records]
    return "\n".join([f"| {title} | |", "|---|---|", *rows])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _plain(text: str) -> str:
    """Text in which no sign is taken for Markdown, save code in backquotes."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<\[\]])", r"\\\1", part) for part in parts)
