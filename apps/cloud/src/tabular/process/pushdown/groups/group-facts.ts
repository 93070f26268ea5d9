/**
 * Groups answered from the facts of series: the number of rows, and the least and greatest of their times. No row is read. Series that have
 * the same number in several files share one partial group. Only series in the query's scope are included (open-files.ts).
 */
import { getOrInsert } from '@platform/base';
import {
  type Accumulator,
  BsonDate,
  BsonDocument,
  type BsonValue,
  canFail,
  DocumentBatch,
  type Expr,
  isTimeColumn,
  type Maybe,
  type PlanSplit,
} from '@platform/query';
import type { SeriesFacts } from '../../files/file-facts.ts';
import type { KeptRows } from '../choose-pushdown.ts';
import { hasCanonicalForm } from '../conditions/canonical-form.ts';
import { type TimeName, timeFacts } from '../conditions/operand.ts';
import { referencedFields } from '../conditions/referenced-fields.ts';
import type { OpenFile } from '../open-files.ts';
import { identityText, numberingOf } from '../series/series-identity.ts';
import { isOfSeries } from '../series/series-values.ts';
import { constantStates, isSum, millisecondsOf, noSum } from './group-states.ts';

/** Path used for rows in memory, which are in no file. */
export const inMemory = '';

export interface FactsGroup {
  readonly isEmpty: boolean;
  /** Number of files whose facts it holds; rows in memory do not count. */
  readonly files: number;
  /** Whether the query depends on times. */
  readonly asksTimes: boolean;
  /** The parts pushed down, in the user's words. */
  readonly pushed: readonly string[];
  /** Whether the file's facts answer the query; otherwise its rows must be read. */
  takes(file: OpenFile, kept: KeptRows): boolean;
  /** Adds the file if its facts answer the query; returns whether they do. */
  add(file: OpenFile, kept: KeptRows): boolean;
  /** Partial groups of all files. */
  batch(): DocumentBatch;
}

/** Facts about the rows of a series, or of all series that the query does not distinguish. */
interface Known {
  /** One of the series, as a source of their common values. */
  readonly file: OpenFile;
  readonly number: number;
  rows: number;
  readonly times: { min: bigint | null; max: bigint | null; missing: number }[];
}

/** Input of an accumulator: rows, a value that is constant within a series, or a time. */
type Part =
  | { readonly k: 'rows' }
  | { readonly k: 'constant'; readonly fn: Accumulator['fn']; readonly arg: Expr }
  | { readonly k: 'time'; readonly fn: Accumulator['fn']; readonly at: number };

/** Facts about the series of files with the same numbering. */
interface OfNumbering {
  /** Empty: the query does not distinguish days. */
  readonly day: string;
  readonly known: Map<number, Known>;
}

type StateOf = (known: Known) => BsonValue;

/** Undefined when the end of a split is not such a group. */
export function factsGroup(end: PlanSplit['end']): FactsGroup | undefined {
  if (end === 'rows' || end.k !== 'group' || !isOfSeries(end.key) || !hasCanonicalForm(end.key)) return undefined;
  const { key } = end;
  const times: TimeName[] = [];
  const parts: (readonly [string, Part])[] = [];
  for (const [name, accumulator] of end.accumulators) {
    const part = partOf(accumulator, times);
    if (part === undefined) return undefined;
    parts.push([name, part]);
  }
  const fields = [key, ...parts.flatMap(([, part]) => (part.k === 'constant' ? part.arg : []))].map(referencedFields);
  const areAlike = fields.every((each) => each?.length === 0);
  const isOfDay = fields.some((each) => each?.some(([column]) => column === 'capture_day') ?? true);
  const groups = new Map<string, OfNumbering>();
  const pushed = new Set<string>();
  const files = new Map<OpenFile, readonly StateOf[]>();
  const keysOf = (file: OpenFile): readonly Maybe[] | undefined => file.values.values(key);
  const keysMayFail = canFail(key);
  const statesOf = (file: OpenFile, kept: KeptRows): readonly StateOf[] | undefined => {
    // Keys that cannot fail are evaluated later, only in files whose series are not in others, too.
    if (!kept.areWhole || (keysMayFail && keysOf(file) === undefined)) return undefined;
    const states = parts.map(([, part]) => stateOf(part, file)).filter((state) => state !== undefined);
    return states.length < parts.length ? undefined : states;
  };
  return {
    get isEmpty() {
      return files.size === 0;
    },
    get files() {
      return [...files.keys()].filter(({ path }) => path !== inMemory).length;
    },
    get pushed() {
      return [...pushed];
    },
    asksTimes: times.length > 0,
    takes: (file, kept) => statesOf(file, kept) !== undefined,
    add(file, kept) {
      const states = statesOf(file, kept);
      if (states === undefined) return false;
      files.set(file, states);
      const day = isOfDay ? file.captureDay : '';
      const group = areAlike ? '' : `${day} ${numberingOf(file.facts)}`;
      const { known: ofGroup } = getOrInsert(groups, group, () => ({ day, known: new Map<number, Known>() }));
      for (const number of kept.numbers) addSeries(ofGroup, file, number, areAlike ? 0 : number, times);
      for (const part of kept.pushed) pushed.add(part);
      return true;
    },
    batch() {
      const keys = new Map<OpenFile, readonly Maybe[] | undefined>();
      const groupOf = (known: Known): BsonDocument => {
        const states = files.get(known.file) as readonly StateOf[];
        const ofFile = getOrInsert(keys, known.file, () => keysOf(known.file));
        const group = new BsonDocument([['_id', ofFile?.[known.number] ?? null]]);
        for (const [index, [name]] of parts.entries()) group.set(name, (states[index] as StateOf)(known));
        return group;
      };
      return new DocumentBatch(together([...groups.values()]).map(groupOf));
    },
  };
}

/** Undefined when facts are not sufficient. */
function partOf({ fn, arg, by, distinct }: Accumulator, times: TimeName[]): Part | undefined {
  if (by !== undefined || distinct === true) return undefined;
  if (fn === 'count') return { k: 'rows' };
  if (isOfSeries(arg)) return { k: 'constant', fn, arg };
  const [column = '', ...below] = arg.k === 'field' ? arg.path : [];
  if (!isTimeColumn(column) || below.length > 0) return undefined;
  if (!isSum(fn) && fn !== 'min' && fn !== 'max' && fn !== 'sql.count') return undefined;
  const name = timeFacts[column];
  const known = times.indexOf(name);
  return { k: 'time', fn, at: known >= 0 ? known : times.push(name) - 1 };
}

function addSeries(
  known: Map<number, Known>,
  file: OpenFile,
  number: number,
  as: number,
  names: readonly TimeName[],
): void {
  const series = file.facts.series[number] as SeriesFacts;
  const group = known.get(as);
  if (group === undefined) {
    known.set(as, { file, number, rows: series.rows, times: names.map((name) => ({ ...series[name] })) });
    return;
  }
  addFacts(
    group,
    series.rows,
    names.map((name) => series[name]),
  );
}

/**
 * Facts about equal series of files with different numberings become one, because each would otherwise be a group that is encoded and merged
 * by the executor. Takes over what it is given.
 */
function together(all: readonly OfNumbering[]): readonly Known[] {
  if (all.length === 1) return [...(all[0]?.known.values() ?? [])];
  const bySeries = new Map<string, Known>();
  for (const { day, known } of all) {
    for (const own of known.values()) {
      const key = `${day} ${identityText(own.file.facts.series[own.number] as SeriesFacts)}`;
      const before = bySeries.get(key);
      if (before === undefined) bySeries.set(key, own);
      else addFacts(before, own.rows, own.times);
    }
  }
  return [...bySeries.values()];
}

function addFacts(known: Known, rows: number, times: Known['times']): void {
  known.rows += rows;
  for (const [index, { min, max, missing }] of times.entries()) {
    const time = known.times[index] as Known['times'][number];
    time.missing += missing;
    if (min !== null && (time.min === null || min < time.min)) time.min = min;
    if (max !== null && (time.max === null || max > time.max)) time.max = max;
  }
}

/** Returns a function from facts to a state; undefined when the executor must do it. */
function stateOf(part: Part, { values }: OpenFile): StateOf | undefined {
  if (part.k === 'rows') return ({ rows }) => BigInt(rows);
  if (part.k === 'constant') {
    const all = values.values(part.arg);
    const state = all && constantStates(part.fn, part.arg, all);
    return state && (({ rows, number }) => state(BigInt(rows), all[number]));
  }
  const { fn, at } = part;
  if (isSum(fn)) return noSum;
  if (fn === 'sql.count') return ({ rows, times }) => BigInt(rows - (times[at]?.missing ?? 0));
  return ({ times }) => {
    const time = times[at]?.[fn === 'min' ? 'min' : 'max'] ?? null;
    return time === null ? null : new BsonDate(millisecondsOf(time));
  };
}
