/* A host in C with a loop of its own: two tool calls at once, an approval in the terminal, and nothing
   that waits but poll().

     poll_host SERVER TOOL [ARGUMENTS]

   The call is made twice at the same time. Before each one leaves, the user is asked; while he thinks
   the connection goes on. */
#include <cellblock/cellblock_async.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct host {
  cellblock_client* client;
  const char* server;
  const char* tool;
  const char* arguments;
  cellblock_decision* asked[2]; /* kept until the user has answered, in this order */
  int asked_count;
  int open_calls; /* -1: none has been made yet */
  int exit_code;
} host;

static void fail(host* all, cellblock_error* error) {
  fprintf(stderr, "poll_host: %s\n", cellblock_error_text(error));
  if (*cellblock_error_advice(error) != '\0') fprintf(stderr, "%s\n", cellblock_error_advice(error));
  cellblock_error_free(error);
  all->exit_code = EXIT_FAILURE;
  all->open_calls = 0;
}

static void called(void* user, cellblock_code code, cellblock_result* result,
                   cellblock_error* error) {
  host* all = user;
  all->open_calls -= 1;
  if (code == CELLBLOCK_OK) {
    puts(cellblock_result_text(result, NULL)); /* untrusted: escape it where it is shown for long */
  } else {
    fprintf(stderr, "poll_host: %s\n", cellblock_error_text(error));
    all->exit_code = EXIT_FAILURE;
  }
  cellblock_result_free(result);
  cellblock_error_free(error);
}

static void call_twice(host* all) {
  int i;
  all->open_calls = 0;
  for (i = 0; i < 2; ++i) {
    cellblock_error* error = NULL;
    if (cellblock_call_tool_async(all->client, all->tool, all->arguments, NULL, called, all, NULL,
                                  &error)) {
      fail(all, error);
      return;
    }
    all->open_calls += 1;
  }
}

static void initialized(void* user, cellblock_code code, cellblock_result* answer,
                        cellblock_error* error) {
  cellblock_result_free(answer);
  if (code == CELLBLOCK_OK) {
    call_twice(user);
  } else {
    fail(user, error);
  }
}

static void attached(void* user, cellblock_code code, cellblock_error* error) {
  host* all = user;
  if (code == CELLBLOCK_OK) {
    code = cellblock_initialize_async(all->client, 60000, initialized, all, &error);
  }
  if (code != CELLBLOCK_OK) fail(all, error);
}

static void connected(void* user, cellblock_code code, cellblock_error* error) {
  host* all = user;
  if (code == CELLBLOCK_OK) {
    code = cellblock_attach_async(all->client, all->server, NULL, attached, all, &error);
  }
  if (code != CELLBLOCK_OK) fail(all, error);
}

static void on_approval(void* user, const cellblock_call* call, cellblock_decision* decision) {
  host* all = user;
  if (all->asked_count == 2) return; /* not decided: denied */
  fprintf(stderr, "%s %s? [y/n]\n", cellblock_call_name(call), cellblock_call_arguments(call));
  all->asked[all->asked_count++] = cellblock_decision_keep(decision);
}

static void user_answered(host* all) {
  char line[64];
  const int said = fgets(line, sizeof(line), stdin) != NULL;
  cellblock_decision* first = all->asked[0];
  all->asked[0] = all->asked[1];
  all->asked_count -= 1;
  cellblock_decide(first, said && line[0] == 'y' ? CELLBLOCK_ALLOW : CELLBLOCK_DENY,
                   "the user said no");
  cellblock_decision_free(first);
}

static void run(host* all) {
  while (all->open_calls != 0) {
    struct pollfd waited[2];
    waited[0].fd = cellblock_fd(all->client);
    waited[0].events = cellblock_events(all->client);
    waited[1].fd = all->asked_count > 0 ? STDIN_FILENO : -1; /* below 0: not waited for */
    waited[1].events = POLLIN;
    waited[1].revents = 0;
    if (poll(waited, 2, cellblock_timeout(all->client)) < 0) continue; /* a signal */
    if (waited[1].revents != 0) user_answered(all);
    cellblock_process(all->client, NULL);
  }
}

int main(int argc, char** argv) {
  host all = {NULL, NULL, NULL, NULL, {NULL, NULL}, 0, -1, EXIT_SUCCESS};
  cellblock_options* options = cellblock_options_new();
  cellblock_error* error = NULL;
  if (argc < 3 || options == NULL) {
    fprintf(stderr, "usage: poll_host SERVER TOOL [ARGUMENTS]\n");
    return EXIT_FAILURE;
  }
  all.server = argv[1];
  all.tool = argv[2];
  all.arguments = argc > 3 ? argv[3] : NULL;
  setvbuf(stdin, NULL, _IONBF, 0); /* poll() does not see what stdio has read already */
  cellblock_options_otherwise(options, CELLBLOCK_ASK);
  cellblock_options_on_approval(options, on_approval, &all);
  if (cellblock_connect_async(options, connected, &all, &all.client, &error)) {
    fail(&all, error);
  } else {
    run(&all);
  }
  cellblock_options_free(options);
  while (all.asked_count > 0) cellblock_decision_free(all.asked[--all.asked_count]);
  cellblock_client_free(all.client);
  return all.exit_code;
}
