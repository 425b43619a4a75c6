#pragma once

/// A host in C against a daemon that answers as the test says: what it found, in words.

#ifdef __cplusplus
extern "C" {
#endif

/// 0: all as it should be; else the line of the first thing that was not.
int run_c_host(const char* socket);

#ifdef __cplusplus
}
#endif
