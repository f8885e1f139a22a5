#!/usr/bin/env python3
"""Takes the code out of the documents, so that the tests can compile and run it.

A ```cpp block with `int main` becomes a program as it stands; any other becomes the body of a main after
#include "heed/heed.h" and using namespace heed. ```cpp no-run is compiled only. ```sh and ```console
blocks may call only verbs that ./run knows. Both READMEs must hold the same code.

  snippets.py --check     says what is wrong with the documents
  snippets.py --out DIR   writes DIR/<document>_<line>.cpp and prints "run|compile path" for each
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\S*)[ \t]*(.*)$")
RUN_CALL = re.compile(r"^\s*(?:\$ )?\./run(?:[ \t]+(\S+))?", re.MULTILINE)
FRAGMENT = """#include "heed/heed.h"

using namespace heed;

int main() {{
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
    def where(self):
        return f"{self.path}:{self.line}"


def documents():
    names = [ROOT / name for name in ("README.md", "README.zh-CN.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    return [path for path in names + sorted((ROOT / "docs").rglob("*.md")) if path.is_file()]


def snippets_of(path):
    """The fenced blocks of one document, in order."""
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
        raise SystemExit(f"{current.where}: the block that starts here is never closed")
    return found


def run_verbs():
    """The verbs that ./run lists."""
    return set(re.search(r"^verbs=\((.*?)\)", (ROOT / "run").read_text(encoding="utf-8"), re.M)[1].split())


def check_verbs(snippet, verbs):
    for match in RUN_CALL.finditer(snippet.code):
        verb = match[1]
        if verb and verb not in verbs and not verb.startswith(("#", "-")):
            yield f"{snippet.where}: ./run has no verb '{verb}'"


def check_readmes():
    """Both READMEs hold the same blocks: a translation translates the words, not the code."""
    english, chinese = ROOT / "README.md", ROOT / "README.zh-CN.md"
    if not (english.is_file() and chinese.is_file()):
        return
    ours, theirs = snippets_of(english), snippets_of(chinese)
    if len(ours) != len(theirs):
        yield f"README.md has {len(ours)} code blocks, README.zh-CN.md {len(theirs)}"
    for a, b in zip(ours, theirs):
        if (a.language, a.words, strip_comments(a)) != (b.language, b.words, strip_comments(b)):
            yield f"{a.where} and {b.where}: the code differs"


def strip_comments(snippet):
    """The code without its comments, which may be translated."""
    mark = r"//.*" if snippet.language == "cpp" else r"(^|\s)#.*"
    return [re.sub(mark, "", line).rstrip() for line in snippet.lines]


def check():
    verbs = run_verbs()
    for path in documents():
        for snippet in snippets_of(path):
            if snippet.language in ("sh", "console", "bash", "shell"):
                yield from check_verbs(snippet, verbs)
    yield from check_readmes()


def program(snippet):
    if re.search(r"\bint main\b", snippet.code):
        return f'#line {snippet.line} "{snippet.path}"\n{snippet.code}\n'
    return FRAGMENT.format(line=snippet.line, path=snippet.path, code=snippet.code)


def write(out):
    """Writes the programs, touching only files that change, and removes those no longer there."""
    out.mkdir(parents=True, exist_ok=True)
    written = set()
    for path in documents():
        for snippet in snippets_of(path):
            # The Chinese README holds the code of the English one, as check_readmes sees to.
            if snippet.language != "cpp" or snippet.path == "README.zh-CN.md":
                continue
            name = re.sub(r"\W+", "_", snippet.path.removesuffix(".md"))
            target = out / f"{name}_{snippet.line}.cpp"
            text = program(snippet)
            if not target.is_file() or target.read_text(encoding="utf-8") != text:
                target.write_text(text, encoding="utf-8")
            written.add(target)
            print("compile" if "no-run" in snippet.words else "run", target)
    for stale in set(out.glob("*.cpp")) - written:
        stale.unlink()


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
