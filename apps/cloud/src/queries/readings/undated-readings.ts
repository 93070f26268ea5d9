/** Reads rows whose sender omitted time_received; they are rare. */
import type { AskRows } from './ask-rows.ts';
import { undatedWithin } from './exact-rows.ts';
import { endOfTime, leastTime } from './interval.ts';
import type { ReadingsAsked } from './ordered-readings.ts';
import type { Reading } from './reading.ts';
import { type Place, placeAfter, readingPage } from './reading-page.ts';

export async function* undatedReadings(ask: AskRows, asked: ReadingsAsked): AsyncGenerator<Reading> {
  const { scope, conditions, sign, pageRows, from = leastTime, until = endOfTime } = asked;
  for (let place: Place | undefined; ; ) {
    const { time, skip } = place ?? { time: sign > 0 ? from : until - 1n, skip: 0 };
    const rows = sign > 0 ? undatedWithin(conditions, time, until) : undatedWithin(conditions, from, time + 1n);
    const page = await readingPage(ask, scope, { rows, time: 'captured', sign, skip }, pageRows);
    yield* page;
    if (page.length < pageRows) return;
    place = placeAfter(place, page);
  }
}
