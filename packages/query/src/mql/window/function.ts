/** One output of $setWindowFields: an object with one window function, and a window where the function takes one. */

import { describe } from '../../bson/describe.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import type { SortKey } from '../../plan/stage.ts';
import { type WindowFrame, type WindowFunction, wholePartition } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import { windowAccumulatorNames } from '../accumulator.ts';
import { parseBounds } from './bounds.ts';
import { parseCovariance } from './covariance.ts';
import { parseExpMovingAvg } from './exp-moving-avg.ts';
import { parseFold } from './fold.ts';
import { parseGapFill } from './gap-fill.ts';
import { parseMinMaxScaler } from './min-max-scaler.ts';
import { parseRank } from './rank.ts';
import { parseRate } from './rate.ts';
import { parseShift } from './shift.ts';

/** What a function's parser gets to see. */
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

const parsers: Readonly<Record<string, (spec: WindowSpec) => WindowFunction>> = {
  ...Object.fromEntries(windowAccumulatorNames.map((name) => [name, parseFold])),
  $covariancePop: parseCovariance,
  $covarianceSamp: parseCovariance,
  $derivative: parseRate,
  $integral: parseRate,
  $expMovingAvg: parseExpMovingAvg,
  $rank: parseRank,
  $denseRank: parseRank,
  $documentNumber: parseRank,
  $shift: parseShift,
  $linearFill: parseGapFill,
  $locf: parseGapFill,
  $minMaxScaler: parseMinMaxScaler,
};

/** Accumulators are among them. */
export const windowFunctionNames: readonly string[] = Object.keys(parsers);

export function parseWindowFunction(value: BsonValue, by: readonly SortKey[] | undefined, at: string): WindowFunction {
  const fail = (reason: string): QueryError => new QueryError('FailedToParse', reason, { path: at });
  if (!(value instanceof BsonDocument)) throw fail(`an output is an object, found ${describe(value)}`);
  const name = [...value.keys()].find((each) => each.startsWith('$'));
  if (name === undefined) throw fail(`an output needs a window function, found ${describe(value)}`);
  const parse = Object.hasOwn(parsers, name) ? parsers[name] : undefined;
  if (parse === undefined) {
    throw new QueryError('FailedToParse', `unrecognized window function '${name}'`, {
      path: at,
      hint: `the window functions are ${windowFunctionNames.join(', ')}`,
    });
  }
  const others = [...value.keys()].filter((each) => each !== name && each !== 'window');
  const takesOthers = parse === parseRank;
  if (others.length > 0 && !takesOthers) throw fail(`${name} found an unknown argument: ${others.join(', ')}`);
  const window = value.get('window');
  const takesWindow = framed.has(parse);
  return parse({
    name,
    argument: value.get(name)!,
    frame: window === undefined || !takesWindow ? wholePartition : parseBounds(window, by, `${at}.window`),
    hasWindow: window !== undefined,
    others,
    by,
    at: `${at}.${name}`,
  });
}

const framed: ReadonlySet<unknown> = new Set([parseFold, parseCovariance, parseRate, parseMinMaxScaler]);
