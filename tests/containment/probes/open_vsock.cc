// open_vsock: a socket to the hypervisor, which no network namespace holds back.

#include <sys/socket.h>

#include "tests/containment/probes/verdict.h"

int main() { return cellblock::probe::say(::socket(AF_VSOCK, SOCK_STREAM, 0) >= 0); }
