# --- installation --------------------------------------------------------------------------------

# Relative to the prefix, so that `cmake --install --prefix` moves everything together.
# Relative to the file, so that a tree that was moved still fits; unless libdir is somewhere else.
set(CELLBLOCK_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  file(RELATIVE_PATH CELLBLOCK_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" CELLBLOCK_PC_PREFIX "\${pcfiledir}/${CELLBLOCK_PC_PREFIX}")
endif()
cmake_path(APPEND CELLBLOCK_PC_LIBDIR "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND CELLBLOCK_PC_INCLUDEDIR "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(client/packaging/cellblock-client.pc.in cellblock-client.pc @ONLY)
set(cellblock_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cellblock)
configure_package_config_file(client/packaging/cellblockConfig.cmake.in cellblockConfig.cmake
                              INSTALL_DESTINATION ${cellblock_package_dir}
                              PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(cellblockConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS cellblock-client EXPORT cellblockTargets
        LIBRARY COMPONENT client NAMELINK_COMPONENT client-dev FILE_SET HEADERS COMPONENT client-dev)
if(TARGET cellblock-client-static)
  install(FILES ${CELLBLOCK_STATIC_CLIENT} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT client-dev)
endif()
install(EXPORT cellblockTargets NAMESPACE cellblock:: DESTINATION ${cellblock_package_dir} COMPONENT client-dev)
install(FILES ${PROJECT_BINARY_DIR}/cellblockConfig.cmake ${PROJECT_BINARY_DIR}/cellblockConfigVersion.cmake
        DESTINATION ${cellblock_package_dir} COMPONENT client-dev)
install(FILES ${PROJECT_BINARY_DIR}/cellblock-client.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT client-dev)

install(FILES docs/client-library.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libcellblock-client-dev
        COMPONENT client-dev)
install(DIRECTORY docs/client DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libcellblock-client-dev COMPONENT client-dev)
# Where Debian's python3 looks, for packages alone: whoever installs to another place has pip.
install(DIRECTORY client/python/cellblock DESTINATION lib/python3/dist-packages
        COMPONENT python EXCLUDE_FROM_ALL FILES_MATCHING PATTERN *.py PATTERN py.typed PATTERN __pycache__ EXCLUDE)

install(TARGETS cellblock COMPONENT command)
install(TARGETS cellblock-tools RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/cellblock COMPONENT command)
install(DIRECTORY client/cli/add/recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/cellblock COMPONENT command
        FILES_MATCHING PATTERN *.toml)
install(TARGETS cellblockd RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR} COMPONENT daemon)
install(TARGETS cellblock-supervisor cellblock-launcher cellblock-gateway cellblock-audit cellblock-http cellblock-metrics cellblock-egress
                cellblock-probe
        RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/cellblock COMPONENT daemon)
install(FILES LICENSE CHANGELOG.md docs/cli.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
install(FILES ${PROJECT_BINARY_DIR}/cellblock.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES packaging/completions/cellblock.bash RENAME cellblock
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
install(FILES packaging/completions/cellblock.zsh RENAME _cellblock
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT command)
install(FILES packaging/completions/cellblock.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
configure_file(docs/man/cellblockd.8.in cellblockd.8 @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cellblockd.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8 COMPONENT daemon)
install(FILES ${PROJECT_BINARY_DIR}/cellblock.toml.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 COMPONENT daemon)

# The daemon as a service. Unlike the rest these name the prefix that was chosen when configuring, as
# cellblockd itself does for its helpers: what runs with privilege is not looked for.
configure_file(systemd/cellblock.service.in cellblock.service @ONLY)
configure_file(systemd/cellblock-check.service.in cellblock-check.service @ONLY)
configure_file(systemd/cellblock-audit.service.in cellblock-audit.service @ONLY)
configure_file(systemd/cellblock-scan.service.in cellblock-scan.service @ONLY)
configure_file(systemd/user/cellblock.service.in cellblock.user.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cellblock.service ${PROJECT_BINARY_DIR}/cellblock-check.service
              ${PROJECT_BINARY_DIR}/cellblock-audit.service ${PROJECT_BINARY_DIR}/cellblock-scan.service
              systemd/cellblock.socket systemd/cellblock-check.timer systemd/cellblock-audit.timer systemd/cellblock-scan.timer
              systemd/cellblock-reload.path systemd/cellblock-reload.service
        DESTINATION lib/systemd/system COMPONENT daemon)
install(FILES ${PROJECT_BINARY_DIR}/cellblock.user.service RENAME cellblock.service
        DESTINATION lib/systemd/user COMPONENT daemon)
install(FILES systemd/user/cellblock.socket DESTINATION lib/systemd/user COMPONENT daemon)
install(FILES systemd/cellblock.tmpfiles.conf RENAME cellblock.conf DESTINATION lib/tmpfiles.d
        COMPONENT daemon)
install(FILES systemd/cellblock.sysusers.conf RENAME cellblock.conf DESTINATION lib/sysusers.d
        COMPONENT daemon)
# Each page is in one package: those of the command and of the client library are in theirs.
file(GLOB pages CONFIGURE_DEPENDS docs/*.md docs/*.svg docs/*.png)
list(REMOVE_ITEM pages ${PROJECT_SOURCE_DIR}/docs/cli.md ${PROJECT_SOURCE_DIR}/docs/client-library.md)
install(FILES LICENSE README.md CHANGELOG.md ${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT daemon)
# README.md is beside its documents there, and names them below docs.
install(CODE "file(CREATE_LINK . \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/docs\" SYMBOLIC)" COMPONENT daemon)
install(DIRECTORY docs/configuration docs/decisions DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT daemon)
install(PROGRAMS packaging/container/seccomp_profile.py DESTINATION ${CMAKE_INSTALL_DATADIR}/cellblock/container COMPONENT daemon)
install(FILES packaging/container/Containerfile packaging/container/Containerfile.client packaging/container/entrypoint.sh
        DESTINATION ${CMAKE_INSTALL_DATADIR}/cellblock/container COMPONENT daemon)
install(FILES examples/cellblock.toml examples/credentials.conf examples/http.toml DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT daemon)
install(DIRECTORY examples/audit examples/kubernetes examples/metrics examples/servers.d DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT daemon)
