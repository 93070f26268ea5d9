import type { Problem } from '@platform/base';
import type { JsonObject } from '../schema.ts';

/** Why an import could not be had, in the order of the wire's FragmentErrorType; or that a variable has no value. */
export type FragmentFault = 'no_access' | 'nesting_limit' | 'child_id_invalid' | 'cycle' | 'no_value';

export interface FragmentProblem extends Problem {
  readonly fault?: FragmentFault;
  /** The fragment that the problem is about, or in. */
  readonly fragmentId?: string;
  /** Where in that fragment, for `no_value`. */
  readonly at?: string;
}

export interface FoundFragment {
  readonly revision: string;
  readonly config: JsonObject;
  /** Something to be told about this import, such as that access was lost and an older revision is kept. */
  readonly notice?: string;
}

/**
 * A fragment's configuration. `version` is a revision or a tag; '' is the newest revision.
 * `unknown`: there is none that may be used; `unknown_version`: there is, but none of this version.
 */
export type Lookup = (fragmentId: string, version: string) => FoundFragment | 'unknown' | 'unknown_version';

export interface UsedFragment {
  readonly fragmentId: string;
  /** The version asked for; '' is the newest. */
  readonly version: string;
  readonly revision?: string;
  /** Imported by the document itself; else by a fragment. */
  readonly direct: boolean;
}

export interface FragmentOrigin {
  readonly fragmentId: string;
  readonly revision: string;
  /** The fragment that the document itself imports, by which this one came; itself when it is direct. */
  readonly viaFragmentId: string;
}
