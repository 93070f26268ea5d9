/** `-webprofile`: profiles of the running server, taken on request. One at a time, because the inspector supports only one. */
import { Session } from 'node:inspector/promises';
import { memoryUsage, resourceUsage } from 'node:process';
import { getHeapSpaceStatistics } from 'node:v8';
import { aborted, type Clock } from '@platform/base';

export interface Profiler {
  /** A `.cpuprofile` of the next milliseconds. */
  cpu(ms: number): Promise<string>;
  /** A `.heapprofile`: samples of allocations in the next milliseconds that are still live at their end. */
  heap(ms: number): Promise<string>;
  /** Memory, time and system calls of the process so far. */
  variables(): string;
}

export function createProfiler(clock: Clock): Profiler {
  let busy = false;
  const during = async (
    ms: number,
    start: (session: Session) => Promise<unknown>,
    stop: (session: Session) => Promise<{ readonly profile: object }>,
  ): Promise<string> => {
    if (busy) throw aborted('another profile is being taken: wait until it ends');
    busy = true;
    const session = new Session();
    try {
      session.connect();
      await session.post('Profiler.enable');
      await start(session);
      await clock.sleep(ms);
      return JSON.stringify((await stop(session)).profile);
    } finally {
      session.disconnect();
      busy = false;
    }
  };
  return {
    cpu: (ms) =>
      during(
        ms,
        (session) => session.post('Profiler.start'),
        (session) => session.post('Profiler.stop'),
      ),
    heap: (ms) =>
      during(
        ms,
        (session) => session.post('HeapProfiler.startSampling'),
        (session) => session.post('HeapProfiler.stopSampling'),
      ),
    variables: () =>
      JSON.stringify({ memory: memoryUsage(), usage: resourceUsage(), heap_spaces: getHeapSpaceStatistics() }, null, 2),
  };
}
