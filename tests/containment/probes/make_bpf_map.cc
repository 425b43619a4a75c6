// make_bpf_map: what every use of bpf(2) begins with.

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main() {
  bpf_attr map{};
  map.map_type = BPF_MAP_TYPE_ARRAY;
  map.key_size = 4;
  map.value_size = 4;
  map.max_entries = 1;
  return cellblock::probe::say(::syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map) >= 0);
}
