# Writes one line `{SYS_name, "name"},` for each system call that this compiler's <sys/syscall.h> has,
# so that the names are those of the architecture that is built for.
function(cellblock_write_syscall_numbers output)
  file(WRITE ${output}.cc "#include <sys/syscall.h>\n")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -dM -E ${output}.cc
                  OUTPUT_VARIABLE macros COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "#define SYS_[a-z0-9_]+ __NR_" defined "${macros}")
  list(SORT defined)
  set(lines "")
  foreach(line IN LISTS defined)
    string(REGEX REPLACE "#define SYS_([a-z0-9_]+) __NR_" "{SYS_\\1, \"\\1\"},\n" line "${line}")
    string(APPEND lines "${line}")
  endforeach()
  if(lines STREQUAL "")
    message(FATAL_ERROR "<sys/syscall.h> names no system call")
  endif()
  file(CONFIGURE OUTPUT ${output} CONTENT "${lines}" @ONLY)
endfunction()
