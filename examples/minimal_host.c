/* The smallest useful host in C: reach cellblockd, pick a server, list its tools, call one.

     minimal_host_c SERVER [TOOL [ARGUMENTS]]                                                     */
#include <cellblock/cellblock.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(cellblock_error* error) {
  fprintf(stderr, "minimal_host: %s\n", cellblock_error_text(error));
  if (*cellblock_error_advice(error) != '\0') fprintf(stderr, "%s\n", cellblock_error_advice(error));
  cellblock_error_free(error);
  return EXIT_FAILURE;
}

static int call(cellblock_client* client, const char* tool, const char* arguments) {
  cellblock_result* result = NULL;
  cellblock_error* error = NULL;
  int failed;
  if (cellblock_call_tool(client, tool, arguments, NULL, &result, &error)) return fail(error);
  puts(cellblock_result_text(result, NULL));
  failed = cellblock_result_is_error(result);
  cellblock_result_free(result);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int use(cellblock_client* client, int argc, char** argv) {
  cellblock_tools* tools = NULL;
  cellblock_error* error = NULL;
  size_t i;
  if (cellblock_attach(client, argv[1], NULL, &error)) return fail(error);
  if (cellblock_initialize(client, 60000, NULL, &error)) return fail(error);
  if (cellblock_list_tools(client, 60000, &tools, &error)) return fail(error);
  for (i = 0; i < cellblock_tools_count(tools); ++i) puts(cellblock_tools_name(tools, i));
  cellblock_tools_free(tools);
  if (argc < 3) return EXIT_SUCCESS;
  return call(client, argv[2], argc > 3 ? argv[3] : NULL);
}

int main(int argc, char** argv) {
  cellblock_client* client = NULL;
  cellblock_error* error = NULL;
  int exit_code;
  if (argc < 2) {
    fprintf(stderr, "usage: minimal_host_c SERVER [TOOL [ARGUMENTS]]\n");
    return EXIT_FAILURE;
  }
  if (cellblock_connect(NULL, &client, &error)) return fail(error);
  exit_code = use(client, argc, argv);
  cellblock_client_free(client);
  return exit_code;
}
