"""A real browser, where one is there: SUREFOOT_BROWSER names it, or a Chromium is on the PATH."""

import os
import re
import shutil
import subprocess
from html import escape
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
MEASURE = """
<!DOCTYPE html><body style="margin:0"><iframe id="page" style="width:{width}px;height:2000px;border:0" srcdoc="{page}">
</iframe><script>
document.getElementById("page").onload = (event) => {{
  const page = event.target.contentDocument, root = page.documentElement, wide = [];
  for (const each of page.querySelectorAll("body *")) {{
    const box = each.getBoundingClientRect();
    const scrolled = each.closest(".wide") && each.closest(".wide").scrollWidth > each.closest(".wide").clientWidth;
    if (box.right > root.clientWidth + 1 || scrolled) wide.push(each.tagName + " " + Math.round(box.right));
  }}
  const images = [...page.images].filter(each => each.complete && each.naturalWidth > 0).length;
  const told = {{wide: wide.slice(0, 5), scroll: root.scrollWidth, client: root.clientWidth, images: images,
    all: page.images.length,
    shown: [...page.images].filter(each => each.offsetWidth > 0).length,
    ground: page.defaultView.getComputedStyle(page.body).backgroundColor,
    scripts: page.scripts.length, links: page.links.length}};
  document.title = JSON.stringify(told);
}};
</script>
"""


def browser() -> str:
    """The browser, or a test that is left out because there is none."""
    found = os.environ.get("SUREFOOT_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no browser here: name one with SUREFOOT_BROWSER")
    return found


def measured(page: str, width: int, folder: Path, *, dark: bool = False) -> str:
    """What the browser found on the page when it was so wide, as JSON."""
    place = folder / "measured.html"
    place.write_text(MEASURE.format(width=width, page=escape(page)), "utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    done = subprocess.run(
        [
            browser(), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
            "--window-size=1400,2200", "--virtual-time-budget=8000", scheme, "--dump-dom", place.as_uri(),
        ],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    found = re.search(r"<title>(.*?)</title>", done.stdout)
    assert found, done.stderr[-2000:]
    return found[1].replace("&quot;", '"')
