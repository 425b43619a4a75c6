# The headers of libraries that take longest, read once for the product and once for the tests. For
# builds that nobody edits in: a source has to name what it uses all the same, which the builds without
# this hold it to. Clang's; what GCC saves by it is not worth having.
option(CELLBLOCK_PRECOMPILED_HEADERS "read the libraries' headers once (clang only)" OFF)

set(CELLBLOCK_STANDARD_HEADERS
    <algorithm> <array> <charconv> <chrono> <expected> <functional> <map> <memory> <optional> <set> <span>
    <string> <string_view> <utility> <variant> <vector> <fmt/format.h>)

# A target of nothing, to hold the headers that others take over.
function(cellblock_header_holder name)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cc)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  cellblock_header_digest(${name} ${ARGN})
endfunction()

# What clang compiles of headers names the directory that it was done in, so no other checkout would find
# in the compiler's cache what was built with it. This stands for what is in them instead
# (CCACHE_PCH_EXTSUM); options are part of ccache's key anyway.
function(cellblock_header_digest name)
  set(text "")
  foreach(header ${ARGN})
    string(APPEND text "#include ${header}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.h CONTENT "${text}")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++23 -E -P -x c++ ${PROJECT_BINARY_DIR}/${name}.h
                  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(SHA256 digest "${text}")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx${CMAKE_PCH_EXTENSION}.sum CONTENT "${digest}\n")
endfunction()

# cellblock_precompiled(TARGET HOLDER): no effect where there is no such holder.
function(cellblock_precompiled target holder)
  if(CELLBLOCK_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${holder})
  endif()
endfunction()

if(CELLBLOCK_PRECOMPILED_HEADERS)
  add_compile_definitions(FMT_SHARED)  # as fmt::fmt has it; here also for who does not link it
  add_compile_options(-Xclang -fno-pch-timestamp -fpch-instantiate-templates)  # the first for ccache
  # As CMake has it, in the spelling whose path ccache knows.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
  cellblock_header_holder(product_headers ${CELLBLOCK_STANDARD_HEADERS})
endif()
