#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// The narrowest cell in which a declared server can work, as far as its declaration shows.
namespace cellblock::cli {

struct ProposedPath {
  std::string path;
  std::string note;         ///< untrusted; empty: none
  bool is_there = true;     ///< else it is written as a comment
  std::string target = {};  ///< where the cell sees it; empty: at the same place
};

struct ProposedSecret {
  std::string variable;
  std::string file;
};

enum class Workspace : std::uint8_t { none, read, write };

struct Proposal {
  std::string name;
  std::string declared_as;
  std::string obstacle;  ///< why there is no cell for it; empty: nothing
  std::vector<std::string> command;
  std::string program;
  std::string image;              ///< an unpacked one; empty: none
  std::string working_directory;  ///< in the cell; empty: its home
  std::string profile = "native";
  std::vector<ProposedPath> read;
  std::vector<ProposedPath> write;
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<ProposedSecret> secrets;
  std::vector<std::string> domains;
  std::vector<std::string> tools;
  std::vector<std::string> users;  ///< who may use it; empty: left to the admin
  std::vector<std::pair<std::string, std::string>> limits;
  Workspace workspace = Workspace::none;
  std::vector<std::string> steps;    ///< to be run as root, before anything works
  std::vector<std::string> todos;    ///< for the admin to decide
  std::vector<std::string> remarks;  ///< what was not taken over
};

}  // namespace cellblock::cli
