#!/usr/bin/env python3
"""The page of `heed serve` and that of `heed see attention`, in Chromium.

Usage: serve_test.py HEED ROOT [PICTURES] [NAME=FOLDER…]

Pictures are kept in the folder PICTURES. Models are small and random unless folders are given: a translator, a language
model and a sentence encoder. Without Chromium or Playwright the test is skipped with a line.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[2])
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(ROOT / "tests" / "cli")]
from browser_support import Pages, fits, playwright_or_skip  # noqa: E402 pylint: disable=wrong-import-position
from serve_support import RUNNING, Server, make_models  # noqa: E402 pylint: disable=wrong-import-position

HEED = sys.argv[1]
PICTURES = sys.argv[3] if len(sys.argv) > 3 else None


def translate(pages, place, sentence):
    """Types a sentence and waits for its translation and its attention."""
    page = pages.open(place)
    page.locator("#text").press_sequentially(sentence)
    page.wait_for_selector("#translation .word")
    page.wait_for_selector("#explorer .thumb")
    assert page.locator("#translation").inner_text().strip()
    return page


def test_translation(pages, place, sentence):
    """Typing translates; pointing at a word marks what it was made from; alternatives are listed."""
    page = translate(pages, place, sentence)
    pages.picture(page, "translate")
    word = page.locator("#translation .word").first
    word.hover()
    assert page.locator("#aligned .word.on").count() == 1, "the source of the word is marked"
    pages.picture(page, "translate-hover", whole=False)
    page.mouse.move(0, 0)
    assert page.locator(".word.on").count() == 0
    word.focus()
    assert page.locator("#aligned .word.on").count() == 1, "the keyboard can do the same"
    assert fits(page)


def test_explorer(pages, place, sentence):
    """Kinds, layers and heads, tokens, zoom, files, and a link that keeps the state."""
    page = translate(pages, place, sentence)
    page.get_by_role("button", name="Encoder").click()
    assert page.locator(".map-title").inner_text().startswith("Encoder")
    page.locator(".thumb[aria-label='layer 1, head 2']").click()
    assert "layer 1, head 2" in page.locator(".map-title").inner_text()
    page.locator(".tokens.query .token").nth(1).click()
    assert page.locator(".token.chosen").count() == 1 and "attends to" in page.locator(".where").inner_text()
    page.get_by_role("button", name="Larger").click()
    pages.picture(page, "explorer")
    link = page.url
    assert "view=encoder%2F1%2F2%2Fq2%2F" in link, link
    for name in ("SVG", "PNG"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        content = pathlib.Path(download.value.path()).read_bytes()
        assert content.startswith(b"<svg" if name == "SVG" else b"\x89PNG"), content[:20]
        if pages.pictures:
            (pages.pictures / f"download.{name.lower()}").write_bytes(content)
    again = pages.open(link)
    again.wait_for_selector("#explorer .thumb")
    assert again.locator("#text").input_value() == sentence
    assert "layer 1, head 2" in again.locator(".map-title").inner_text()
    assert again.locator(".token.chosen").count() == 1


def test_odd_texts(pages, place):
    """Texts with signs of addresses come back from a link as they were."""
    text = "50%41 of a&b=c #1? +2"
    page = pages.open(place)
    page.locator("#text").fill(text)
    page.wait_for_selector("#explorer .thumb")
    assert pages.open(page.url).locator("#text").input_value() == text
    assert pages.open(f"{place}#translate?text=%").locator("#text").input_value() == "%"


def test_long_sentence(pages, place, sentence):
    """The map of a long sentence fits; lines between tokens are drawn for the chosen token only."""
    page = pages.open(place)
    copies = 6 if sys.argv[4:] else 3  # random models write long results
    page.locator("#text").fill(" ".join([sentence] * copies))
    page.wait_for_selector("#explorer .thumb")
    tokens = page.locator(".tokens.query .token").count() + page.locator(".tokens.key .token").count()
    assert tokens > 100 and page.locator(".lines path").count() == 0
    frame = page.evaluate("""(({clientWidth, scrollWidth}) => scrollWidth <= clientWidth)(
        document.querySelector(".map-frame"))""")
    assert frame and fits(page)
    page.locator(".tokens.query .token").nth(3).click()
    assert page.locator(".lines path").count() > 0
    page.get_by_role("button", name="Larger").click()
    pages.picture(page, "long")


def test_keyboard(pages, place, sentence):
    """Everything without a mouse: tabs by arrows, the explorer by keys."""
    page = translate(pages, place, sentence)
    page.locator("#tab-translate").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#write").is_visible() and page.evaluate("document.activeElement.id") == "tab-write"
    page.keyboard.press("ArrowRight")
    assert page.locator("#similar").is_visible()
    page.keyboard.press("ArrowRight")
    assert page.locator("#translate").is_visible()
    page.keyboard.press("Escape")
    title = page.locator(".map-title")
    before = title.inner_text()
    page.keyboard.press("ArrowDown")
    assert title.inner_text() != before
    page.keyboard.press("1")
    assert title.inner_text().startswith("Encoder")
    names = page.evaluate("""[...document.querySelectorAll("button, input, select, textarea")]
        .filter((e) => !e.textContent.trim() && !e.labels?.length && !e.ariaLabel && !e.closest(".thumb"))
        .map((e) => e.outerHTML)""")
    assert not names, f"without a name for screen readers: {names}"


def test_languages_and_sizes(pages, place, sentence):
    """English and Chinese, dark and light, from a phone to a wide screen."""
    page = translate(pages, place, sentence)
    page.locator("#language").click()
    page.wait_for_selector("text=翻译")
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    page.wait_for_selector("#explorer .thumb")
    pages.picture(page, "chinese")
    assert pages.open(place, locale="zh-CN").locator("#tab-translate").inner_text() == "翻译"
    for name, width, height, scheme in (("phone", 360, 740, "light"), ("phone-dark", 390, 844, "dark"),
                                        ("tablet", 820, 1180, "light"), ("wide", 2560, 1300, "light"),
                                        ("wide-dark", 1920, 1080, "dark")):
        page = pages.open(f"{place}#translate?text={sentence}", width, height, color_scheme=scheme)
        page.wait_for_selector("#explorer .thumb")
        page.wait_for_selector("#translation .word")
        pages.picture(page, name)
        assert fits(page), name


def test_text(pages, place):
    """Tokens come one after another, as a text and as a chat; a mistake is told."""
    page = pages.open(f"{place}#write")
    page.locator("#prompt").fill("a dog")
    page.locator("#temperature").fill("0")
    page.locator("#tokens").fill("40")
    page.evaluate("""window.sizes = new Set(); new MutationObserver(() => sizes.add(written.textContent.length))
        .observe(written, { childList: true, characterData: true, subtree: true })""")
    page.locator("#go").click()
    page.wait_for_selector("#write-note:has-text('tokens')")
    assert page.locator("#written").inner_text().startswith("a dog")
    assert page.evaluate("sizes.size") > 3, "more than one piece"
    pages.picture(page, "text")
    page.locator("#chat").check()
    page.locator("#go").click()
    page.wait_for_selector("#write-note:has-text('tokens')")
    page.locator("#tokens").fill("1000000")
    page.locator("#go").click()
    page.wait_for_selector("#write-note.bad")
    pages.errors = [error for error in pages.errors if "status of 400" not in error]


def test_similarity(pages, place):
    """A table of similarities with ones on its diagonal."""
    page = pages.open(f"{place}#similar")
    page.locator("#sentences").fill("a dog runs\nthe cat sleeps\na dog runs")
    page.locator("#compare").click()
    page.wait_for_selector("#matrix td")
    rows = [row.locator("td").all_inner_texts() for row in page.locator("#matrix tr").all()[1:]]
    assert [rows[i][i] for i in range(3)] == ["1.00"] * 3 and rows[0][2] == "1.00", rows
    pages.picture(page, "similarity")
    page.set_viewport_size({"width": 360, "height": 740})
    pages.picture(page, "similarity-phone")
    heights = page.evaluate("[...document.querySelectorAll('#matrix tr:first-child th')].map((e) => e.offsetHeight)")
    assert fits(page) and max(heights) < 40, "numbers are not broken"


def test_see_attention(pages, folder, model, sentence):
    """The page of `heed see attention`: all layers are visible, words have no marks, long sentences can be zoomed."""
    for name, text in (("see", sentence), ("see-long", " ".join([sentence.rstrip(".")] * 12))):
        path = folder / f"{name}.html"
        subprocess.run([HEED, "see", "attention", "--model", model, "-o", path, text], check=True, capture_output=True)
        for size, width, height in (("", 1366, 800), ("-wide", 2560, 1300), ("-phone", 360, 740)):
            page = pages.open(path.as_uri(), width, height)
            page.wait_for_selector(".thumb")
            pages.picture(page, name + size)
            assert fits(page), (name, size)
            tokens = "".join(page.locator(".token").all_inner_texts())
            assert not re.search("[▁Ġ]", tokens), tokens
            hidden = page.evaluate("(() => { const e = document.querySelector('.wide');"
                                   " return e.scrollHeight - e.clientHeight; })()")
            assert hidden <= 1, "the list of layers has no scroll bar of its own"
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert re.search(r"/\d+$", page.url), page.url


def run(pages, folder, models, sentence):
    """All tests. Random models write long results."""
    server = Server(HEED, models, "--attention-tokens=600")
    place = f"http://127.0.0.1:{server.port}/"
    model = models[0].split("=", 1)[1]
    for name, given in (("translation", (place, sentence)), ("explorer", (place, sentence)), ("odd_texts", (place,)),
                        ("long_sentence", (place, sentence)), ("keyboard", (place, sentence)),
                        ("languages_and_sizes", (place, sentence)), ("text", (place,)), ("similarity", (place,)),
                        ("see_attention", (folder, model, sentence))):
        globals()[f"test_{name}"](pages, *given)
        print(f"test_{name}: passed", flush=True)
    assert server.stop() == 0


def main():
    """Skips, or runs the tests."""
    start, browser = playwright_or_skip()
    with tempfile.TemporaryDirectory() as place, start() as playwright:
        folder = pathlib.Path(place)
        models, sentence = sys.argv[4:], "The small dog sleeps in the old garden."
        if not models:
            models, sentences = make_models(HEED, ROOT, folder)
            sentence = sentences[0]
        pages = Pages(playwright, browser, PICTURES)
        try:
            run(pages, folder, models, sentence)
            pages.close()
        finally:
            for process in RUNNING:
                process.kill()


if __name__ == "__main__":
    main()
