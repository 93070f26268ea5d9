/** The newest value of a source that sends on its own, for readers that wait for it or refuse one that is too old. */
import { type Clock, deadlineExceeded, PlatformError } from '@platform/base';
import { withTimeout } from '../graph/with-timeout.ts';

export interface Newest<T> {
  set(value: T): void;
  /** Until the next value, readers get this error; waiting readers get it at once. */
  fail(error: PlatformError): void;
  /**
   * The newest value; if there is none yet, waits for it.
   *
   * @throws the error from `fail`; deadline_exceeded if no value came in time, or the newest is too old
   */
  read(): Promise<T>;
  /** Whether `read` has a value at once. */
  readonly hasFresh: boolean;
}

export interface NewestOptions {
  /** Names the source in errors, such as `tcp://10.0.0.7:10110`. */
  readonly source: string;
  /** The expected value, such as `a line with a position`. */
  readonly expected: string;
  /** The longest wait for a value. */
  readonly waitMs: number;
  /** An older value is refused; 0: any age. */
  readonly maxAgeMs: number;
  readonly clock: Clock;
}

export function createNewest<T>({ source, expected, waitMs, maxAgeMs, clock }: NewestOptions): Newest<T> {
  let held: { readonly value: T; readonly atMs: number } | PlatformError | undefined;
  let arrival = Promise.withResolvers<T>();
  const renew = (): PromiseWithResolvers<T> => {
    const before = arrival;
    arrival = Promise.withResolvers<T>();
    // There may be no reader that waits for it.
    arrival.promise.catch(() => {});
    return before;
  };
  const wait = (): Promise<T> => {
    const text = `${source}: expected ${expected} within ${waitMs} ms, found none`;
    return withTimeout(arrival.promise, waitMs, text, clock);
  };
  arrival.promise.catch(() => {});
  return {
    set(value) {
      held = { value, atMs: clock.monotonic() };
      renew().resolve(value);
    },
    fail(error) {
      held = error;
      renew().reject(error);
    },
    async read() {
      if (held instanceof PlatformError) throw held;
      if (held === undefined) return await wait();
      const ageMs = clock.monotonic() - held.atMs;
      if (maxAgeMs === 0 || ageMs <= maxAgeMs) return held.value;
      throw deadlineExceeded(
        `${source}: expected ${expected} at most ${maxAgeMs} ms old, found one that is ${Math.round(ageMs)} ms old; check whether the source still sends`,
      );
    },
    get hasFresh() {
      if (held === undefined || held instanceof PlatformError) return false;
      return maxAgeMs === 0 || clock.monotonic() - held.atMs <= maxAgeMs;
    },
  };
}
