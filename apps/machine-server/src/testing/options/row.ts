import type { FakeCloud } from '../fake-cloud.ts';
import type { Given, Machine, Run } from './machine-run.ts';
import type { SharedRuns } from './shared-runs.ts';

/** One option, variable or attribute of the specification. */
export interface Row {
  /** Spelled as in the specification. */
  readonly name: string;
  /** Its observable effect. */
  readonly effect: (machine: Machine, around: Surroundings) => Promise<void>;
  /** The behaviour without it. */
  readonly usual: (machine: Machine, around: Surroundings) => Promise<void>;
  /** A wrong value, and the message with which the start ends, or another effect. Undefined if every value is valid. */
  readonly wrong:
    | { readonly given: Given; readonly says: RegExp }
    | ((machine: Machine, around: Surroundings) => Promise<void>)
    | undefined;
}

/** The environment of a row besides its machine. */
export interface Surroundings {
  /** The row's own cloud. */
  readonly fake: FakeCloud;
  /** The credentials for it. */
  readonly credentials: object;
  /** A server with one fake sensor and without further options, which all rows share. */
  readonly plain: () => Promise<Run>;
  /** Other servers that rows share. */
  readonly shared: SharedRuns;
}
