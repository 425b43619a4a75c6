#pragma once

#include "supervisor/os/sys.h"

/// Options of Unix sockets whose peer is not trusted (docs/decisions/0047).
namespace cellblock {

/// SO_PASSRIGHTS, since Linux 6.16. Off: sendmsg(2) of the peer fails with EPERM when it attaches
/// descriptors, urgent data included. Connections inherit it from their listening socket at
/// connect(2). False: this kernel does not know the option, and closing such a connection may wait
/// for the descriptors that its peer attached.
SysResult<bool> refuse_descriptors(int socket);
SysResult<bool> take_descriptors(int socket);

/// SO_OOBINLINE: a byte of urgent data (MSG_OOB) is read where it stands. Without it a peek passes
/// over that byte and over the descriptors that came with it, the read after it closes them, and
/// epoll calls a socket readable in which there is nothing to read. What cannot be set is reported
/// by the next read.
void read_urgent_bytes_in_line(int socket);

}  // namespace cellblock
