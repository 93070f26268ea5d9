import { silentLog } from '@platform/base';
import { startCapturing } from './capturing.ts';
import type { MemoryCloud } from './memory-cloud.ts';

/** Starts with the home of a machine whose process ended, sends everything in it, reports missing readings, and stops. */
export async function syncAll(home: string, cloud: MemoryCloud): Promise<void> {
  const data = await startCapturing({
    ...{ home, bootId: 'after' },
    made: () => {},
    accept: (upload) => cloud.accept(upload),
    tell: (gap) => cloud.tell(gap),
    log: silentLog,
  });
  await data.sync.flush();
  for (const { id, name, reason, startUs, endUs, readings } of data.gaps.waiting())
    cloud.tell({ id, componentName: name, reason, startUs, endUs, readings });
  await data[Symbol.asyncDispose]();
}
