#include "policy/failures/failure.h"

#include <gtest/gtest.h>
#include <linux/audit.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace cellblock {
namespace {

using Json = nlohmann::json;
using Table = std::vector<std::pair<std::string, int>>;

Table documented_codes() {
  std::ifstream document(ERRORS_PAGE);
  const std::regex row(R"(\| `(\w+)` \| (-\d+) \|.*)");
  Table table;
  std::smatch match;
  for (std::string line; std::getline(document, line);) {
    if (std::regex_match(line, match, row)) table.emplace_back(match[1], std::stoi(match[2]));
  }
  return table;
}

TEST(FailureCode, IsTheListOfTheErrorsPage) {
  Table codes;
  for (std::uint8_t i = 0; i < failure_code_count; ++i) {
    codes.emplace_back(name_of(FailureCode{i}), error_code_of(FailureCode{i}));
  }
  EXPECT_EQ(codes, documented_codes());
}

TEST(FailureCode, IsRefusedWithoutAJsonLibraryAsWithOne) {
  for (std::uint8_t i = 0; i < failure_code_count; ++i) {
    Failure failure;
    failure.code = FailureCode{i};
    failure.message = "He said \"no\":\n\\ \u00e9 \x01 \xff.";
    if (failure.code == FailureCode::server_failed) continue;  // has facts
    EXPECT_EQ(plain_error_reply(failure.code, failure.message), error_reply({}, failure));
  }
}

TEST(FailureCode, EachHasTheAdviceOfTheErrorsPage) {
  std::ifstream document(ERRORS_PAGE);
  const std::regex row(R"(\| `(\w+)` \| -\d+ \|.*\| (.+) \|)");
  std::vector<std::string> told;
  std::smatch match;
  for (std::string line; std::getline(document, line);) {
    if (std::regex_match(line, match, row)) told.push_back(match[2]);
  }
  ASSERT_EQ(told.size(), failure_code_count);
  for (std::uint8_t i = 0; i < failure_code_count; ++i) {
    EXPECT_EQ(advice_for(FailureCode{i}), told[i]) << name_of(FailureCode{i});
  }
  EXPECT_EQ(advice_for(FailureCode{200}), "");
}

TEST(FailureCode, StaysOutsideWhatJsonRpcReserves) {
  for (std::uint8_t i = 0; i < failure_code_count; ++i) {
    EXPECT_GT(error_code_of(FailureCode{i}), -32000);
  }
  EXPECT_EQ(name_of(FailureCode{200}), "unknown");
}

Failure crashed() {
  Failure failure;
  failure.code = FailureCode::server_failed;
  failure.message = "cell \"git\": exited with code 1 before it answered";
  failure.server = "git";
  failure.verdict = "early_crash";
  failure.cause = "exited with code 1 before it answered";
  failure.facts.kind = EndKind::exited;
  failure.facts.exit_code = 1;
  failure.stderr_tail = {"Error: no such database"};
  return failure;
}

TEST(ErrorReply, SaysWhatFailed) {
  const Json reply = Json::parse(error_reply("7", crashed()));
  EXPECT_EQ(reply.at("jsonrpc"), "2.0");
  EXPECT_EQ(reply.at("id"), 7);
  EXPECT_EQ(reply.size(), 3U);
  const Json& error = reply.at("error");
  EXPECT_EQ(error.at("code"), -31003);
  EXPECT_EQ(error.at("message"), crashed().message);
  const Json& data = error.at("data");
  EXPECT_EQ(data.at("code"), "server_failed");
  EXPECT_EQ(data.at("server"), "git");
  EXPECT_EQ(data.at("verdict"), "early_crash");
  EXPECT_EQ(data.at("cause"), crashed().cause);
  EXPECT_EQ(data.at("stderr"), Json({"Error: no such database"}));
  EXPECT_EQ(data.at("facts").at("kind"), "exited");
  EXPECT_EQ(data.at("facts").at("exit_code"), 1);
  EXPECT_EQ(data.at("facts").at("step"), "none");
  EXPECT_EQ(data.at("facts").at("errno"), 0);
  EXPECT_EQ(data.at("facts").at("signal"), 0);
  EXPECT_TRUE(data.at("facts").at("syscall").is_null());
}

TEST(ErrorReply, GivesTheIdBackAsItWasSpelled) {
  EXPECT_TRUE(error_reply(R"("\u0061")", crashed())
                  .starts_with(R"({"jsonrpc":"2.0","id":"\u0061","error":{)"));
}

TEST(ErrorReply, OmitsAnIdThatCouldNotBeRead) {
  EXPECT_FALSE(Json::parse(error_reply("", crashed())).contains("id"));
}

TEST(ErrorReply, HasNoFactsWhereNoCellFailed) {
  Failure failure;
  failure.code = FailureCode::not_attached;
  failure.message = "attach first";
  const Json data = Json::parse(error_reply("1", failure)).at("error").at("data");
  EXPECT_EQ(data, Json({{"code", "not_attached"}, {"advice", "attach to a server first"}}));
}

TEST(ErrorReply, SaysWhenToTryAgain) {
  Failure failure;
  failure.code = FailureCode::rate_limited;
  failure.retry_after = std::chrono::milliseconds{1'500};
  EXPECT_EQ(Json::parse(failure_data(failure)).at("retry_after_ms"), 1'500);
}

TEST(ErrorReply, IsOneValidLineWhateverTheTextsHold) {
  Failure failure = crashed();
  failure.message = "bad \xff\xc3 \n \"quoted\" \\ \x1b";
  failure.server = "\xed\xa0\x80";
  failure.stderr_tail = {std::string("\0\xfe", 2)};
  for (const std::string& line :
       {error_reply("1", failure), tool_error_reply("1", failure, Era::modern)}) {
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_TRUE(Json::accept(line)) << line;
  }
}

TEST(ErrorReply, SendsTheLastTenLinesOfStderr) {
  Failure failure = crashed();
  failure.stderr_tail.clear();
  for (int i = 0; i < 30; ++i) failure.stderr_tail.push_back(std::to_string(i));
  const Json lines = Json::parse(failure_data(failure)).at("stderr");
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines.front(), "20");
  EXPECT_EQ(lines.back(), "29");
}

TEST(FactsJson, NamesTheRefusedSystemCall) {
  CellFacts facts;
  facts.kind = EndKind::killed_by_filter;
  facts.syscall_arch = AUDIT_ARCH_I386;
  facts.syscall_number = 20;
  const Json json = Json::parse(facts_json(facts));
  EXPECT_EQ(json.at("kind"), "killed_by_filter");
  EXPECT_EQ(json.at("syscall").at("number"), 20);
  EXPECT_EQ(json.at("syscall").at("name"), "i386 system call 20");
}

TEST(FactsJson, NamesTheStep) {
  CellFacts facts;
  facts.kind = EndKind::setup_failed;
  facts.step = SetupStep::enter_root;
  facts.error = 13;
  const Json json = Json::parse(facts_json(facts));
  EXPECT_EQ(json.at("kind"), "setup_failed");
  EXPECT_EQ(json.at("step"), "enter_root");
  EXPECT_EQ(json.at("errno"), 13);
}

TEST(ToolErrorReply, IsAResultThatTheModelSees) {
  const Json reply = Json::parse(tool_error_reply("\"x\"", crashed(), Era::legacy));
  EXPECT_EQ(reply.at("id"), "x");
  EXPECT_FALSE(reply.contains("error"));
  const Json& result = reply.at("result");
  EXPECT_EQ(result.at("isError"), true);
  const std::string advice(advice_for(FailureCode::server_failed));
  EXPECT_EQ(result.at("content"), Json::array({{{"type", "text"}, {"text", crashed().message}},
                                               {{"type", "text"}, {"text", advice}}}));
  EXPECT_EQ(result.at("_meta").at("cellblock/error"), Json::parse(failure_data(crashed())));
  EXPECT_FALSE(result.contains("resultType"));
}

TEST(ToolErrorReply, HasTheResultTypeOfTheModernEra) {
  const Json reply = Json::parse(tool_error_reply("1", crashed(), Era::modern));
  EXPECT_EQ(reply.at("result").at("resultType"), "complete");
}

}  // namespace
}  // namespace cellblock
