/** Rows with a time_received, which is what files are pruned by: in windows of time that hold about a page. */
import { PlatformError } from '@platform/base';
import { BsonDate, BsonDocument, type Scope } from '@platform/query';
import { type AskRows, numberOf, type Stages } from './ask-rows.ts';
import type { ReadingsAsked } from './ordered-readings.ts';
import type { Reading } from './reading.ts';
import { endOfTimeMs, leastMs, type Place, placeAfter, readingPage } from './reading-page.ts';

/** A window that holds more rows than a page is read twice in part. */
const fullness = 0.8;

export async function* datedReadings(ask: AskRows, asked: ReadingsAsked): AsyncGenerator<Reading> {
  const { scope, conditions, sign, fromMs = leastMs, untilMs = endOfTimeMs } = asked;
  const within = (from: number, until: number): Stages => datedWithin(conditions, from, until);
  const extent = await extentOf(ask, scope, within(fromMs, untilMs));
  if (extent === undefined) return;
  const { firstMs, lastMs, rows } = extent;
  let { pageRows } = asked;
  const spanFor = (coveredMs: number, held: number): number =>
    Math.min(lastMs - firstMs + 1, Math.ceil((coveredMs * pageRows * fullness) / Math.max(held, pageRows / 16)));
  let spanMs = spanFor(lastMs - firstMs + 1, rows);
  let place: Place = { ms: sign > 0 ? firstMs : lastMs, skip: 0 };
  while (place.ms >= firstMs && place.ms <= lastMs) {
    const { ms, skip } = place;
    // A window may be longer than what is asked for.
    const stages =
      sign > 0 ? within(ms, Math.min(ms + spanMs, lastMs + 1)) : within(Math.max(ms - spanMs + 1, firstMs), ms + 1);
    let page: Reading[];
    try {
      page = await readingPage(ask, scope, { stages, time: 'time_received', sign, skip }, pageRows);
    } catch (caught) {
      if (!isTooMuch(caught) || pageRows === 1) throw caught;
      pageRows = Math.ceil(pageRows / 4);
      spanMs = Math.ceil(spanMs / 4);
      continue;
    }
    yield* page;
    const isFull = page.length === pageRows;
    place = isFull ? placeAfter(place, page) : { ms: ms + sign * spanMs, skip: 0 };
    spanMs = spanFor(isFull ? Math.abs(place.ms - ms) + 1 : spanMs, page.length);
  }
}

/** The rows of a time that have one. */
export function datedWithin(conditions: BsonDocument, fromMs: number, untilMs: number): Stages {
  const bounds = BsonDocument.of({ $gte: new BsonDate(fromMs), $lt: new BsonDate(untilMs) });
  return [{ $match: new BsonDocument([...conditions, ['time_received', bounds]]) }];
}

/** What the windows are cut by. The rows are metered when they are read. */
async function extentOf(
  ask: AskRows,
  scope: Scope,
  stages: Stages,
): Promise<{ firstMs: number; lastMs: number; rows: number } | undefined> {
  const group = {
    _id: null,
    first: BsonDocument.of({ $min: '$time_received' }),
    last: BsonDocument.of({ $max: '$time_received' }),
    rows: BsonDocument.of({ $sum: 1 }),
  };
  const [row] = await ask(scope, [...stages, { $group: BsonDocument.of(group) }], { unmetered: true });
  const [first, last] = [row?.get('first'), row?.get('last')];
  if (!(first instanceof BsonDate) || !(last instanceof BsonDate)) return undefined;
  return { firstMs: first.ms, lastMs: last.ms, rows: numberOf(row?.get('rows')) };
}

/** An answer or a sort that does not fit is asked for in smaller pieces. */
function isTooMuch(caught: unknown): boolean {
  return caught instanceof PlatformError && caught.code === 'resource_exhausted';
}
