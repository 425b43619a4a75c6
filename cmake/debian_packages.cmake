# Debian packages: `cmake --preset deb && cmake --build --preset deb && cpack --config build/deb/CPackConfig.cmake -B build/deb/packages`.
# cellblock (the daemon and the command), libcellblock-clientX.Y, libcellblock-client-dev, python3-cellblock.

set(packaging ${PROJECT_SOURCE_DIR}/packaging/debian)
set(library_package libcellblock-client${CELLBLOCK_CLIENT_SOVERSION})
set(development_package libcellblock-client-dev)
set(python_package python3-cellblock)

set(CELLBLOCK_PACKAGER "The cellblock authors <maintainers@cellblock.invalid>" CACHE STRING
    "who answers for the Debian packages: name <address>")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(package_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

# What only a package has: a configuration of dpkg's, and what Debian wants to see of each.
configure_file(${packaging}/changelog.in changelog.Debian @ONLY)
set(manuals ${CMAKE_INSTALL_FULL_MANDIR})
install(CODE "execute_process(COMMAND gzip -9nf \$ENV{DESTDIR}${manuals}/man1/cellblock.1 \$ENV{DESTDIR}${manuals}/man8/cellblockd.8 \$ENV{DESTDIR}${manuals}/man5/cellblock.toml.5
                              COMMAND_ERROR_IS_FATAL ANY)"
        COMPONENT package EXCLUDE_FROM_ALL)
install(FILES ${packaging}/cellblock.toml DESTINATION ${CMAKE_INSTALL_FULL_SYSCONFDIR}/cellblock
        COMPONENT package EXCLUDE_FROM_ALL)
install(DIRECTORY DESTINATION ${CMAKE_INSTALL_FULL_SYSCONFDIR}/cellblock/servers.d COMPONENT package EXCLUDE_FROM_ALL)
foreach(pair "cellblock;package" "${library_package};client-package" "${development_package};client-dev-package"
             "${python_package};python-package")
  list(GET pair 0 name)
  list(GET pair 1 component)
  install(CODE "execute_process(COMMAND gzip -9nkf ${PROJECT_BINARY_DIR}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)"
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${packaging}/copyright ${PROJECT_BINARY_DIR}/changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_SET_DESTDIR ON)  # /etc is not below the prefix
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_VENDOR cellblock)
set(CPACK_PACKAGE_CONTACT ${CELLBLOCK_PACKAGER})
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_COMPONENTS_ALL command daemon package client client-package client-dev client-dev-package
    python python-package)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/bin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_CELLBLOCK_PACKAGE_NAME cellblock)
set(CPACK_DEBIAN_CELLBLOCK_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_CELLBLOCK_PACKAGE_DEPENDS "adduser, init-system-helpers (>= 1.52), ${library_package} (= ${package_version})")
set(CPACK_DEBIAN_CELLBLOCK_PACKAGE_RECOMMENDS "systemd, uidmap")
set(CPACK_DEBIAN_CELLBLOCK_PACKAGE_CONTROL_EXTRA ${packaging}/postinst ${packaging}/prerm ${packaging}/postrm
    ${PROJECT_BINARY_DIR}/conffiles)
file(WRITE ${PROJECT_BINARY_DIR}/conffiles "${CMAKE_INSTALL_FULL_SYSCONFDIR}/cellblock/cellblock.toml\n")
# Below the project's own line, which is the first of all of them.
set(CPACK_DEBIAN_CELLBLOCK_DESCRIPTION "Runs each declared MCP stdio server in a cell of its own (namespaces, seccomp,
Landlock, a uid of its own, no capabilities, no network unless declared) and
lets agent hosts reach it through one Unix socket. This is the daemon and the
command.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
file(WRITE ${PROJECT_BINARY_DIR}/shlibs "libcellblock-client ${CELLBLOCK_CLIENT_SOVERSION} ${library_package} (>= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/shlibs ${PROJECT_BINARY_DIR}/triggers)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "This is the client library, for agent hosts that use MCP servers through
cellblock's socket.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME ${development_package})
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, libsimdjson-dev, ${library_package} (= ${package_version})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libboost1.81-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "This is what building a host with the client library needs: headers for C and
C++, and files for CMake and pkg-config.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME ${python_package})
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), ${library_package} (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "This is the client for Python's asyncio, for agent hosts that use MCP servers
through cellblock's socket.")

include(CPack)
cpack_add_component_group(cellblock)
cpack_add_component_group(library)
cpack_add_component_group(development)
cpack_add_component_group(python)
foreach(component command daemon package)
  cpack_add_component(${component} GROUP cellblock)
endforeach()
foreach(component client client-package)
  cpack_add_component(${component} GROUP library)
endforeach()
foreach(component client-dev client-dev-package)
  cpack_add_component(${component} GROUP development)
endforeach()
foreach(component python python-package)
  cpack_add_component(${component} GROUP python)
endforeach()
