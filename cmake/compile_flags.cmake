# Warnings, sanitizers and hardening of every target.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                    -Wold-style-cast -Wcast-qual -Wformat=2 -Werror)
# Designated initialisers leave the rest at its default on purpose.
add_compile_options(-Wno-missing-field-initializers)
# GCC 12 reports these inside its own <expected>, <vector> and Boost.Asio when optimising.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict -Wno-dangling-pointer
                      -Wno-free-nonheap-object)
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # There every type of an anonymous namespace looks as if it came from a header.
  add_compile_options(-Wno-subobject-linkage)
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # A name of another source is no shadow; what is one within a source GCC finds.
  add_compile_options(-Wno-shadow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12's own stable_sort uses what it deprecates.
  add_compile_options(-Wno-deprecated-declarations)
endif()
if(CELLBLOCK_SANITIZE)
  string(REPLACE "," ";" SANITIZERS "${CELLBLOCK_SANITIZE}")
  add_compile_options(-fsanitize=${CELLBLOCK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CELLBLOCK_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # says as GCC does what it builds with
    if("address" IN_LIST SANITIZERS)
      add_compile_definitions(__SANITIZE_ADDRESS__)
    elseif("thread" IN_LIST SANITIZERS)
      add_compile_definitions(__SANITIZE_THREAD__)
    endif()
  elseif(CELLBLOCK_SANITIZE MATCHES "thread")
    add_compile_options(-Wno-tsan)  # Asio's fences, which GCC's thread sanitizer does not see
  endif()
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  # Packagers define another level.
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS
                      -ftrivial-auto-var-init=zero -fstack-protector-strong
                      -fstack-clash-protection -fcf-protection=full)
  add_link_options(-pie -Wl,-z,relro,-z,now,-z,noexecstack)
endif()

if(CELLBLOCK_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(CELLBLOCK_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()

# A library that no code of a program needs is not linked to it.
add_link_options(-Wl,--as-needed)
