#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policy/failures/end_verdict.h"

namespace cellblock {
namespace {

using Lines = std::vector<std::string>;

TEST(LastWords, AreTheErrorBeforeTheTraceOfNode) {
  EXPECT_EQ(last_words({"node:internal/modules/cjs/loader:1228", "  throw err;", "  ^", "",
                        "Error: Cannot find module '/srv/x.js'",
                        "    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)",
                        "    at throwError (/srv/errors.js:3:1) {", "  code: 'MODULE_NOT_FOUND',",
                        "  requireStack: []", "}", "", "Node.js v20.19.2"}),
            "Error: Cannot find module '/srv/x.js'");
  EXPECT_EQ(last_words({"  triggerUncaughtException(err, true /* fromPromise */);", "  ^", "",
                        "[Error: EACCES: permission denied, mkdir '/home/x'] {", "  errno: -13,",
                        "  code: 'EACCES'", "}", "", "Node.js v20.19.2"}),
            "[Error: EACCES: permission denied, mkdir '/home/x'] {");
  EXPECT_EQ(last_words({"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'", "    at y", "}"}),
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'");
}

TEST(LastWords, AreTheInnermostCauseOfNode) {
  EXPECT_EQ(
      last_words({"[42] Fatal error: TypeError: fetch failed",
                  "    at node:internal/deps/undici/undici:13510:13",
                  "  [cause]: Error: "
                  "getaddrinfo ENOTFOUND mcp.example.org",
                  "      at GetAddrInfoReqWrap.onlookupall (node:dns:122:26) {",
                  "    errno: -3008,", "    code: 'ENOTFOUND',", "    syscall: 'getaddrinfo',",
                  "    hostname: 'mcp.example.org'", "  }", "}"}),
      "[cause]: Error: getaddrinfo ENOTFOUND mcp.example.org");
}

TEST(LastWords, AreTheExceptionBehindTheTraceOfPython) {
  EXPECT_EQ(last_words({"Traceback (most recent call last):",
                        "  File \"/srv/errors.py\", line 3, in raise_error", "    import x",
                        "ModuleNotFoundError: No module named 'x'"}),
            "ModuleNotFoundError: No module named 'x'");
  EXPECT_EQ(
      last_words({"pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings",
                  "api_key", "  Field required [type=missing, input_value={}, input_type=dict]",
                  "    For further information visit https://errors.pydantic.dev/2.11/v/missing"}),
      "pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings");
  EXPECT_EQ(last_words({"Traceback (most recent call last):", "  File \"x\", line 1",
                        "KeyboardInterrupt"}),
            "KeyboardInterrupt");
}

TEST(LastWords, AreWithoutTheDrawingOfAGroupOfExceptions) {
  EXPECT_EQ(last_words({"  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)",
                        "  +-+---------------- 1 ----------------",
                        "    | Traceback (most recent call last):",
                        "    |   File \"/srv/x.py\", line 3, in f",
                        "    | httpx.ConnectError: [Errno -3] Temporary failure in name resolution",
                        "    +------------------------------------"}),
            "httpx.ConnectError: [Errno -3] Temporary failure in name resolution");
}

TEST(LastWords, AreBothLinesOfAPanicOfRust) {
  EXPECT_EQ(last_words({"thread 'main' panicked at src/main.rs:4:5:", "no configuration",
                        "note: run with `RUST_BACKTRACE=1` environment variable to display a "
                        "backtrace"}),
            "thread 'main' panicked at src/main.rs:4:5: no configuration");
  EXPECT_EQ(last_words({"thread 'main' panicked at 'no configuration', src/main.rs:4:5"}),
            "thread 'main' panicked at 'no configuration', src/main.rs:4:5");
  EXPECT_EQ(last_words({"Error: cannot read settings", "",
                        "Caused by:", "    No such file or directory (os error 2)"}),
            "Error: cannot read settings");
}

TEST(LastWords, AreThePanicOfGo) {
  EXPECT_EQ(last_words({"panic: runtime error: index out of range [3]", "",
                        "goroutine 1 [running]:", "main.main()", "\t/srv/main.go:7 +0x1d"}),
            "panic: runtime error: index out of range [3]");
}

TEST(LastWords, AreTheRootCauseOfJavaAndTheExceptionOfDotNet) {
  EXPECT_EQ(
      last_words({"Exception in thread \"main\" java.lang.IllegalStateException: no bean",
                  "\tat org.x.Main.main(Main.java:3)",
                  "Caused by: java.net.UnknownHostException: db.example.org",
                  "\tat java.base/java.net.InetAddress.x(InetAddress.java:1)", "\t... 12 more"}),
      "Caused by: java.net.UnknownHostException: db.example.org");
  EXPECT_EQ(last_words({"Unhandled exception. System.InvalidOperationException: no key",
                        "   at Program.<Main>$(String[] args)"}),
            "Unhandled exception. System.InvalidOperationException: no key");
}

TEST(LastWords, AreALineThatSaysSomethingWhereNoneNamesAnError) {
  EXPECT_EQ(last_words({"usage: x", "", "  "}), "usage: x");
  EXPECT_EQ(last_words({"cannot open the database", "{", "  code: 'X'", "}"}), "code: 'X'");
  EXPECT_EQ(last_words({"}", ""}), "}");
  EXPECT_EQ(last_words({}), "");
}

TEST(LastWords, AreNotTheSignatureOfARuntime) {
  EXPECT_EQ(last_words({"it cannot go on", "", "Node.js v20.19.2"}), "it cannot go on");
  EXPECT_EQ(last_words({"npm error 404 Not Found - GET https://r.example.org/x",
                        "npm error A complete log of this run can be found in: /home/x.log"}),
            "npm error 404 Not Found - GET https://r.example.org/x");
}

TEST(UnresolvedName, IsNamedByTheErrorsOfRuntimesAndTools) {
  for (const std::string line :
       {"Error: getaddrinfo ENOTFOUND api.example.org", "getaddrinfo EAI_AGAIN api.example.org {",
        "curl: (6) Could not resolve host: api.example.org",
        "Failed to resolve 'api.example.org' ([Errno -3] Temporary failure in name resolution)",
        "HTTPSConnectionPool(host='api.example.org', port=443): Max retries exceeded",
        "Get \"https://api.example.org\": dial tcp: lookup api.example.org: no such host"}) {
    EXPECT_EQ(unresolved_name({"starting", line, "}"}), "api.example.org") << line;
  }
}

TEST(UnresolvedName, IsNoAddressAndNoWord) {
  EXPECT_EQ(unresolved_name({"getaddrinfo ENOTFOUND 10.0.0.1"}), "");
  EXPECT_EQ(unresolved_name({"getaddrinfo ENOTFOUND localhost"}), "");
  EXPECT_EQ(unresolved_name({"getaddrinfo ENOTFOUND a.b\"];evil"}), "a.b");
  EXPECT_EQ(unresolved_name({}), "");
}

}  // namespace
}  // namespace cellblock
