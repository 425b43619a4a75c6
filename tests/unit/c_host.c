#include "tests/unit/c_host.h"

#include <cellblock/cellblock.h>
#include <string.h>

/* Compiled as C99: the header has to be C, and every function to be linked from C. */

#define EXPECT(condition) \
  if (!(condition)) return __LINE__

typedef struct seen {
  int notifications;
  int asked;
  double progress;
} seen;

static void on_notification(void* user, const char* method, const char* params) {
  seen* all = user;
  (void)params;
  if (strcmp(method, "notifications/message") == 0) all->notifications += 1;
}

static void on_permission(void* user, const cellblock_call* call, cellblock_decision* decision) {
  (void)user;
  if (strcmp(cellblock_call_name(call), "write") == 0) {
    cellblock_decide(decision, CELLBLOCK_ASK, "it writes");
  } else {
    cellblock_decide(decision, CELLBLOCK_ALLOW, NULL);
  }
}

static void on_approval(void* user, const cellblock_call* call, cellblock_decision* decision) {
  seen* all = user;
  all->asked += 1;
  if (strcmp(cellblock_call_arguments(call), "{\"path\":\"/data\"}") == 0 &&
      strcmp(cellblock_call_reason(call), "it writes") == 0) {
    cellblock_decide(decision, CELLBLOCK_ALLOW, NULL);
  }
}

static void on_request(void* user, const char* method, const char* params, cellblock_reply* reply) {
  (void)user;
  (void)params;
  if (strcmp(method, "roots/list") == 0) cellblock_reply_result(reply, "{\"roots\":[]}");
}

static void on_progress(void* user, double progress, double total, const char* message) {
  seen* all = user;
  if (total < 0 && message[0] == '\0') all->progress = progress;
}

static cellblock_options* options_for(const char* socket, seen* all) {
  cellblock_options* options = cellblock_options_new();
  if (options == NULL) return NULL;
  cellblock_options_socket(options, socket);
  cellblock_options_identity(options, "c_host", "1");
  cellblock_options_capabilities(options, "{\"roots\":{}}");
  cellblock_options_rule(options, NULL, CELLBLOCK_TOOL, "delete_*", CELLBLOCK_DENY, "never");
  cellblock_options_on_permission(options, on_permission, all);
  cellblock_options_on_approval(options, on_approval, all);
  cellblock_options_on_notification(options, on_notification, all);
  cellblock_options_on_request(options, on_request, all);
  return options;
}

static int call_tools(cellblock_client* client, seen* all) {
  cellblock_call_options how = CELLBLOCK_CALL_OPTIONS_INIT;
  cellblock_result* result = NULL;
  cellblock_result* small = NULL;
  cellblock_error* error = NULL;
  size_t size = 0;
  how.on_progress = on_progress;
  how.user = all;
  EXPECT(cellblock_call_tool(client, "write", "{\"path\":\"/data\"}", &how, &result, &error) ==
         CELLBLOCK_OK);
  EXPECT(error == NULL && all->asked == 1 && all->progress == 0.5);
  EXPECT(strcmp(cellblock_result_text(result, &size), "done") == 0 && size == 4);
  EXPECT(!cellblock_result_is_error(result) && cellblock_result_tokens(result) == 1);
  EXPECT(cellblock_bound_result(result, NULL, &small, NULL) == CELLBLOCK_OK);
  EXPECT(!cellblock_result_is_bounded(small));
  EXPECT(strcmp(cellblock_result_json(small, NULL), cellblock_result_json(result, NULL)) == 0);
  cellblock_result_free(small);
  cellblock_result_free(result);

  result = NULL;
  EXPECT(cellblock_call_tool(client, "delete_all", NULL, NULL, &result, &error) ==
         CELLBLOCK_DENIED_BY_HOST);
  EXPECT(result == NULL && strstr(cellblock_error_text(error), "never") != NULL);
  cellblock_error_free(error);

  EXPECT(cellblock_call_tool(client, "slow", "{}", NULL, &result, &error) == CELLBLOCK_TOO_MANY);
  EXPECT(strcmp(cellblock_error_failure(error), "rate_limited") == 0);
  EXPECT(cellblock_error_code(error) == CELLBLOCK_TOO_MANY);
  cellblock_error_free(error);
  return 0;
}

static int use(cellblock_client* client, seen* all) {
  cellblock_attach_options with = CELLBLOCK_ATTACH_OPTIONS_INIT;
  const char* const labels[] = {"org", "acme", NULL};
  cellblock_result* answer = NULL;
  cellblock_tools* tools = NULL;
  with.on_demand = 1;
  with.labels = labels;
  EXPECT(cellblock_attach(client, "files", &with, NULL) == CELLBLOCK_OK);
  EXPECT(cellblock_initialize(client, 60000, &answer, NULL) == CELLBLOCK_OK);
  EXPECT(strstr(cellblock_result_json(answer, NULL), "2025-11-25") != NULL);
  cellblock_result_free(answer);
  EXPECT(cellblock_list_tools(client, 60000, &tools, NULL) == CELLBLOCK_OK);
  EXPECT(cellblock_tools_count(tools) == 1 && cellblock_tools_name(tools, 1) == NULL);
  EXPECT(strcmp(cellblock_tools_name(tools, 0), "write") == 0);
  EXPECT(strcmp(cellblock_tools_json(tools, 0), "{ \"name\":\"write\" }") == 0);
  cellblock_tools_free(tools);
  EXPECT(all->notifications == 1);
  return call_tools(client, all);
}

int run_c_host(const char* socket) {
  seen all = {0, 0, 0};
  cellblock_client* client = NULL;
  cellblock_options* options = options_for(socket, &all);
  int line = 0;
  EXPECT(options != NULL);
  EXPECT(cellblock_connect(options, &client, NULL) == CELLBLOCK_OK);
  cellblock_options_free(options);
  line = use(client, &all);
  cellblock_client_free(client);
  return line;
}
