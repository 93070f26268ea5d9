import type { Problem } from '@platform/base';
import type { JsonObject } from '../schema.ts';

/** Why an import could not be resolved, in the order of the wire's FragmentErrorType; or that a variable has no value. */
export type FragmentFault = 'no_access' | 'nesting_limit' | 'child_id_invalid' | 'cycle' | 'no_value';

export interface FragmentProblem extends Problem {
  readonly fault?: FragmentFault;
  /** The fragment that has, or contains, the problem. */
  readonly fragmentId?: string;
  /** The position in that fragment, for `no_value`. */
  readonly at?: string;
}

export interface FoundFragment {
  readonly revision: string;
  readonly config: JsonObject;
  /** A message about this import, such as that access was lost and an older revision is kept. */
  readonly notice?: string;
}

/**
 * A fragment's configuration. `version` is a revision or a tag; '' is the newest revision. `unknown`: there is no usable fragment;
 * `unknown_version`: there is one, but not in this version.
 */
export type Lookup = (fragmentId: string, version: string) => FoundFragment | 'unknown' | 'unknown_version';

export interface UsedFragment {
  readonly fragmentId: string;
  /** The requested version; '' means the newest. */
  readonly version: string;
  readonly revision?: string;
  /** True if the document itself imports it, false if a fragment does. */
  readonly direct: boolean;
}

export interface FragmentOrigin {
  readonly fragmentId: string;
  readonly revision: string;
  /** The document's own import that led to this fragment; the fragment itself if it is direct. */
  readonly viaFragmentId: string;
}
