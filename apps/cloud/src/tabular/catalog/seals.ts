/**
 * What the child sealed goes onto the list, one seal after the other, and S moves with it (I9). A catalog that cannot be written is tried
 * again, because the child holds the rows until then.
 */
import { backoffMs, type Clock, errorText, type Log, PlatformError } from '@platform/base';
import type { SealedFile } from '../process/messages.ts';
import type { Catalog } from './catalog.ts';

export interface Seals {
  /** S. */
  readonly position: number;
  /** As the catalog has it, at a start of the child. */
  readPosition(position: number): void;
  sealed(files: readonly SealedFile[], upTo: number): void;
  /** After the seals that were reported before, and before those that come. */
  inTurn(work: () => Promise<void> | void): void;
  /** Resolves when all that was reported is listed. */
  settled(): Promise<void>;
  onSealed(listener: (position: number) => void): Disposable;
}

export function createSeals(deps: {
  readonly catalog: Pick<Catalog, 'list'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly stopping: AbortSignal;
  /** After each flip, before anyone else knows. */
  readonly flipped: () => void;
  /** After the listeners. */
  readonly merge: () => void;
}): Seals {
  const { catalog, clock, log, stopping, flipped, merge } = deps;
  const listeners = new Set<(position: number) => void>();
  let position = 0;
  let listing: Promise<void> = Promise.resolve();

  const list = async (files: readonly SealedFile[], upTo: number): Promise<void> => {
    for (let failures = 0; !stopping.aborted; ) {
      try {
        await catalog.list(files, upTo, clock.now());
        break;
      } catch (caught) {
        if (caught instanceof PlatformError && caught.code === 'aborted') break;
        failures++;
        log.error('listing sealed files failed; trying again', { error: errorText(caught), failures });
        await clock.sleep(backoffMs(failures), stopping).catch(() => {});
      }
    }
    if (stopping.aborted) return;
    position = Math.max(position, upTo);
    flipped();
    for (const listener of listeners) listener(position);
    merge();
  };

  const inTurn = (work: () => Promise<void> | void): void => {
    listing = listing.then(work);
  };
  return {
    get position() {
      return position;
    },
    readPosition(read) {
      position = read;
    },
    sealed: (files, upTo) => inTurn(() => list(files, upTo)),
    inTurn,
    settled: () => listing,
    onSealed(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}
