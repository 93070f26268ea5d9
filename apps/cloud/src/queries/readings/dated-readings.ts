/** Reads rows with a time_received, the column by which files are pruned, in time windows of about one page each. */
import { BsonDate, BsonDocument, type Scope } from '@platform/query';
import { isTooMuch } from '../../tabular/arrivals/read-arrivals.ts';
import { type AskRows, numberOf, type Stages } from './ask-rows.ts';
import { datedWithin } from './exact-rows.ts';
import { endOfTime, leastTime } from './interval.ts';
import { millisecondOf } from './microseconds.ts';
import type { ReadingsAsked } from './ordered-readings.ts';
import type { Reading } from './reading.ts';
import { type Place, placeAfter, readingPage } from './reading-page.ts';

/** Target size of a window, as a share of a page: if a window holds more rows than a page, part of it is read twice. */
const fullness = 0.8;

export async function* datedReadings(ask: AskRows, asked: ReadingsAsked): AsyncGenerator<Reading> {
  const { scope, conditions, sign, from = leastTime, until = endOfTime } = asked;
  if (from >= until) return;
  const extent = await extentOf(ask, scope, conditions, from, until);
  if (extent === undefined) return;
  const { first, last, rows } = extent;
  let { pageRows } = asked;
  const spanFor = (covered: bigint, held: number): bigint => {
    const span = BigInt(Math.ceil((Number(covered) * pageRows * fullness) / Math.max(held, pageRows / 16)));
    return least(last - first + 1n, span);
  };
  let span = spanFor(last - first + 1n, rows);
  let place: Place = { time: sign > 0 ? first : last, skip: 0 };
  while (place.time >= first && place.time <= last) {
    const { time, skip } = place;
    // A window may extend beyond the requested interval.
    const rowsOf =
      sign > 0
        ? datedWithin(conditions, time, least(time + span, last + 1n))
        : datedWithin(conditions, greatest(time - span + 1n, first), time + 1n);
    let page: Reading[];
    try {
      page = await readingPage(ask, scope, { rows: rowsOf, time: 'time_received', sign, skip }, pageRows);
    } catch (caught) {
      if (!isTooMuch(caught) || pageRows === 1) throw caught;
      pageRows = Math.ceil(pageRows / 4);
      span = span / 4n + 1n;
      continue;
    }
    yield* page;
    const isFull = page.length === pageRows;
    place = isFull ? placeAfter(place, page) : { time: sign > 0 ? time + span : time - span, skip: 0 };
    const read = place.time > time ? place.time - time : time - place.time;
    span = spanFor(isFull ? read + 1n : span, page.length);
  }
}

/** The rows whose time_received, in milliseconds, lies in [fromMs, untilMs). */
export function shownWithin(conditions: BsonDocument, fromMs: number, untilMs: number): Stages {
  const bounds = BsonDocument.of({ $gte: new BsonDate(fromMs), $lt: new BsonDate(untilMs) });
  return [{ $match: new BsonDocument([...conditions, ['time_received', bounds]]) }];
}

/**
 * The range that the windows divide, in milliseconds; this is answered without reading files. Rows are metered later, when they are read.
 */
async function extentOf(
  ask: AskRows,
  scope: Scope,
  conditions: BsonDocument,
  from: bigint,
  until: bigint,
): Promise<{ first: bigint; last: bigint; rows: number } | undefined> {
  const group = {
    _id: null,
    first: BsonDocument.of({ $min: '$time_received' }),
    last: BsonDocument.of({ $max: '$time_received' }),
    rows: BsonDocument.of({ $sum: 1 }),
  };
  const shown = shownWithin(conditions, millisecondOf(from), millisecondOf(until - 1n) + 1);
  const [row] = await ask(scope, [...shown, { $group: BsonDocument.of(group) }], { unmetered: true });
  const [first, last] = [row?.get('first'), row?.get('last')];
  if (!(first instanceof BsonDate) || !(last instanceof BsonDate)) return undefined;
  return {
    first: greatest(BigInt(first.ms) * 1_000n, from),
    last: least(BigInt(last.ms) * 1_000n + 999n, until - 1n),
    rows: numberOf(row?.get('rows')),
  };
}

function least(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}

function greatest(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}
