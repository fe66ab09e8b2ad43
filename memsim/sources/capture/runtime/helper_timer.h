// Stopwatches as NVIDIA's samples use them; milliseconds of the host's clock.
#pragma once

#include <time.h>

class StopWatchInterface {
  public:
    void start() { begun = now(), running = true; }
    void stop() { total += now() - begun, ++sessions, running = false; }
    void reset() { total = 0, sessions = 0, begun = now(); }
    float getTime() const { return total + (running ? now() - begun : 0); }
    float getAverageTime() const { return sessions ? total / sessions : 0; }

  private:
    static float now() {
        timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        static const time_t first = t.tv_sec;
        return (t.tv_sec - first) * 1e3f + t.tv_nsec * 1e-6f;
    }
    float begun = 0, total = 0;
    int sessions = 0;
    bool running = false;
};

inline bool sdkCreateTimer(StopWatchInterface** timer) { return *timer = new StopWatchInterface, true; }
inline bool sdkDeleteTimer(StopWatchInterface** timer) { return delete *timer, *timer = nullptr, true; }
inline bool sdkStartTimer(StopWatchInterface** timer) { return (*timer)->start(), true; }
inline bool sdkStopTimer(StopWatchInterface** timer) { return (*timer)->stop(), true; }
inline bool sdkResetTimer(StopWatchInterface** timer) { return (*timer)->reset(), true; }
inline float sdkGetTimerValue(StopWatchInterface** timer) { return (*timer)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) { return (*timer)->getAverageTime(); }
