#!/usr/bin/env python3
"""Extracts the code of the documents, so that the tests can compile and run it, and checks the documents.

A ```cpp block with `int main` becomes a program of its own. Every other ```cpp block becomes a function of one
program, which includes heed/heed.h and runs the function it is given by name. A ```cpp no-run block is only
compiled. A ```sh or ```console block may call only verbs that ./run knows.

X.zh-CN.md is the Chinese page of X.md. Both have the same code, the same pictures and the same headings, so the
code of Chinese pages is compared and not compiled.

  snippets.py --check     prints what is wrong with the documents
  snippets.py --out DIR   writes DIR/<document>_<line>.cpp and DIR/fragments.cpp, and prints for each snippet
                          "program|fragment run|compile <document>_<line>"
"""

import argparse
import itertools
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\S*)[ \t]*(.*)$")
HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)\s#]+)[^)]*\)")
CHINESE = ".zh-CN.md"
# Folders in which every page has a Chinese page.
IN_TWO_LANGUAGES = ("docs/attention", "docs/concepts", "docs/how-to", "docs/models")
RUN_CALL = re.compile(r"^\s*(?:\$ )?\./run(?:[ \t]+(\S+))?", re.MULTILINE)
FRAGMENTS = """#include <cstdio>
#include <cstring>

#include "heed/heed.h"

using namespace heed;

{functions}
int main(int argc, char** argv) {{
  const struct {{
    const char* name;
    void (*run)();
  }} fragments[] = {{
{table}
  }};
  for (const auto& fragment : fragments) {{
    if (argc == 2 && std::strcmp(argv[1], fragment.name) == 0) return fragment.run(), 0;
  }}
  std::fputs("no such fragment\\n", stderr);
  return 2;
}}
"""
FUNCTION = """static void {name}() {{
#line {line} "{path}"
{code}
}}
"""


class Snippet:
    def __init__(self, path, line, language, words):
        self.path, self.line, self.language, self.words = path, line, language, words
        self.lines = []

    @property
    def code(self):
        return "\n".join(self.lines)

    @property
    def name(self):
        return re.sub(r"\W+", "_", self.path.removesuffix(".md")) + f"_{self.line}"

    @property
    def whole(self):
        """Whether it is a complete program."""
        return re.search(r"\bint main\b", self.code) is not None

    @property
    def where(self):
        return f"{self.path}:{self.line}"


def documents():
    names = [ROOT / name for name in ("README.md", "README.zh-CN.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    return [path for path in names + sorted((ROOT / "docs").rglob("*.md")) if path.is_file()]


def snippets_of(path):
    """Returns the fenced blocks of a document, in order."""
    found, current = [], None
    name = path.relative_to(ROOT).as_posix()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if current is None and fence:
            current = Snippet(name, number + 1, fence[1], fence[2].split())
        elif current is not None and line.rstrip() == "```":
            found.append(current)
            current = None
        elif current is not None:
            current.lines.append(line)
    if current is not None:
        raise SystemExit(f"{current.where}: the block that starts here is not closed")
    return found


def run_verbs():
    """Returns the verbs of ./run."""
    return set(re.search(r"^verbs=\((.*?)\)", (ROOT / "run").read_text(encoding="utf-8"), re.M)[1].split())


def check_verbs(snippet, verbs):
    for match in RUN_CALL.finditer(snippet.code):
        verb = match[1]
        if verb and verb not in verbs and not verb.startswith(("#", "-")):
            yield f"{snippet.where}: ./run has no verb '{verb}'"


def code_only(snippet):
    """The lines of code without comments, which are translated, and without empty lines."""
    mark = r"//.*" if snippet.language == "cpp" else r"(^|\s)#.*"
    lines = (re.sub(mark, "", line).rstrip() for line in snippet.lines)
    return [line for line in lines if line]


class Page:
    """What the two languages of a page share: blocks, pictures and headings, each with its line."""

    def __init__(self, path):
        self.name = path.relative_to(ROOT).as_posix()
        self.blocks = snippets_of(path)
        self.headings, self.pictures, self.links = [], [], []
        lines = path.read_text(encoding="utf-8").splitlines()
        for block in self.blocks:
            lines[block.line - 1:block.line - 1 + len(block.lines)] = [""] * len(block.lines)
        for number, line in enumerate(lines, 1):
            if heading := HEADING.match(line):
                self.headings.append((number, heading[1], line))
        text = "\n".join(lines)
        for link in LINK.finditer(text):  # its text may go over a line end
            number = text.count("\n", 0, link.start()) + 1
            (self.pictures if link[1] else self.links).append((number, link[2], link[2]))


def differences(what, english, chinese, ours, theirs):
    """Where two lists of (line, what must be equal, text) first differ, as a message."""
    for a, b in itertools.zip_longest(ours, theirs):
        if a is None:
            yield f"{chinese}:{b[0]}: {what} '{b[2]}' is not in {english}"
        elif b is None:
            yield f"{chinese}: {what} '{a[2]}' of {english}:{a[0]} is missing"
        elif a[1] != b[1]:
            yield f"{chinese}:{b[0]}: {what} '{b[2]}', but {english}:{a[0]} has '{a[2]}'"
        else:
            continue
        return


def check_blocks(english, chinese):
    """Both pages have the same code; only comments differ."""
    for a, b in itertools.zip_longest(english.blocks, chinese.blocks):
        if a is None:
            yield f"{b.where}: the ```{b.language} block is not in {english.name}"
        elif b is None:
            yield f"{chinese.name}: the ```{a.language} block of {a.where} is missing"
        elif (a.language, a.words) != (b.language, b.words):
            yield f"{b.where}: a ```{b.language} block, but {a.where} has ```{a.language}"
        elif code_only(a) != code_only(b):
            yield f"{b.where}: the code differs from that of {a.where}"
        else:
            continue
        return


def check_language_links(page, twin):
    """The page links to its twin at the top; a Chinese page links to Chinese pages where they exist."""
    own = pathlib.PurePath(twin.name).name
    if not any(number <= 5 and target == own for number, target, _ in page.links):
        yield f"{page.name}:1: no link to {own} in the first five lines"
    if not page.name.endswith(CHINESE):
        return
    folder = pathlib.PurePath(page.name).parent
    for number, target, _ in page.links:
        if target == own or not target.endswith(".md") or target.endswith(CHINESE) or ":" in target:
            continue
        chinese = os.path.normpath(folder / target).removesuffix(".md") + CHINESE
        if (ROOT / chinese).is_file():
            yield f"{page.name}:{number}: links to {target}; the Chinese page is {chinese}"


def check_languages():
    """A page and its Chinese page have the same code, pictures and headings."""
    names = {path.relative_to(ROOT).as_posix(): path for path in documents()}
    for name, path in names.items():
        if name.endswith(CHINESE):
            if name.removesuffix(CHINESE) + ".md" not in names:
                yield f"{name}: there is no English page {name.removesuffix(CHINESE)}.md"
            continue
        twin = names.get(name.removesuffix(".md") + CHINESE)
        if twin is None:
            if name.startswith(tuple(folder + "/" for folder in IN_TWO_LANGUAGES)):
                yield f"{name}: has no Chinese page {name.removesuffix('.md')}{CHINESE}"
            continue
        english, chinese = Page(path), Page(twin)
        pages = english.name, chinese.name
        yield from check_blocks(english, chinese)
        yield from differences("picture", *pages, english.pictures, chinese.pictures)
        yield from differences("heading", *pages, english.headings, chinese.headings)
        yield from check_language_links(english, chinese)
        yield from check_language_links(chinese, english)


def check():
    verbs = run_verbs()
    for path in documents():
        for snippet in snippets_of(path):
            if snippet.language in ("sh", "console", "bash", "shell"):
                yield from check_verbs(snippet, verbs)
    yield from check_languages()


def fragments_program(fragments):
    functions = "\n".join(FUNCTION.format(name=f.name, line=f.line, path=f.path, code=f.code) for f in fragments)
    table = "\n".join(f'      {{"{f.name}", {f.name}}},' for f in fragments)
    return FRAGMENTS.format(functions=functions, table=table)


def write(out):
    """Writes the programs that changed, and removes those whose snippet is gone."""
    out.mkdir(parents=True, exist_ok=True)
    # check_languages compares the code of Chinese pages with that of the English ones.
    snippets = [s for path in documents() for s in snippets_of(path)
                if s.language == "cpp" and not s.path.endswith(CHINESE)]
    programs = {out / f"{s.name}.cpp": f'#line {s.line} "{s.path}"\n{s.code}\n' for s in snippets if s.whole}
    programs[out / "fragments.cpp"] = fragments_program([s for s in snippets if not s.whole])
    for target, text in programs.items():
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
    for stale in set(out.glob("*.cpp")) - set(programs):
        stale.unlink()
    for snippet in snippets:
        print("program" if snippet.whole else "fragment", "compile" if "no-run" in snippet.words else "run",
              snippet.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true")
    action.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    if options.out:
        write(options.out)
        return 0
    found = list(check())
    print("\n".join(found) if found else "snippets: the documents agree with ./run and each other")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
