/**
 * Moves something exactly as long as it is held.
 *
 * States: idle → held (the movement was sent) → idle (stop was sent). Over HTTP, a stop may overtake the movement that was sent just before;
 * if the movement was not answered yet when the hold ended, stop is sent once more after its answer.
 */
export interface Hold {
  readonly isHeld: boolean;
  /** Starts the movement, or replaces it by another one. */
  press(move: () => Promise<unknown>): void;
  /** Does nothing if nothing is held. */
  release(): void;
}

/** @param stop never rejects */
export function createHold(stop: () => Promise<unknown>): Hold {
  let isHeld = false;
  let unanswered = 0;
  return {
    get isHeld() {
      return isHeld;
    },
    press(move) {
      isHeld = true;
      unanswered += 1;
      const answered = (): void => {
        unanswered -= 1;
        if (!isHeld && unanswered === 0) void stop();
      };
      move().then(answered, answered);
    },
    release() {
      if (!isHeld) return;
      isHeld = false;
      void stop();
    },
  };
}
