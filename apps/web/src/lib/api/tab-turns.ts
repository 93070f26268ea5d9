/**
 * Which tabs of a browser keep their live connection open. Over HTTP/1.1 a browser has six connections to a cloud for all of its tabs:
 * were they all held, the calls of every tab would wait for ever.
 *
 * The `most` tabs that were used last hold theirs. The others take turns: each opens its connection for a moment, again and again, so that
 * what it shows is a few seconds old. Tabs tell each other; one that ended without a word is forgotten after `silenceMs`.
 */
export interface TabNote {
  readonly tab: string;
  /** When a person used it last, in ms since 1970. */
  readonly usedMs: number;
  /** False: it let go of its connection. */
  readonly holds: boolean;
}

export interface TabTurns {
  /** False: the connection is only to be opened for a moment. */
  mayHold(): boolean;
  /** A person uses this tab. */
  used(): void;
  /** Tells the others that this tab holds its connection. Call it at least every 10 s; what is no news is not told again at once. */
  hold(): void;
  /** Tells the others that it no longer does; nothing if it did not. */
  letGo(): void;
  /** Takes what another tab told. */
  hear(note: TabNote): void;
}

const silenceMs = 25_000;
const repeatMs = 5_000;
/** Leaves some of the six for calls and for those that take turns. */
const most = 3;

export function createTabTurns(given: {
  /** Unlike that of every other tab. */
  readonly tab: string;
  readonly nowMs: () => number;
  readonly post: (note: TabNote) => void;
}): TabTurns {
  const { tab, nowMs, post } = given;
  const others = new Map<string, { readonly usedMs: number; readonly heardMs: number }>();
  let usedMs = nowMs();
  let holds = false;
  let [toldMs, toldUsedMs] = [0, 0];
  return {
    mayHold() {
      let before = 0;
      for (const [other, one] of others) {
        if (nowMs() - one.heardMs > silenceMs) others.delete(other);
        else if (one.usedMs > usedMs || (one.usedMs === usedMs && other > tab)) before += 1;
      }
      return before < most;
    },
    used() {
      usedMs = nowMs();
    },
    hold() {
      if (holds && toldUsedMs === usedMs && nowMs() - toldMs < repeatMs) return;
      [holds, toldMs, toldUsedMs] = [true, nowMs(), usedMs];
      post({ tab, usedMs, holds });
    },
    letGo() {
      if (!holds) return;
      holds = false;
      post({ tab, usedMs, holds });
    },
    hear(note) {
      if (note.holds) others.set(note.tab, { usedMs: note.usedMs, heardMs: nowMs() });
      else others.delete(note.tab);
    },
  };
}
