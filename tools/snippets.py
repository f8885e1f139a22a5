#!/usr/bin/env python3
"""Extracts the code of the documents, so that the tests can compile and run it.

A ```cpp block with `int main` becomes a program; all others become functions of one program, which includes
heed/heed.h and runs the functions that its arguments name. ```cpp no-run is only compiled. ```sh and ```console
blocks may call only verbs of ./run. Both READMEs must contain the same code.

  snippets.py --check     prints the problems of the documents
  snippets.py --out DIR   writes DIR/<document>_<line>.cpp and DIR/fragments.cpp, and prints for each snippet
                          "program|fragment run|compile <document>_<line>"
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\S*)[ \t]*(.*)$")
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
        """True if it is a complete program."""
        return re.search(r"\bint main\b", self.code) is not None

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
    """Both READMEs contain the same blocks; only text and comments are translated."""
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


def fragments_program(fragments):
    functions = "\n".join(FUNCTION.format(name=f.name, line=f.line, path=f.path, code=f.code) for f in fragments)
    table = "\n".join(f'      {{"{f.name}", {f.name}}},' for f in fragments)
    return FRAGMENTS.format(functions=functions, table=table)


def write(out):
    """Writes the programs, touching only files that change, and removes those that are no longer needed."""
    out.mkdir(parents=True, exist_ok=True)
    # The Chinese README contains the same code as the English one; check_readmes checks that.
    snippets = [s for path in documents() for s in snippets_of(path)
                if s.language == "cpp" and s.path != "README.zh-CN.md"]
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
