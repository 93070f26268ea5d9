/**
 * Counts what is passed on to machines and back, for billing: the bytes on the link of a machine while at least one call is in progress. A
 * link that only waits for calls costs nothing.
 */
import type { PartLink } from './links.ts';

export interface PassedBytes {
  /** A call on the link begins; it ends when it is disposed. */
  enter(link: PartLink, organizationId: string): PassingCall;
}

export interface PassingCall extends Disposable {
  /** Tells what was passed on since the last time: of a long call, what it has cost so far. */
  tell(): void;
}

/** @param onPassed called with bytes of calls, each byte once, however many calls share the link */
export function createPassedBytes(onPassed: (organizationId: string, bytes: number) => void): PassedBytes {
  /** Of links with calls: how many there are, and up to where bytes were told. */
  const busy = new WeakMap<PartLink, { calls: number; told: number }>();
  return {
    enter(link, organizationId) {
      const state = busy.get(link) ?? { calls: 0, told: link.bytes() };
      busy.set(link, state);
      state.calls += 1;
      const tell = (): void => {
        const bytes = link.bytes();
        if (bytes > state.told) onPassed(organizationId, bytes - state.told);
        state.told = bytes;
      };
      return {
        tell,
        [Symbol.dispose]() {
          tell();
          state.calls -= 1;
          if (state.calls === 0) busy.delete(link);
        },
      };
    },
  };
}
