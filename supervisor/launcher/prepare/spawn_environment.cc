#include "supervisor/launcher/prepare/spawn_environment.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace cellblock::launcher {
namespace {

bool is_variable(const CellSecret& secret) {
  return secret.delivery == SecretDelivery::environment;
}
bool is_file(const CellSecret& secret) { return secret.delivery == SecretDelivery::file; }

std::string path_of(const CellSecret& secret) {
  return std::string(secrets_directory).substr(1) + "/" + secret.name;  // from the new root
}

// One page and one inode more than is needed, for the directory and what is rounded up.
std::string options_for(const std::vector<SecretFile>& files) {
  constexpr std::size_t page = 65'536;  // the largest there is
  std::size_t bytes = page;
  for (const SecretFile& file : files) bytes += (file.size / page + 1) * page;
  return "size=" + std::to_string(bytes) + ",nr_inodes=" + std::to_string(files.size() + 2) +
         ",mode=500";
}

std::size_t size_of(const std::vector<std::string>& plain, const std::vector<CellSecret>& secrets) {
  std::size_t size = 0;
  for (const std::string& entry : plain) size += entry.size() + 1;
  for (const CellSecret& secret : secrets) {
    if (is_variable(secret)) size += secret.text.size() + 1;
    if (is_file(secret)) size += secret.text.size() + 1 + path_of(secret).size() + 1;
  }
  return size;
}

}  // namespace

SpawnEnvironment::SpawnEnvironment(const std::vector<std::string>& plain,
                                   const std::vector<CellSecret>& secrets)
    : size_(size_of(plain, secrets)), block_(std::make_unique<char[]>(size_ + 1)) {
  for (const std::string& entry : plain) variables_.push_back(add(entry));
  for (const CellSecret& secret : secrets) {
    if (is_variable(secret)) variables_.push_back(add(secret.text));
    if (is_file(secret)) {
      files_.push_back({add(path_of(secret)), add(secret.text), secret.text.size()});
    }
  }
  variables_.push_back(nullptr);
  file_options_ = options_for(files_);
}

SpawnEnvironment::~SpawnEnvironment() { explicit_bzero(block_.get(), size_); }

char* SpawnEnvironment::add(const std::string& text) {
  char* const place = block_.get() + used_;
  std::copy_n(text.c_str(), text.size() + 1, place);
  used_ += text.size() + 1;
  return place;
}

void SpawnEnvironment::enter_into(ChildPlan& plan) const {
  plan.envp = variables_.data();
  plan.environment_block = block_.get();
  plan.environment_size = size_;
  plan.secret_files = files_.data();
  plan.secret_file_count = files_.size();
  plan.secret_options = file_options_.c_str();
}

}  // namespace cellblock::launcher
