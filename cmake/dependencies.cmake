# The libraries of others, all from Debian 12.
find_package(Boost 1.81 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(libcrypto REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(cares REQUIRED IMPORTED_TARGET libcares)
pkg_check_modules(libarchive REQUIRED IMPORTED_TARGET libarchive)
pkg_check_modules(libedit REQUIRED IMPORTED_TARGET libedit)
pkg_check_modules(ncursesw REQUIRED IMPORTED_TARGET ncursesw)
# _XOPEN_SOURCE, which the compiler's own macros imply.
set_property(TARGET PkgConfig::ncursesw PROPERTY INTERFACE_COMPILE_OPTIONS)
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(prometheus REQUIRED IMPORTED_TARGET prometheus-cpp-core)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
# Its -pthread says nothing that glibc wants to hear, and headers compiled before do not go with it.
set_property(TARGET PkgConfig::re2 PROPERTY INTERFACE_COMPILE_OPTIONS)

add_library(asio INTERFACE)
target_link_libraries(asio INTERFACE Boost::headers Threads::Threads)
# One thread per process: no locks inside Asio, no deprecated names.
target_compile_definitions(asio INTERFACE BOOST_ASIO_DISABLE_THREADS BOOST_ASIO_NO_DEPRECATED)
