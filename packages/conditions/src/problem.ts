/** What is wrong with a configured condition, with the place, so that an editor can point at it. */

export interface Problem {
  /** From the `conditional` object on, e.g. `conditions.evals[0].operator`. */
  readonly path: string;
  readonly message: string;
  /** With an error the condition never fires and must not be saved; a warning only informs. */
  readonly severity: 'error' | 'warning';
}

export type Report = (path: string, message: string, severity?: Problem['severity']) => void;
