/**
 * Lists the files that the child sealed, one seal after another, and moves S with them (I9). A failed write to the catalog is retried,
 * because the child keeps the rows until it succeeds.
 */
import { backoffMs, type Clock, errorText, type Log, PlatformError } from '@platform/base';
import type { SealedFile } from '../process/messages.ts';
import type { Catalog } from './catalog.ts';

export interface Seals {
  /** S. */
  readonly position: number;
  /** Sets S to the catalog's value when the child starts. */
  readPosition(position: number): void;
  sealed(files: readonly SealedFile[], upTo: number): void;
  /** Runs the work after all seals reported so far, and before later ones. */
  inTurn(work: () => Promise<void> | void): void;
  /** Resolves when every reported seal is listed. */
  settled(): Promise<void>;
  onSealed(listener: (position: number) => void): Disposable;
}

export function createSeals(deps: {
  readonly catalog: Pick<Catalog, 'list'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly stopping: AbortSignal;
  /** Called after each switch, before the listeners. */
  readonly switched: () => void;
  /** Called after the listeners. */
  readonly merge: () => void;
}): Seals {
  const { catalog, clock, log, stopping, switched, merge } = deps;
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
    switched();
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
