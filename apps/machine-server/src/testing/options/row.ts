import type { FakeCloud } from '../fake-cloud.ts';
import type { Given, Machine, Run } from './machine-run.ts';

/** One option, variable or attribute of the specification. */
export interface Row {
  /** As the specification writes it. */
  readonly name: string;
  /** What it does, seen from outside. */
  readonly effect: (machine: Machine, around: Surroundings) => Promise<void>;
  /** What happens without it. */
  readonly usual: (machine: Machine, around: Surroundings) => Promise<void>;
  /** A wrong value, and the sentence with which the start ends; or what else happens. Undefined: every value is right. */
  readonly wrong:
    | { readonly given: Given; readonly says: RegExp }
    | ((machine: Machine, around: Surroundings) => Promise<void>)
    | undefined;
}

/** What a row finds beside its machine. */
export interface Surroundings {
  /** A cloud of its own. */
  readonly fake: FakeCloud;
  /** The credentials for it. */
  readonly credentials: object;
  /** A server with one fake sensor and without further options, which all rows share. */
  readonly plain: () => Promise<Run>;
}
