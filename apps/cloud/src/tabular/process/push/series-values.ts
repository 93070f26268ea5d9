/** What is the same for all rows of a series in a file: expressions over it are worked out here, once for each series. */
import {
  type BsonDocument,
  type Evaluator,
  type Expr,
  evaluator,
  isLight,
  type Maybe,
  pathColumns,
  QueryError,
} from '@platform/query';
import type { Series } from '../../series.ts';
import { seriesDocument } from '../row-documents.ts';
import { fieldsOf } from './fields-of.ts';
import { isSmall } from './is-small.ts';

const constantColumns: ReadonlySet<string> = new Set([...pathColumns, 'tags', 'additional_parameters']);

/** Whether an expression reads nothing but what is the same for all rows of a series, and costs little. */
export function isOfSeries(expr: Expr): boolean {
  const known = cache.get(expr);
  if (known !== undefined) return known.isOfSeries;
  const fields = fieldsOf(expr);
  const reads = fields?.every(([name]) => constantColumns.has(name as string)) ?? false;
  const entry = { isOfSeries: reads && isSmall(expr) && isCheap(expr), evaluator: undefined };
  cache.set(expr, entry);
  return entry.isOfSeries;
}

function isCheap(expr: Expr): boolean {
  return expr.k === 'doc' ? expr.fields.every(([, value]) => isCheap(value)) : isLight([{ k: 'filter', where: expr }]);
}

interface Entry {
  readonly isOfSeries: boolean;
  evaluator: Evaluator | undefined;
}

const cache = new WeakMap<Expr, Entry>();

function evaluatorOf(expr: Expr): Evaluator {
  const entry = cache.get(expr);
  if (entry?.evaluator !== undefined) return entry.evaluator;
  const made = evaluator(expr);
  cache.set(expr, { isOfSeries: entry?.isOfSeries ?? false, evaluator: made });
  return made;
}

export interface SeriesValues {
  /** What the rows of each series have in common. */
  documents(): readonly BsonDocument[];
  /** Whether a condition keeps each series' rows; undefined when the executor must say that it fails. */
  keeps(where: Expr): readonly boolean[] | undefined;
  /** The value of an expression by series; undefined when the executor must say that it fails. */
  values(expr: Expr): readonly Maybe[] | undefined;
}

/** @param captureDay "YYYY-MM-DD" of all rows. */
export function seriesValues(series: readonly Series[], captureDay: string, vocabulary: 'core' | 'rdk'): SeriesValues {
  let documents: readonly BsonDocument[] | undefined;
  const all = (): readonly BsonDocument[] =>
    (documents ??= series.map((one) => seriesDocument(one, captureDay, vocabulary)));
  const each = <T>(of: (document: BsonDocument) => T): readonly T[] | undefined => {
    try {
      return all().map(of);
    } catch (caught) {
      if (caught instanceof QueryError) return undefined;
      throw caught;
    }
  };
  return {
    documents: all,
    keeps: (where) => each((document) => evaluatorOf(where).keeps(document)),
    values: (expr) => each((document) => evaluatorOf(expr).value(document)),
  };
}
