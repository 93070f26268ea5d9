/**
 * Which tabs of a browser keep their live connection open. Over HTTP/1.1 a browser has six connections to a cloud for all of its tabs.
 * If live connections took all six, the calls of every tab would wait forever.
 *
 * The `most` tabs that were used last hold theirs. The others take turns: each opens its connection for a moment, again and again, so that
 * its data is only a few seconds old. Tabs notify each other; a tab that crashed is forgotten after `silenceMs`.
 */
export interface TabNote {
  readonly tab: string;
  /** When a person used it last, in ms since 1970. */
  readonly usedMs: number;
  /** False: it let go of its connection. */
  readonly holds: boolean;
}

export interface TabTurns {
  /** False: the tab may open its connection only for a moment. */
  mayHold(): boolean;
  /** A person uses this tab. */
  used(): void;
  /** Tells the others that this tab holds its connection. Call it at least every 10 s; an unchanged state is not sent again at once. */
  hold(): void;
  /** Tells the others that it no longer does; does nothing if it did not. */
  letGo(): void;
  /** Takes a note from another tab. */
  hear(note: TabNote): void;
}

const silenceMs = 25_000;
const repeatMs = 5_000;
/** Leaves some of the six for calls and for tabs that take turns. */
const most = 3;

export function createTabTurns(given: {
  /** Unique among the tabs. */
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
