# The manual pages and the shells' completions, from what the flags say of themselves and from docs/.
set(cellblock_manual cellblock.1 cellblock.toml.5 cellblock.bash cellblock.zsh cellblock.fish)
list(TRANSFORM cellblock_manual PREPEND ${PROJECT_BINARY_DIR}/)
add_custom_command(OUTPUT ${cellblock_manual}
                   COMMAND cellblock-manual ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/docs/configuration.md
                   DEPENDS cellblock-manual docs/configuration.md VERBATIM)
add_custom_target(cellblock-manual-files ALL DEPENDS ${cellblock_manual})
