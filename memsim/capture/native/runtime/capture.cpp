// Stream capture (CUDA Runtime API, "Stream Management").

#include "common.h"

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaStreamBeginCapture(StreamHandle handle, int mode) {
  Stream* stream = stream_of(handle);
  return done(stream ? begin_capture(stream, mode) : Status(error_invalid_resource_handle));
}
MEMSIM_CUDA Error cudaStreamBeginCaptureToGraph(StreamHandle handle, Graph* graph, GraphNode* const* from,
                                                const EdgeData*, size_t n, int mode) {
  Stream* stream = stream_of(handle);
  if (!stream || !is_graph(graph)) return done(stream ? error_invalid_value : error_invalid_resource_handle);
  return done(begin_capture(stream, mode, graph, from, n));
}
MEMSIM_CUDA Error cudaStreamEndCapture(StreamHandle handle, Graph** graph) {
  Stream* stream = stream_of(handle);
  if (!stream || !graph) return done(stream ? error_invalid_value : error_invalid_resource_handle);
  return done(end_capture(stream, graph));
}
MEMSIM_CUDA Error cudaStreamIsCapturing(StreamHandle handle, int* capturing) {
  Stream* stream = stream_of(handle);
  if (!stream || !capturing) return done(stream ? error_invalid_value : error_invalid_resource_handle);
  *capturing = int(capture_status(stream));
  return success;
}
MEMSIM_CUDA Error cudaThreadExchangeStreamCaptureMode(int* mode) {
  if (!mode || *mode < 0 || *mode > 2) return done(error_invalid_value);
  *mode = exchange_capture_mode(*mode);
  return success;
}
