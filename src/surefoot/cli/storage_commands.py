"""What can be typed after `surefoot storage`: care for the place where studies are kept."""

import typer

from surefoot.cli import help_pages, options
from surefoot.cli.command import Command
from surefoot.cli.job import Job
from surefoot.cli.output import Output

app = typer.Typer(rich_markup_mode=None, help="Care for the place where studies are kept.", epilog=help_pages.STORAGE)


@app.command(cls=Command)
def upgrade(storage: options.Storage = None, json: options.Json = False) -> Job:
    """Bring its tables up to date; back it up first."""

    def work(output: Output) -> int:
        from surefoot.cli.storage import upgrade_storage

        return upgrade_storage(output, storage)

    return Job(work, json)


@app.command(cls=Command)
def backup(path: options.NewFile, storage: options.Storage = None, json: options.Json = False) -> Job:
    """Copy everything into a new SQLite file, as it is now."""

    def work(output: Output) -> int:
        from surefoot.cli.storage import back_up

        return back_up(output, storage, path)

    return Job(work, json)


@app.command(cls=Command)
def check(policy: options.AllHandedIn = None, storage: options.Storage = None, json: options.Json = False) -> Job:
    """Look through the file and its rows, and audit every study."""

    def work(output: Output) -> int:
        from surefoot.cli.storage import check_whole

        return check_whole(output, storage, policy or [])

    return Job(work, json)


@app.command(cls=Command)
def create(
    address: options.NewStorage = None, journal: options.NewJournal = "wal",
    shared_with_group: options.SharedWithGroup = False, storage: options.Storage = None, json: options.Json = False,
) -> Job:  # fmt: skip
    """Make a new, empty storage; a study that is created makes a plain one by itself."""

    def work(output: Output) -> int:
        from surefoot.cli.storage_journal import make_storage

        return make_storage(output, address or storage, journal, shared_with_group)

    return Job(work, json)


@app.command(cls=Command)
def journal(word: options.Journal = None, storage: options.Storage = None, json: options.Json = False) -> Job:
    """Say where an SQLite file has its newest results, or change it while nobody uses it."""

    def work(output: Output) -> int:
        from surefoot.cli.storage_journal import change_storage_journal

        return change_storage_journal(output, storage, word)

    return Job(work, json)


@app.command(cls=Command)
def accept(storage: options.Storage = None, json: options.Json = False) -> Job:
    """Take a file that has lost its -wal as it is, without what was in that."""

    def work(output: Output) -> int:
        from surefoot.cli.storage_journal import accept_storage

        return accept_storage(output, storage)

    return Job(work, json)
