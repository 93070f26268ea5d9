/** Computes when pulses of software PWM begin and end, from the time, so that late edges do not shift the following ones. */

export interface Pulse {
  readonly periodMs: number;
  /** 0 to 1. */
  readonly duty: number;
}

export interface Pulses {
  /** Begins, changes or (undefined) ends the pulses of an output. */
  set(output: number, pulse: Pulse | undefined): void;
  /** Sets the levels of the edges that are due. @returns the time of the next edge; Infinity if there is none */
  advance(nowMs: number): number;
}

interface State extends Pulse {
  /** Begin of the current period. */
  beganMs: number;
  isHigh: boolean | undefined;
}

/** @param write sets the level of an output */
export function createPulses(write: (output: number, isHigh: boolean) => void): Pulses {
  const states = new Map<number, State>();
  return {
    set(output, pulse) {
      const before = states.get(output);
      if (pulse === undefined) states.delete(output);
      else states.set(output, { ...pulse, beganMs: before?.beganMs ?? Number.NaN, isHigh: before?.isHigh });
    },
    advance(nowMs) {
      let next = Number.POSITIVE_INFINITY;
      for (const [output, state] of states) {
        const { periodMs, duty } = state;
        if (Number.isNaN(state.beganMs)) state.beganMs = nowMs;
        const periods = Math.floor((nowMs - state.beganMs) / periodMs);
        state.beganMs += periods * periodMs;
        const fallsMs = state.beganMs + duty * periodMs;
        const isHigh = nowMs < fallsMs;
        if (isHigh !== state.isHigh) write(output, isHigh);
        state.isHigh = isHigh;
        // Without edges there is nothing to wait for.
        if (duty > 0 && duty < 1) next = Math.min(next, isHigh ? fallsMs : state.beganMs + periodMs);
      }
      return next;
    },
  };
}
