/**
 * Moves something for exactly as long as a button is held.
 *
 * States: idle → held (the movement was sent) → idle (stop was sent). Over HTTP, one call may overtake another:
 * - A stop may overtake the movement that was sent just before. If the movement is unanswered when the hold ends, stop is sent again after
 *   its answer.
 * - A movement may overtake the stop before it, which would then end the movement although it is held. A movement is therefore sent only
 *   when all stops are answered.
 */

/** Sends a movement. @param held aborts when the movement is no longer held */
export type Movement = (held: AbortSignal) => Promise<unknown>;

export interface Hold {
  readonly isHeld: boolean;
  /** Starts the movement, or replaces it by another one. */
  press(move: Movement): void;
  /** Does nothing if nothing is held. */
  release(): void;
}

/** @param stop never rejects */
export function createHold(stop: () => Promise<unknown>): Hold {
  let isHeld = false;
  let unanswered = 0;
  let stopping = 0;
  /** Held, but not sent yet. */
  let next: Movement | undefined;
  let holding = new AbortController();
  function sendNext(): void {
    const move = next;
    if (move === undefined || stopping > 0) return;
    next = undefined;
    unanswered += 1;
    const answered = (): void => {
      unanswered -= 1;
      if (!isHeld && unanswered === 0) sendStop();
    };
    move(holding.signal).then(answered, answered);
  }
  function sendStop(): void {
    stopping += 1;
    const answered = (): void => {
      stopping -= 1;
      sendNext();
    };
    stop().then(answered, answered);
  }
  return {
    get isHeld() {
      return isHeld;
    },
    press(move) {
      holding.abort();
      [isHeld, next, holding] = [true, move, new AbortController()];
      sendNext();
    },
    release() {
      if (!isHeld) return;
      [isHeld, next] = [false, undefined];
      holding.abort();
      sendStop();
    },
  };
}
