"""Chromium for the tests of the pages, driven by Playwright."""

import pathlib
import shutil
import sys

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]


def playwright_or_skip():
    """Playwright's function and the browser, or the end of the test with a line that says why."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("skipped: Chromium is not installed (apt-get install chromium)")
        sys.exit(0)
    try:
        from playwright.sync_api import sync_playwright  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("skipped: Playwright is not installed (pip install playwright)")
        sys.exit(0)
    return sync_playwright, browser


class Pages:
    """Pages in a browser. Their errors fail the test; a picture of each can be kept."""

    def __init__(self, playwright, executable, pictures):
        self.browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        self.pictures = pictures and pathlib.Path(pictures)
        self.errors = []

    def open(self, address, width=1366, height=800, **options):
        """A page of that size; options as color_scheme and locale."""
        context = self.browser.new_context(viewport={"width": width, "height": height},
                                           **{"locale": "en-US", "accept_downloads": True, **options})
        page = context.new_page()
        page.set_default_timeout(30000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.goto(address)
        return page

    def picture(self, page, name, whole=True):
        """Keeps a picture, if a folder was given."""
        if self.pictures:
            self.pictures.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=self.pictures / f"{name}.png", full_page=whole)

    def close(self):
        """Ends the browser; errors of the pages are failures."""
        self.browser.close()
        assert not self.errors, self.errors


def fits(page):
    """Whether nothing makes the page wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
