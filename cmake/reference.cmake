# The reference of the client library, made from its headers where Doxygen is found. A public member
# without a text fails it.
find_program(CELLBLOCK_DOXYGEN doxygen)
if(NOT CELLBLOCK_DOXYGEN)
  return()
endif()
configure_file(${PROJECT_SOURCE_DIR}/client/packaging/Doxyfile.in ${PROJECT_BINARY_DIR}/reference/Doxyfile @ONLY)
add_custom_target(reference COMMAND ${CELLBLOCK_DOXYGEN} ${PROJECT_BINARY_DIR}/reference/Doxyfile
                  COMMENT "The reference of the client library: reference/html/index.html" VERBATIM)
