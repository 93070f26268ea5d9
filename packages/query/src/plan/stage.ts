/** The plan and its stages, as plain data. Their parsers and executors: stages/registry.ts. */

import type { AccumulatorFields } from './accumulator.ts';
import type { Expr, Path } from './expr.ts';
import type { SortKey } from './sort-key.ts';
import type { Placed, StagePlace } from './stage-place.ts';
import type { DensifyStage, WindowStage } from './window.ts';

/** What happens to a field: kept, dropped, computed, or a subtree that is treated in the same way. */
export type ShapeTree = { readonly k: 'tree'; readonly fields: readonly (readonly [string, ShapeTree | ShapeLeaf])[] };
export type ShapeLeaf = { readonly k: 'keep' } | { readonly k: 'drop' } | { readonly k: 'set'; readonly value: Expr };

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

/** `decide` gives 'descend', 'prune' or 'keep' for a document and those in it; its variable ROOT is the row. */
export interface RedactStage {
  readonly k: 'redact';
  readonly decide: Expr;
}

/** `size` random rows, in random order. */
export interface SampleStage {
  readonly k: 'sample';
  readonly size: number;
}

/** At most `limit` rows after the first `skip`. */
export interface SliceStage {
  readonly k: 'slice';
  readonly skip: number;
  readonly limit?: number;
}

/** Makes a row from each element of an array and writes its position to `index`. `keepEmpty` keeps rows without elements. */
export interface UnwindStage {
  readonly k: 'unwind';
  readonly path: Path;
  readonly index?: Path;
  readonly keepEmpty: boolean;
}

/** Rows that are written in the statement. */
export interface ValuesStage {
  readonly k: 'values';
  readonly rows: readonly Expr[];
}

/** One row for each pair of rows that meets the condition, with the fields of both; `left` keeps rows without a partner. */
export interface JoinStage {
  readonly k: 'join';
  readonly how: 'inner' | 'left';
  readonly right: Plan;
  /** Refers to the fields of both rows. */
  readonly on?: Expr;
  /** Values of the left row and of the right row that are equal whenever the condition holds. */
  readonly equal: readonly (readonly [left: Expr, right: Expr])[];
}

/** The answer of a subquery for each row, as a field. The subquery's rows have one field, `v`. */
export interface LookupStage {
  readonly k: 'lookup';
  readonly right: Plan;
  /** Variables of the subquery's plan and their values in the row. */
  readonly let: readonly (readonly [name: string, value: Expr])[];
  readonly as: string;
  /** The first row's value, all rows' values (missing ones as null), or whether there is a row. */
  readonly gives: 'value' | 'values' | 'exists';
}

/** The rows of another plan after those of this one. */
export interface UnionStage {
  readonly k: 'union';
  readonly right: Plan;
}

/** By kind. */
export interface Stages {
  readonly bucketAuto: BucketAutoStage;
  readonly densify: DensifyStage;
  readonly filter: FilterStage;
  readonly geoNear: GeoNearStage;
  readonly group: GroupStage;
  readonly join: JoinStage;
  readonly lookup: LookupStage;
  readonly merge: MergeStage;
  readonly redact: RedactStage;
  readonly replace: ReplaceStage;
  readonly sample: SampleStage;
  readonly shape: ShapeStage;
  readonly slice: SliceStage;
  readonly sort: SortStage;
  readonly union: UnionStage;
  readonly unwind: UnwindStage;
  readonly values: ValuesStage;
  readonly window: WindowStage;
}

export type Stage = Placed & Stages[keyof Stages];

export interface Plan {
  /** The rows to read: `readings`, `hot`, `none`, or another table by a name known to the code that runs the plan. */
  readonly source: string;
  readonly stages: readonly Stage[];
}
