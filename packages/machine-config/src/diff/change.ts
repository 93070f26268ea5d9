/** A difference between two documents, and where it is. */

import type { Json } from '../schema.ts';

/** A key of an object, or a position in a list: in the old list, except for the last step of an addition. */
export type Step = string | number;

export type Change = {
  readonly path: readonly Step[];
  /** Names of the list entries along the path, outermost first, as in the old document. */
  readonly of: readonly string[];
} & (
  | { readonly kind: 'added'; readonly after: Json }
  | { readonly kind: 'removed'; readonly before: Json }
  | { readonly kind: 'changed'; readonly before: Json; readonly after: Json }
  /** An entry whose name alone has changed; the path leads to the name. */
  | { readonly kind: 'renamed'; readonly before: Json; readonly after: Json }
  /** The position in the new list. */
  | { readonly kind: 'moved'; readonly to: number }
);

/** Two values at the same path. */
export interface Place {
  readonly before: Json;
  readonly after: Json;
  readonly path: readonly Step[];
  readonly of: readonly string[];
}
