"""What can be typed after `surefoot storage`: care for the place where studies are kept."""

import typer

from surefoot.cli import help_pages, options
from surefoot.cli.job import Job
from surefoot.cli.output import Output

app = typer.Typer(rich_markup_mode=None, help="Care for the place where studies are kept.", epilog=help_pages.STORAGE)


@app.command(cls=help_pages.Command)
def upgrade(storage: options.Storage = None, json: options.Json = False) -> Job:
    """Bring its tables up to date; back it up first."""

    def work(output: Output) -> int:
        from surefoot.cli.storage import upgrade_storage

        return upgrade_storage(output, storage)

    return Job(work, json)


@app.command(cls=help_pages.Command)
def backup(path: options.NewFile, storage: options.Storage = None, json: options.Json = False) -> Job:
    """Copy everything into a new SQLite file, as it is now."""

    def work(output: Output) -> int:
        from surefoot.cli.storage import back_up

        return back_up(output, storage, path)

    return Job(work, json)


@app.command(cls=help_pages.Command)
def check(policy: options.AllHandedIn = None, storage: options.Storage = None, json: options.Json = False) -> Job:
    """Look through the file and its rows, and audit every study."""

    def work(output: Output) -> int:
        from surefoot.cli.storage import check_whole

        return check_whole(output, storage, policy or [])

    return Job(work, json)
