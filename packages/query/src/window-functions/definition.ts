/** What defines a window function of $setWindowFields: its syntax, and the code that walks the rows of a partition. */

import type { BsonValue } from '../bson/value.ts';
import type { StartWalk, Workspace } from '../execute/window/partition.ts';
import type { SortKey } from '../plan/sort-key.ts';
import type { WindowFrame } from '../plan/window.ts';

/** The input of a function's parser. */
export interface WindowSpec {
  /** With the dollar. */
  readonly name: string;
  readonly argument: BsonValue;
  /** The whole partition if `hasWindow` is false. */
  readonly frame: WindowFrame;
  readonly hasWindow: boolean;
  /** Names in the specification other than the function and `window`. */
  readonly others: readonly string[];
  /** The stage's order, undefined if it has none. */
  readonly by: readonly SortKey[] | undefined;
  readonly at: string;
}

export interface WindowFunctionDefinition<Function extends { readonly k: string }> {
  /** With the dollar. */
  readonly names: readonly string[];
  /** It reads the rows of a window. Absent: it reads those of the partition, and `window` is ignored. */
  readonly takesWindow?: true;
  /** `parse` itself refuses other arguments. */
  readonly refusesOthers?: true;
  /** @throws QueryError for an invalid specification. */
  readonly parse: (spec: WindowSpec) => Function;
  /** Compiles it once for the stage. The result walks each partition. */
  readonly start: (fn: Function, workspace: Workspace) => StartWalk;
}
