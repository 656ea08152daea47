// I. System V and POSIX objects that the host made.
#include <fcntl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "probe.h"

namespace cordon::attacks {
namespace {

constexpr key_t host_key = 0x150b;

Answer read_segment(const Decoys&) {
  const int id = shmget(host_key, 0, 0);
  if (id < 0) return answer(-1);
  const void* memory = shmat(id, nullptr, SHM_RDONLY);
  return open_if(memory != reinterpret_cast<void*>(-1));
}

/// By its number instead of its key: numbers are small and can be guessed.
Answer guess_segment(const Decoys&) {
  for (int id = 0; id < 64; ++id) {
    shmid_ds status{};
    if (shmctl(id, IPC_STAT, &status) == 0) return open_if(true, "id " + std::to_string(id));
  }
  return answer(-1);
}

constexpr Probe probes[] = {
    {"shared_memory", "cannot attach the host's shared memory (key 0x150b)", read_segment},
    {"shared_memory_guessed", "cannot stat a segment by guessing its number", guess_segment},
    {"semaphore", "cannot get the host's semaphore", [](const Decoys&) { return answer(semget(host_key, 0, 0)); }},
    {"message_queue", "cannot get the host's message queue", [](const Decoys&) { return answer(msgget(host_key, 0)); }},
    {"posix_queue", "cannot open the host's POSIX queue",
     [](const Decoys&) { return answer(mq_open("/cordon-decoy", O_RDONLY)); }},
    {"posix_segment", "cannot open the host's POSIX segment",
     [](const Decoys&) { return try_open("/dev/shm/cordon-decoy", O_RDONLY); }},
};

}  // namespace

Probes ipc_probes() { return probes; }

}  // namespace cordon::attacks
