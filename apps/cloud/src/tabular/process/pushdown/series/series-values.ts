/** Values that are constant within a series in a file: expressions over them are evaluated here, once per series. */
import { getOrInsert, memoized } from '@platform/base';
import {
  BsonDocument,
  type Evaluator,
  type Expr,
  evaluator,
  isLinear,
  isPathColumn,
  type Maybe,
  type PathColumn,
  pathColumns,
  QueryError,
} from '@platform/query';
import type { Series } from '../../../catalog/series.ts';
import type { FileFacts } from '../../files/file-facts.ts';
import { pathDocument, pathText, seriesDocument } from '../../rows/row-documents.ts';
import { isSmall } from '../conditions/expression-size.ts';
import { referencedFields } from '../conditions/referenced-fields.ts';
import { numberingOf } from './series-identity.ts';

const constantColumns: ReadonlySet<string> = new Set([...pathColumns, 'tags', 'additional_parameters']);

/** Whether an expression reads only values that are constant within a series, and is cheap. */
export const isOfSeries: (expr: Expr) => boolean = memoized((expr) => {
  const fields = referencedFields(expr);
  const reads = fields?.every(([name]) => constantColumns.has(name as string)) ?? false;
  return reads && isSmall(expr) && isCheap(expr);
});

function isCheap(expr: Expr): boolean {
  return expr.k === 'doc' ? expr.fields.every(([, value]) => isCheap(value)) : isLinear([{ k: 'filter', where: expr }]);
}

const evaluatorOf = memoized<Expr, Evaluator>(evaluator);

export interface SeriesValues {
  /** The fields that the rows of each series share. */
  documents(): readonly BsonDocument[];
  /** A path column of one series. */
  text(number: number, column: PathColumn): string;
  /** Some columns of one series, in their order. */
  fields(number: number, columns: readonly string[]): BsonDocument;
  /** Whether a condition keeps each series' rows; undefined when the executor must report that it fails. */
  keeps(where: Expr): readonly boolean[] | undefined;
  /** The value of an expression by series, evaluated once; undefined when the executor must report that it fails. */
  values(expr: Expr): readonly Maybe[] | undefined;
}

/** By expression, as long as its plan exists. */
type Known<T> = WeakMap<Expr, Map<string, readonly T[] | undefined>>;

const knownKeeps: Known<boolean> = new WeakMap();
const knownValues: Known<Maybe> = new WeakMap();

/**
 * @param facts of a file
 * @param captureDay "YYYY-MM-DD" of all its rows
 */
export function seriesValues(facts: FileFacts, captureDay: string, vocabulary: 'core' | 'rdk'): SeriesValues {
  const { series } = facts;
  let documents: readonly BsonDocument[] | undefined;
  const all = (): readonly BsonDocument[] =>
    (documents ??= series.map((one) => seriesDocument(one, captureDay, vocabulary)));
  const each = <T>(expr: Expr, of: (document: BsonDocument) => T): readonly T[] | undefined => {
    const columns = columnsOf(expr);
    try {
      // There may be thousands of series in each of hundreds of files: only the columns needed are assembled.
      if (columns === undefined || documents !== undefined) return all().map(of);
      if (columns.length === 0) return new Array<T>(series.length).fill(of(new BsonDocument()));
      return series.map((one) => of(pathDocument(one, captureDay, vocabulary, columns)));
    } catch (caught) {
      if (caught instanceof QueryError) return undefined;
      throw caught;
    }
  };
  /** Evaluated once for all files with the same numbering of series. */
  const once = <T>(known: Known<T>, expr: Expr, make: () => readonly T[] | undefined): readonly T[] | undefined => {
    const fields = referencedFields(expr);
    const ofDay = fields?.some(([name]) => name === 'capture_day') ?? true;
    // A constant depends only on their number.
    const of = fields?.length === 0 ? series.length : numberingOf(facts);
    const key = `${vocabulary} ${ofDay ? captureDay : ''} ${of}`;
    const byFile = getOrInsert(known, expr, () => new Map<string, readonly T[] | undefined>());
    if (!byFile.has(key)) byFile.set(key, make());
    return byFile.get(key);
  };
  return {
    documents: all,
    text: (number, column) => pathText(series[number] as Series, captureDay, vocabulary, column),
    fields(number, columns) {
      const one = series[number] as Series;
      if (columns.every(isPathColumn)) return pathDocument(one, captureDay, vocabulary, columns);
      const document = seriesDocument(one, captureDay, vocabulary);
      return new BsonDocument([...document].filter(([name]) => columns.includes(name)));
    },
    keeps: (where) => once(knownKeeps, where, () => each(where, (document) => evaluatorOf(where).keeps(document))),
    values: (expr) => once(knownValues, expr, () => each(expr, (document) => evaluatorOf(expr).value(document))),
  };
}

/** The columns that an expression reads if all are path columns; undefined: it reads others as well. */
function columnsOf(expr: Expr): readonly PathColumn[] | undefined {
  const names = referencedFields(expr)?.map(([name]) => name as string);
  return names?.every(isPathColumn) === true ? pathColumns.filter((column) => names.includes(column)) : undefined;
}
