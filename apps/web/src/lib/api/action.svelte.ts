/** An action that a person starts with a button: whether it is in progress, and why it last failed. */
import { type Problem, problemOfAction } from './problem.ts';

export interface Action {
  readonly busy: boolean;
  readonly problem: Problem | undefined;
  /** Never rejects: an error that `act` throws becomes the problem. */
  run(act: () => Promise<unknown>): Promise<void>;
}

export function createAction(): Action {
  let busy = $state(false);
  let problem = $state.raw<Problem>();
  return {
    get busy() {
      return busy;
    },
    get problem() {
      return problem;
    },
    async run(act) {
      [busy, problem] = [true, undefined];
      try {
        await act();
      } catch (caught) {
        problem = problemOfAction(caught);
      } finally {
        busy = false;
      }
    },
  };
}
