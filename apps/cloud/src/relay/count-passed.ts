/**
 * Counts relayed bytes in both directions, for billing: the bytes on the link of a machine while at least one call is in progress. A link
 * that only waits for calls costs nothing.
 */
import type { PartLink } from './links.ts';

export interface PassedBytes {
  /** Begins a call on the link; it ends when it is disposed. */
  enter(link: PartLink, organizationId: string): PassingCall;
}

export interface PassingCall extends Disposable {
  /** Reports the bytes relayed since the last report, including those of calls still in progress. */
  tell(): void;
}

/** @param onPassed called with bytes of calls, each byte once, however many calls share the link */
export function createPassedBytes(onPassed: (organizationId: string, bytes: number) => void): PassedBytes {
  /** For links with calls: the number of calls, and the byte count up to which bytes were reported. */
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
