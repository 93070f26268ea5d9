/**
 * Queries over readings: BSON values, the intermediate form and the executor. Pure: bytes in, bytes out. The languages are separate entry
 * points, `@platform/query/mql` and `@platform/query/sql`, because code that runs plans does not parse texts.
 */

export { type Batch, batchOf, DocumentBatch, documentsOf } from './bson/batch.ts';
export { compareValues, comparisons } from './bson/compare.ts';
export { decimalText, decimalToNumber } from './bson/decimal.ts';
export { decodeBson } from './bson/decode.ts';
export { BsonWriter, encodeBson } from './bson/encode.ts';
export type { Mask } from './bson/field-names.ts';
export { isNumeric, type TypeName, typeName, typeNumbers, typeRank } from './bson/type.ts';
export {
  Binary,
  BsonDate,
  BsonDocument,
  BsonSymbol,
  BsonUndefined,
  type BsonValue,
  Code,
  DbPointer,
  Decimal128,
  Int32,
  MaxKey,
  type Maybe,
  MinKey,
  ObjectId,
  Regex,
  Timestamp,
} from './bson/value.ts';
export { execute } from './execute/execute.ts';
export { executeSplit, type SourceBatch } from './execute/execute-split.ts';
export { type Evaluator, evaluator } from './execute/expressions/evaluator.ts';
export type { Limits } from './execute/limits/budget.ts';
export { refuseTooLarge } from './execute/limits/size-limits.ts';
export { mergePartials } from './execute/stages/group.ts';
export { compareKeys, sortKeysOf } from './execute/stages/sort-keys.ts';
export { ExactSum } from './execute/sums/exact-sum.ts';
export { isNan, type Numeric, toDouble } from './functions/numbers/number.ts';
export { functions } from './functions/registry.ts';
export type { Accumulator, AccumulatorFields } from './plan/accumulator.ts';
export { canFail, isLogical } from './plan/can-fail.ts';
export {
  isPathColumn,
  isTimeColumn,
  type PathColumn,
  pathColumns,
  readingColumns,
  type SeriesColumn,
  seriesColumns,
  type TimeColumn,
  timeColumns,
} from './plan/columns.ts';
export { type Expr, type Path, partsOf } from './plan/expr.ts';
export { fieldsNamed } from './plan/fields-named.ts';
export { type FieldRead, type FieldsRead, fieldsRead } from './plan/fields-read.ts';
export { isLinear } from './plan/is-linear.ts';
export { namespaceNotices } from './plan/namespace-notices.ts';
export { decomposes } from './plan/partial-state.ts';
export { type PathFilter, pathFilter, type TextBounds, type TimeBounds } from './plan/path-filter.ts';
export { decodePlan, encodePlan } from './plan/plan-codec.ts';
export { foldConstants } from './plan/rewrite/fold-constants.ts';
export { spellApis } from './plan/rewrite/spell-apis.ts';
export { type PlanSplit, splitPlan } from './plan/rewrite/split-plan.ts';
export type { Scope } from './plan/scope.ts';
export type { SortKey } from './plan/sort-key.ts';
export { isReadOnce, sourcesOf } from './plan/sources-of.ts';
export type {
  GroupStage,
  MergeStage,
  Plan,
  RowStage,
  ShapeLeaf,
  ShapeTree,
  SortStage,
  Stage,
} from './plan/stage.ts';
export { QueryError, type QueryErrorPlace } from './query-error.ts';
