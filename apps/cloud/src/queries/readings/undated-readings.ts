/** Rows whose sender left time_received out; hardly any. */
import { BsonDate, BsonDocument } from '@platform/query';
import type { AskRows, Stages } from './ask-rows.ts';
import type { ReadingsAsked } from './ordered-readings.ts';
import type { Reading } from './reading.ts';
import { endOfTimeMs, leastMs, type Place, placeAfter, readingPage } from './reading-page.ts';

export async function* undatedReadings(ask: AskRows, asked: ReadingsAsked): AsyncGenerator<Reading> {
  const { scope, conditions, sign, pageRows, fromMs = leastMs, untilMs = endOfTimeMs } = asked;
  for (let place: Place | undefined; ; ) {
    const { ms, skip } = place ?? { ms: sign > 0 ? fromMs : untilMs - 1, skip: 0 };
    const stages = sign > 0 ? undatedWithin(conditions, ms, untilMs) : undatedWithin(conditions, fromMs, ms + 1);
    const page = await readingPage(ask, scope, { stages, time: 'captured', sign, skip }, pageRows);
    yield* page;
    if (page.length < pageRows) return;
    place = placeAfter(place, page);
  }
}

/** The rows without a time of receipt that were asked for, or else uploaded, in a time; it stands in their field `captured`. */
export function undatedWithin(conditions: BsonDocument, fromMs: number, untilMs: number): Stages {
  const bounds = BsonDocument.of({ $gte: new BsonDate(fromMs), $lt: new BsonDate(untilMs) });
  return [
    { $match: conditions },
    // A missing time is less than any; said so, files in which none is missing are passed by.
    { $match: BsonDocument.of({ $expr: BsonDocument.of({ $lt: ['$time_received', new BsonDate(leastMs)] }) }) },
    { $addFields: BsonDocument.of({ captured: BsonDocument.of({ $ifNull: ['$time_requested', '$time_synced'] }) }) },
    { $match: BsonDocument.of({ captured: bounds }) },
  ];
}
