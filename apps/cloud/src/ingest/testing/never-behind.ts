/** A tabular store that always keeps up, for tests of other features. */
import type { StoreProgress } from '../backpressure/backpressure.ts';
import type { IngestLog } from '../log/log.ts';

export function neverBehind(log: Pick<IngestLog, 'lastPosition' | 'onCommit'>): StoreProgress {
  return {
    lag: () => ({
      loadedPosition: log.lastPosition(),
      sealedPosition: log.lastPosition(),
      unsealedBytes: 0,
      isAsked: true,
    }),
    onProgress: (listener) => log.onCommit(listener),
  };
}
