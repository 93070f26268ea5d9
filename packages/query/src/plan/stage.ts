/** The plan, and the stages that planners look into, as plain data. All stages: stages/registry.ts. */

import type { Stages } from '../stages/registry.ts';
import type { Expr, Path } from './expr.ts';
import type { Placed, StagePlace } from './stage-place.ts';

/** What happens to a field: kept, dropped, computed, or a subtree that is treated in the same way. */
export type ShapeTree = { readonly k: 'tree'; readonly fields: readonly (readonly [string, ShapeTree | ShapeLeaf])[] };
export type ShapeLeaf = { readonly k: 'keep' } | { readonly k: 'drop' } | { readonly k: 'set'; readonly value: Expr };

export interface Accumulator {
  /** Its name in accumulators/registry.ts. */
  readonly fn: string;
  readonly arg: Expr;
  /** Each value counts once (SQL's DISTINCT). */
  readonly distinct?: boolean;
  /** How many values the accumulators that end in N keep; evaluated once for each group, over its key. */
  readonly n?: Expr;
  /**
   * The order of $top, $topN, $bottom and $bottomN, whose output is `arg`. For min and max it decides between equal values of different
   * types: the one of the first row in this order.
   */
  readonly by?: readonly SortKey[];
  /** The probabilities of $percentile, from 0 to 1. */
  readonly p?: readonly number[];
}

export type AccumulatorFields = readonly (readonly [string, Accumulator])[];

export interface SortKey {
  readonly path: Path;
  readonly descending: boolean;
}

export interface GroupStage extends Placed {
  readonly k: 'group';
  readonly key: Expr;
  readonly accumulators: AccumulatorFields;
  /** Gives partial groups, `{_id: key, <name>: state}`, for a `merge` (plan/partial-state.ts). */
  readonly partial?: boolean;
  /** The place for errors of a sort whose order the accumulators took over (plan/rewrite/eliminate-sort.ts). */
  readonly sortAt?: StagePlace;
}

/** Merges partial groups into whole ones, in the order of their keys. */
export interface MergeStage extends Placed {
  readonly k: 'merge';
  /** As in the stage that gave the partial groups. */
  readonly accumulators: AccumulatorFields;
  readonly sortAt?: StagePlace;
}

/** Stable. With `top`, only this many first rows are kept. */
export interface SortStage extends Placed {
  readonly k: 'sort';
  readonly by: readonly SortKey[];
  readonly top?: number;
}

/** `include` and `exclude` are the two modes of $project, `set` is that of $addFields. */
export interface ShapeStage extends Placed {
  readonly k: 'shape';
  readonly mode: 'include' | 'exclude' | 'set';
  readonly tree: ShapeTree;
  /** The fields come in the order of the tree, _id first: a $project right after a $group. */
  readonly inOrder?: boolean;
}

export interface ReplaceStage extends Placed {
  readonly k: 'replace';
  readonly with: Expr;
}

/** Makes one new row from each row, using only that row. */
export type RowStage = ShapeStage | ReplaceStage;

export interface FilterStage extends Placed {
  readonly k: 'filter';
  readonly where: Expr;
}

export interface BucketAutoStage extends Placed {
  readonly k: 'bucketAuto';
  readonly key: Expr;
  readonly buckets: number;
  readonly granularity?: string;
  readonly accumulators: AccumulatorFields;
}

export type Stage = Placed & Stages[keyof Stages];

/** Rows in the order of their distance from a point. */
export interface GeoNearStage extends Placed {
  readonly k: 'geoNear';
  /** Longitude and latitude, or x and y. */
  readonly near: readonly [number, number];
  /** GeoJSON: distances are metres; otherwise radians if spherical, else units of the plane. */
  readonly geoJson: boolean;
  readonly spherical: boolean;
  /** The path of the rows' places; absent: the first field that is one. */
  readonly key?: Path;
  readonly distanceField?: Path;
  readonly includeLocs?: Path;
  readonly multiplier: number;
  readonly minDistance?: number;
  readonly maxDistance?: number;
  readonly where?: Expr;
}

export interface Plan {
  /** The rows to read: `readings`, `hot`, `none`, or another table by a name known to the code that runs the plan. */
  readonly source: string;
  readonly stages: readonly Stage[];
}
