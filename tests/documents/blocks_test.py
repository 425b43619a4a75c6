#!/usr/bin/env python3
"""What blocks.py takes out of a document, shown by small documents."""

import pathlib
import sys
import unittest

import blocks

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def texts(found):
    return [(step.kind, step.argument, step.text) for step in found]


class Blocks(unittest.TestCase):
    def test_a_block_has_the_number_of_its_first_line_and_its_language(self):
        found = blocks.blocks("text\n```sh\none\ntwo\n```\n```\nthree\n```\n")
        self.assertEqual(found, [blocks.Block(3, "sh", "one\ntwo\n"), blocks.Block(7, "", "three\n")])

    def test_a_block_that_is_not_closed_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "line 1"):
            blocks.blocks("```sh\none\n")


class Commands(unittest.TestCase):
    def test_each_line_is_a_command(self):
        self.assertEqual(blocks.commands("a  # comment\nb | c && d\n"), [(0, "a  # comment\n"), (1, "b | c && d\n")])

    def test_comments_and_empty_lines_are_none(self):
        self.assertEqual(blocks.commands("# before\n\na\n#   after\n"), [(2, "a\n")])

    def test_a_command_goes_on_after_a_backslash_a_pipe_and_inside_quotes_and_braces(self):
        for command in ("a \\\n  b\n", "a |\n  b\n", "a 'b\nc'\n", "a() {\n  b\n}\n", "x=$(a |\n  b)\n"):
            with self.subTest(command=command):
                self.assertEqual(blocks.commands(command + "z\n"), [(0, command), (command.count("\n"), "z\n")])

    def test_half_a_command_is_an_error(self):
        with self.assertRaises(ValueError):
            blocks.commands("a 'b\n")


class Steps(unittest.TestCase):
    def test_commands_are_run_and_named_by_their_line(self):
        found = blocks.steps("A.md", "# A\n```sh\na\nb\n```\n")
        self.assertEqual([step.label for step in found], ["A.md:3", "A.md:4"])
        self.assertEqual(texts(found), [("run", "0", "a\n"), ("run", "0", "b\n")])

    def test_a_block_that_names_a_file_is_written_there(self):
        found = blocks.steps("A.md", "```toml\n# /etc/a.toml\nb = 1\n```\n")
        self.assertEqual(texts(found), [("write", "/etc/a.toml", "# /etc/a.toml\nb = 1\n")])

    def test_a_block_that_goes_below_what_is_there_is_appended(self):
        found = blocks.steps("A.md", "```toml\n# /etc/a.toml, below the rest\nb = 1\n```\n")
        self.assertEqual(texts(found), [("append", "/etc/a.toml", "\n# /etc/a.toml, below the rest\nb = 1\n")])

    def test_other_blocks_are_passed_over(self):
        self.assertEqual(blocks.steps("A.md", "```toml\nb = 1\n```\n```\n$ a\n```\n```json\n{}\n```\n"), [])

    def test_what_cannot_be_run_has_a_reason(self):
        (document, beginning), reason = next(iter(blocks.SKIPPED.items()))
        text = f"```sh\n{beginning} more\n```\n"
        self.assertEqual(texts(blocks.steps(document, text)), [("skip", reason, f"{beginning} more\n")])
        self.assertEqual([step.kind for step in blocks.steps("other.md", text)], ["run"])

    def test_a_command_may_have_a_status_that_it_ends_with(self):
        (document, beginning), status = next(iter(blocks.STATUS.items()))
        self.assertEqual(texts(blocks.steps(document, f"```sh\n{beginning}\n```\n")), [("run", str(status), f"{beginning}\n")])

    def test_an_exception_that_no_document_needs_is_named(self):
        self.assertEqual(len(blocks.unused_exceptions([])), len(blocks.SKIPPED) + len(blocks.STATUS))


class Parts(unittest.TestCase):
    def test_packages_are_installed_with_the_network_of_the_host(self):
        found = blocks.steps("A.md", "```sh\nsudo apt-get install -y a\na\nb\n```\n")
        self.assertEqual([(where, len(some)) for where, some in blocks.parts(found, "own")], [("host", 1), ("own", 2)])
        self.assertEqual([(where, len(some)) for where, some in blocks.parts(found, "host")], [("host", 3)])


class Documents(unittest.TestCase):
    def test_every_document_that_is_tried_has_commands(self):
        for name, _ in blocks.DOCUMENTS:
            with self.subTest(document=name):
                kinds = [step.kind for step in blocks.steps(name, (ROOT / name).read_text())]
                self.assertTrue({"run", "skip"} & set(kinds))

    def test_every_exception_is_needed(self):
        everything = [step for name, _ in blocks.DOCUMENTS for step in blocks.steps(name, (ROOT / name).read_text())]
        self.assertEqual(blocks.unused_exceptions(everything), [])

    def test_every_page_with_commands_is_tried(self):
        tried = {name for name, _ in blocks.DOCUMENTS}
        for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/README.md")]:
            name = page.relative_to(ROOT).as_posix()
            with self.subTest(page=name):
                has_commands = any(block.language == "sh" for block in blocks.blocks(page.read_text()))
                self.assertEqual(has_commands, name in tried)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
