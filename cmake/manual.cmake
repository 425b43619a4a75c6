# The manual pages, from the table of commands and from docs/.
set(cellblock_manual cellblock.1 cellblock.toml.5)
list(TRANSFORM cellblock_manual PREPEND ${PROJECT_BINARY_DIR}/)
set(configuration_pages configuration configuration/server configuration/network-and-secrets configuration/permissions
    configuration/limits configuration/redaction configuration/profiles configuration/installation)
list(TRANSFORM configuration_pages PREPEND ${PROJECT_SOURCE_DIR}/docs/)
list(TRANSFORM configuration_pages APPEND .md)
add_custom_command(OUTPUT ${cellblock_manual}
                   COMMAND cellblock-manual ${PROJECT_BINARY_DIR} ${configuration_pages}
                   DEPENDS cellblock-manual ${configuration_pages} VERBATIM)
add_custom_target(cellblock-manual-files ALL DEPENDS ${cellblock_manual})
