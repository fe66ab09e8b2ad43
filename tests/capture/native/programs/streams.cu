// Streams, events with simulated times, graphs and stream capture.
#include <cmath>
#include <vector>

#include "check.h"

extern "C" __global__ void add(int* data, int n, int by) {
  if (threadIdx.x < n) data[threadIdx.x] += by;
}

static int* data;

static int value() {
  int host = 0;
  OK(cudaMemcpy(&host, data, 4, cudaMemcpyDeviceToHost));
  return host;
}

static float elapsed(cudaEvent_t from, cudaEvent_t to) {
  float ms = -1;
  OK(cudaEventElapsedTime(&ms, from, to));
  return ms * 1000;
}

// A kernel takes 10 us and its launch 2 us (fake_server.py).
static void times() {
  cudaEvent_t start, stop;
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&stop));
  float ms;
  FAILS(cudaEventElapsedTime(&ms, start, stop), cudaErrorInvalidResourceHandle);  // not recorded
  cudaGetLastError();
  OK(cudaEventRecord(start));
  add<<<1, 32>>>(data, 1, 0);
  OK(cudaEventRecord(stop));
  OK(cudaEventSynchronize(stop));
  EXPECT(std::fabs(elapsed(start, stop) - 12) < 0.01);
  OK(cudaEventRecord(start));
  for (int i = 0; i < 10; ++i) add<<<1, 32>>>(data, 1, 0);
  OK(cudaEventRecord(stop));
  OK(cudaEventSynchronize(stop));
  EXPECT(std::fabs(elapsed(start, stop) - 102) < 0.01);  // later launches overlap with kernels

  cudaStream_t a, b;
  OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  OK(cudaEventRecord(start, a));
  add<<<1, 32, 0, a>>>(data, 1, 0);
  add<<<1, 32, 0, b>>>(data, 1, 0);  // at the same time as the other
  OK(cudaEventRecord(stop, b));
  OK(cudaEventSynchronize(stop));
  EXPECT(std::fabs(elapsed(start, stop) - 14) < 0.01);
  OK(cudaEventRecord(start, a));
  add<<<1, 32, 0, a>>>(data, 1, 0);
  cudaEvent_t done;
  OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  OK(cudaEventRecord(done, a));
  OK(cudaStreamWaitEvent(b, done, 0));
  add<<<1, 32, 0, b>>>(data, 1, 0);  // behind the other
  OK(cudaEventRecord(stop, b));
  EXPECT(std::fabs(elapsed(start, stop) - 22) < 0.01);
  FAILS(cudaEventElapsedTime(&ms, start, done), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  int least, greatest, priority;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t urgent;
  OK(cudaStreamCreateWithPriority(&urgent, cudaStreamDefault, greatest - 5));
  OK(cudaStreamGetPriority(urgent, &priority));
  EXPECT(least == 0 && priority == greatest);
  OK(cudaStreamDestroy(urgent));
  FAILS(cudaStreamDestroy(urgent), cudaErrorInvalidResourceHandle);
  OK(cudaStreamQuery(a));
}

static void count(void* number) { ++*static_cast<int*>(number); }
static void CUDART_CB on_stream(cudaStream_t, cudaError_t result, void* number) {
  EXPECT(result == cudaSuccess);
  ++*static_cast<int*>(number);
}

static void host_functions() {
  int calls = 0;
  OK(cudaLaunchHostFunc(nullptr, count, &calls));
  OK(cudaStreamAddCallback(nullptr, on_stream, &calls, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(calls == 2);
}

static void explicit_graph() {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t clear, kernel, host;
  cudaMemsetParams fill = {};
  fill.dst = data;
  fill.elementSize = 4;
  fill.value = 100;
  fill.width = 1;
  fill.height = 1;
  OK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
  int n = 1, by = 11, calls = 0;
  void* arguments[] = {&data, &n, &by};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(add);
  launch.gridDim = launch.blockDim = dim3(1);
  launch.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &launch));
  cudaHostNodeParams call = {count, &calls};
  OK(cudaGraphAddHostNode(&host, graph, &kernel, 1, &call));
  size_t nodes = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 3);
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(kernel, &type));
  EXPECT(type == cudaGraphNodeTypeKernel);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(value() != 111);
  OK(cudaGraphLaunch(exec, nullptr));
  OK(cudaGraphLaunch(exec, nullptr));
  EXPECT(value() == 111 && calls == 2);
  by = 20;
  OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
  OK(cudaGraphLaunch(exec, nullptr));
  EXPECT(value() == 120);
  cudaKernelNodeParams read = {};
  OK(cudaGraphKernelNodeGetParams(kernel, &read));
  EXPECT(*static_cast<int*>(read.kernelParams[2]) == 11);  // the graph itself is unchanged
  OK(cudaGraphNodeSetEnabled(exec, kernel, 0));
  OK(cudaGraphLaunch(exec, nullptr));
  EXPECT(value() == 100);
  OK(cudaGraphExecDestroy(exec));
  cudaGraph_t clone;
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphInstantiate(&exec, clone, 0));
  OK(cudaGraphLaunch(exec, nullptr));
  EXPECT(value() == 111);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(clone));
  FAILS(cudaGraphLaunch(exec, nullptr), cudaErrorInvalidValue);
}

static cudaGraph_t record(cudaStream_t stream, cudaStream_t other, int by) {
  cudaEvent_t fork, join;
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  OK(cudaMemsetAsync(data, 0, 4, stream));
  OK(cudaEventRecord(fork, stream));
  OK(cudaStreamWaitEvent(other, fork, 0));
  add<<<1, 1, 0, other>>>(data, 1, by);
  OK(cudaEventRecord(join, other));
  OK(cudaStreamWaitEvent(stream, join, 0));
  add<<<1, 1, 0, stream>>>(data, 1, by);
  cudaGraph_t graph = nullptr;
  OK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

static void capture() {
  cudaStream_t stream, other;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamCreate(&other));
  OK(cudaMemset(data, 0, 4));
  cudaGraph_t graph = record(stream, other, 3);
  EXPECT(value() == 0);  // captured, not executed
  size_t edges = 0;
#if CUDART_VERSION >= 13000
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
#else
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
#endif
  EXPECT(edges >= 2);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaGraphLaunch(exec, stream));
  EXPECT(value() == 6);
  cudaGraph_t changed = record(stream, other, 5);
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphExecUpdate(exec, changed, &info));
  OK(cudaGraphLaunch(exec, stream));
  EXPECT(value() == 10);
  cudaGraph_t empty;
  OK(cudaGraphCreate(&empty, 0));
  FAILS(cudaGraphExecUpdate(exec, empty, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  cudaGetLastError();

  // What a capture forbids.
  cudaStreamCaptureStatus status;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaStreamIsCapturing(stream, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  FAILS(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT(graph == nullptr);
  FAILS(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  cudaEvent_t fork;
  OK(cudaEventCreate(&fork));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  OK(cudaEventRecord(fork, stream));
  OK(cudaStreamWaitEvent(other, fork, 0));
  add<<<1, 1, 0, other>>>(data, 1, 1);
  FAILS(cudaEventQuery(fork), cudaErrorCapturedEvent);
  FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  OK(cudaEventRecord(fork, stream));
  OK(cudaStreamWaitEvent(other, fork, 0));
  add<<<1, 1, 0, other>>>(data, 1, 1);
  FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
  cudaGetLastError();
  OK(cudaStreamSynchronize(other));
}

int main() {
  OK(cudaMalloc(&data, 1024));
  times();
  host_functions();
  explicit_graph();
  capture();
  return failures;
}
