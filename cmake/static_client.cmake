# libcellblock-client.a: one object, in which all but the interface is local, as in the shared library.
# Not with sanitizers, which nobody links statically.
if(CELLBLOCK_SANITIZE OR CELLBLOCK_COVERAGE OR CELLBLOCK_FUZZ)
  return()
endif()
find_program(CELLBLOCK_OBJCOPY objcopy)
find_program(CELLBLOCK_LD NAMES ld.bfd ld)
if(NOT CELLBLOCK_OBJCOPY OR NOT CELLBLOCK_LD)
  return()
endif()

# The project's own archives that `targets` need, each once.
function(cellblock_archives_of result)
  set(found "")
  set(open ${ARGN})
  while(open)
    list(POP_FRONT open name)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" name "${name}")
    if(NOT TARGET ${name} OR name IN_LIST found)
      continue()
    endif()
    get_target_property(type ${name} TYPE)
    get_target_property(imported ${name} IMPORTED)
    if(imported OR NOT type MATCHES "^(STATIC|INTERFACE)_LIBRARY$")
      continue()
    endif()
    list(APPEND found ${name})
    get_target_property(needs ${name} INTERFACE_LINK_LIBRARIES)
    if(needs)
      list(APPEND open ${needs})
    endif()
  endwhile()
  set(archives "")
  foreach(name IN LISTS found)
    get_target_property(type ${name} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND archives ${name})
    endif()
  endforeach()
  set(${result} ${archives} PARENT_SCOPE)
endfunction()

cellblock_archives_of(archives ${internal})
set(CELLBLOCK_STATIC_CLIENT ${PROJECT_BINARY_DIR}/libcellblock-client.a CACHE INTERNAL "the static client library")
set(whole ${CMAKE_CURRENT_BINARY_DIR}/cellblock-client.o)
list(TRANSFORM archives PREPEND "$<TARGET_FILE:" OUTPUT_VARIABLE archive_files)
list(TRANSFORM archive_files APPEND ">")
add_custom_command(
  OUTPUT ${CELLBLOCK_STATIC_CLIENT}
  COMMAND ${CELLBLOCK_LD} -r --force-group-allocation -o ${whole} $<TARGET_OBJECTS:client_objects>
          --start-group ${archive_files} --end-group
  COMMAND ${CELLBLOCK_OBJCOPY} --localize-hidden --wildcard --keep-global-symbol=cellblock_*
          --keep-global-symbol=_ZN9cellblock6client* --keep-global-symbol=_ZNK9cellblock6client* ${whole}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${CELLBLOCK_STATIC_CLIENT}
  COMMAND ${CMAKE_AR} rcs ${CELLBLOCK_STATIC_CLIENT} ${whole}
  DEPENDS client_objects ${archives} $<TARGET_OBJECTS:client_objects> ${archive_files}
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(cellblock-client-static ALL DEPENDS ${CELLBLOCK_STATIC_CLIENT})
