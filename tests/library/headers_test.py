#!/usr/bin/env python3
"""The client library's headers as programs of others include them: each by itself, in C++20, by each compiler that is
here, under warnings that theirs may have; and the programs of docs/client-library.md, as they stand there."""

import functools
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADERS = sorted((ROOT / "client/include/cellblock").glob("*.h"))
COMPILERS = [name for name in ("g++-11", "g++-12", "clang++-14", "clang++-19") if shutil.which(name)]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]

USES = """#include <cellblock/bounds.h>
#include <cellblock/client.h>

#include <memory>

using namespace cellblock::client;

static_assert(std::is_nothrow_move_constructible_v<Result<std::string>>);
static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);

struct NoDefault {
  explicit NoDefault(int number) : n(number) {}
  int n;
};

Result<std::string> text(bool good) {
  if (!good) return Unexpected(Error{.code = ErrorCode::rpc, .text = "no"});
  return "yes";
}
Result<void> nothing() { return {}; }
Result<NoDefault> made() { return NoDefault(1); }

void options() {
  static_cast<void>(Options{.socket = "x"});
  static_cast<void>(CallOptions{.timeout = std::chrono::seconds(1)});
  static_cast<void>(AttachOptions{.role = "x"});
  static_cast<void>(ReconnectOptions{.attempts = 1});
  static_cast<void>(Limits{.list_pages = 1});
  static_cast<void>(PermissionRule{.name = "x"});
  static_cast<void>(PermissionRules{.otherwise = Verdict::ask});
  static_cast<void>(Decision{.verdict = Verdict::allow});
  static_cast<void>(CallToApprove{.name = "x"});
  static_cast<void>(NoticeHandlers{.on_log = {}});
  static_cast<void>(Error{.code = ErrorCode::rpc});
  static_cast<void>(ResultBounds{.max_items = 1});
  static_cast<void>(ToolResult{.json = "{}"});
  static_cast<void>(ServerRequest{.method = "x"});
}

int main() {
  options();
  auto first = text(true);
  const auto second = text(false);
  first = second;
  first = text(true);
  if (first && first->size() == 3 && *first == "yes" && first.has_value() && first == "yes" && nothing()) {
    return second.error().code == ErrorCode::rpc ? made()->n : static_cast<int>(second.value_or("").size());
  }
  return static_cast<int>(first.value().size());
}
"""


@functools.cache
def programs():
    """Name -> text of each block that the page calls a complete program."""
    page = (ROOT / "docs/client-library.md").read_text()
    return dict(re.findall(r"complete (?:first )?program: `(\w+\.cc)`\.\n\n```cpp\n(.*?)```", page, re.DOTALL))


def compiled(compiler, text, standard="c++20", language="c++"):
    """What the compiler says of a program; empty: it takes it."""
    # A library's own headers are the system's where they are installed; these are looked at.
    ran = subprocess.run([compiler, f"-std={standard}", *WARNINGS, "-fsyntax-only", "-I", ROOT / "client/include",
                          "-x", language, "-"], input=text, text=True, capture_output=True, check=False)
    return ran.stderr if ran.returncode else ""


class Headers(unittest.TestCase):
    def test_each_stands_alone_in_cxx20(self):
        for header in HEADERS:
            with self.subTest(header=header.name):
                self.assertEqual(compiled(COMPILERS[0], f"#include <cellblock/{header.name}>\n"), "")

    def test_below_cxx20_the_first_line_says_what_is_needed(self):
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                said = compiled(compiler, "#include <cellblock/client.h>\n", "c++17")
                errors = [line for line in said.splitlines() if "error:" in line]
                self.assertIn("needs C++20 or later: compile with -std=c++20", errors[0])
                self.assertEqual(len(errors), 2)  # and that the rest is not read

    def test_that_of_c_is_c99_and_any_cxx(self):
        text = "#include <cellblock/cellblock_async.h>\nint main(void) { return 0; }\n"
        for compiler in COMPILERS:
            self.assertEqual(compiled(compiler, text, "c++11"), "")
            self.assertEqual(compiled(compiler, text, "c99", "c"), "")


class Programs(unittest.TestCase):
    def test_those_of_the_documentation_compile(self):
        self.assertEqual(list(programs()), ["first_host.cc", "first_coroutine.cc"])
        for compiler in COMPILERS:
            for name, text in programs().items():
                with self.subTest(compiler=compiler, name=name):
                    self.assertEqual(compiled(compiler, text), "")

    def test_that_look_at_no_error_are_warned(self):
        text = '#include <cellblock/client.h>\nvoid f(cellblock::client::Client& c) { c.attach("x"); }\n'
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                self.assertIn("unused-result", compiled(compiler, text))

    def test_name_some_members_of_options_and_handle_a_result_as_one_of_the_standard_library(self):
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                self.assertEqual(compiled(compiler, USES), "")


if __name__ == "__main__":
    unittest.main()
