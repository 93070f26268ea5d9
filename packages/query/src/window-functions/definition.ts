/** What defines a window function of $setWindowFields: how it is written, and what walks the rows of a partition. */

import type { BsonValue } from '../bson/value.ts';
import type { StartWalk, Workspace } from '../execute/window/partition.ts';
import type { SortKey } from '../plan/stage.ts';
import type { WindowFrame } from '../plan/window.ts';

/** What the parser of a function is given. */
export interface WindowSpec {
  /** With the dollar. */
  readonly name: string;
  readonly argument: BsonValue;
  /** The whole partition when `hasWindow` is false. */
  readonly frame: WindowFrame;
  readonly hasWindow: boolean;
  /** Names of the specification that are neither the function nor `window`. */
  readonly others: readonly string[];
  /** The stage's order, undefined when it has none. */
  readonly by: readonly SortKey[] | undefined;
  readonly at: string;
}

export interface WindowFunctionDefinition<Function extends { readonly k: string }> {
  /** With the dollar. */
  readonly names: readonly string[];
  /** It reads the rows of a window. Absent: it reads those of the partition, and `window` is ignored. */
  readonly takesWindow?: true;
  /** `parse` refuses other arguments itself. */
  readonly refusesOthers?: true;
  /** @throws QueryError for a faulty specification. */
  readonly parse: (spec: WindowSpec) => Function;
  /** Compiles it once for the stage. The result walks each partition. */
  readonly start: (fn: Function, workspace: Workspace) => StartWalk;
}
