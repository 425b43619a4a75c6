#!/usr/bin/env python3
"""table.py RESULTS DOCS: reads RESULTS/NN-name.tsv (cellblock-probe --tsv) with RESULTS/NN-name.txt (how it was run)
and RESULTS/about.txt, and writes DOCS/comparison.md and the table between the markers in DOCS/security.md."""

import pathlib
import re
import sys

results, docs = map(pathlib.Path, sys.argv[1:3])
MARKED = re.compile(r"(<!-- comparison -->\n).*?(<!-- /comparison -->)", re.DOTALL)


def read(path):
    rows = [line.split("\t") for line in path.read_text().splitlines() if "\t" in line]
    return {row[0]: row[1:] for row in rows}


subjects, failed = {}, []
for file in sorted(results.glob("*.tsv")):
    name = file.with_suffix(".txt").read_text().splitlines()[0]
    answers = read(file)
    if answers:
        subjects[name] = answers
    else:
        reason = (results / (file.stem + ".err")).read_text().strip().splitlines()
        failed.append(f"{name}: {reason[-1] if reason else 'no output'}")

outside = [name for name in subjects if name.startswith("outside")]
sandboxes = [name for name in subjects if name not in outside]
ids = list(next(iter(subjects.values())))
# An attempt that nobody can do on this machine says nothing about a sandbox.
proven = [i for i in ids if any(subjects[name].get(i, ["", "-"])[1] == "open" for name in outside)]
classes = list(dict.fromkeys(subjects[outside[0]][i][0] for i in proven))


def held(name, wanted):
    answers = [subjects[name].get(i) for i in wanted]
    return sum(1 for a in answers if a and a[1] in ("held", "not_applicable"))


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def in_words(answer):
    if not answer:
        return "?"
    if answer[1] == "open":
        return "**open**"
    return answer[2] or ("held" if answer[1] == "held" else "n/a")


summary = row(["held, of those that succeed outside", *sandboxes]) + row(["---"] * (len(sandboxes) + 1))
for kind in classes:
    wanted = [i for i in proven if subjects[outside[0]][i][0] == kind]
    summary += row([f"{kind} ({len(wanted)})", *(str(held(name, wanted)) for name in sandboxes)])
summary += row([f"**all ({len(proven)})**", *(f"**{held(name, proven)}**" for name in sandboxes)])

about = (results / "about.txt").read_text()
notes = "".join(f"- {text}\n" for text in failed)
if notes:
    notes = "\nCould not be run here:\n\n" + notes

text = "# What other sandboxes hold back of the same attempts\n\n" + about + "\n" + summary + notes
text += "\n## How each was run\n\n"
for file in sorted(results.glob("*.txt")):
    if file.name != "about.txt":
        name, command = file.read_text().splitlines()[:2]
        text += f"- {name}: `{command}`\n"
text += "\n## Every attempt\n\n"
text += row(["attempt", *outside, *sandboxes]) + row(["---"] * (1 + len(outside) + len(sandboxes)))
for i in ids:
    text += row([f"`{i}`", *(in_words(subjects[name].get(i)) for name in [*outside, *sandboxes])])
(docs / "comparison.md").write_text(text)

security = docs / "security.md"
body = security.read_text()
if not MARKED.search(body):
    sys.exit("docs/security.md has no markers")
security.write_text(MARKED.sub(lambda m: m.group(1) + about + "\n" + summary + notes + m.group(2), body))
print(summary + notes)
