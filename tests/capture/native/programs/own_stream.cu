// Compiled with --default-stream per-thread: stream 0 is the thread's own, and may be captured. A child of fork has no
// device, and its memory is its own.
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern "C" __global__ void add(int* data, int n, int by) {
  if (threadIdx.x < n) data[threadIdx.x] += by;
}

int main() {
  int* pinned;
  OK(cudaMallocHost(&pinned, 4));
  *pinned = 1;
  OK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeThreadLocal));
  add<<<1, 1>>>(pinned, 1, 5);
  cudaGraph_t graph;
  OK(cudaStreamEndCapture(nullptr, &graph));
  EXPECT(*pinned == 1);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, nullptr));
  EXPECT(*pinned == 6);
  int one = 0;
  void *to = &one, *from = pinned;
  size_t bytes = sizeof one, index = 0;
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
#if CUDART_VERSION >= 13000
  OK(cudaMemcpyBatchAsync(&to, &from, &bytes, 1, &attributes, &index, 1, nullptr));
#else
  OK(cudaMemcpyBatchAsync(&to, &from, &bytes, 1, &attributes, &index, 1, nullptr, nullptr));
#endif
  OK(cudaDeviceSynchronize());
  EXPECT(one == 6);
  pid_t child = fork();
  if (child == 0) {
    int count = -1;
    FAILS(cudaGetDeviceCount(&count), cudaErrorNoDevice);
    FAILS(cudaDeviceSynchronize(), cudaErrorNoDevice);
    *pinned = 9;
    fflush(stdout);
    _exit(failures);
  }
  int state = 1;
  waitpid(child, &state, 0);
  EXPECT(state == 0);
  EXPECT(*pinned == 6);
  add<<<1, 1>>>(pinned, 1, 1);
  OK(cudaDeviceSynchronize());
  EXPECT(*pinned == 6 + 1);
  return failures;
}
