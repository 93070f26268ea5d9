/**
 * Reads any number of readings in the order of their capture times, page by page, so that neither side holds more than one page. Rows
 * committed in the meantime are included if their time has not been passed yet.
 *
 * Rows of the same microsecond are in upload order, so later arrivals come after rows already read, and a time and a number of rows
 * identify a place.
 */
import type { BsonDocument, Scope } from '@platform/query';
import type { AskRows } from './ask-rows.ts';
import { datedReadings } from './dated-readings.ts';
import type { Interval } from './interval.ts';
import type { Reading } from './reading.ts';
import type { Sign } from './reading-page.ts';
import { undatedReadings } from './undated-readings.ts';

export interface ReadingsAsked extends Interval {
  readonly scope: Scope;
  /** For $match; without time_received. */
  readonly conditions: BsonDocument;
  /** 1: oldest first. */
  readonly sign: Sign;
  /** Rows per query. */
  readonly pageRows: number;
}

export function orderedReadings(ask: AskRows, asked: ReadingsAsked): AsyncGenerator<Reading> {
  return mergedReadings([datedReadings(ask, asked), undatedReadings(ask, asked)], asked.sign);
}

/** Merges streams that are each in order; at equal times, rows of the first stream come first. */
export async function* mergedReadings(
  streams: readonly AsyncGenerator<Reading>[],
  sign: Sign,
): AsyncGenerator<Reading> {
  try {
    const heads: (Reading | undefined)[] = [];
    for (const stream of streams) heads.push(await nextOf(stream));
    for (;;) {
      let first = -1;
      heads.forEach((head, index) => {
        const best = heads[first];
        if (head !== undefined && (best === undefined || isBefore(head, best, sign))) first = index;
      });
      const [reading, stream] = [heads[first], streams[first]];
      if (reading === undefined || stream === undefined) return;
      yield reading;
      heads[first] = await nextOf(stream);
    }
  } finally {
    for (const stream of streams) await stream.return(undefined);
  }
}

async function nextOf(stream: AsyncGenerator<Reading>): Promise<Reading | undefined> {
  const { value, done } = await stream.next();
  return done ? undefined : value;
}

function isBefore(left: Reading, right: Reading, sign: Sign): boolean {
  return sign > 0 ? left.captured < right.captured : left.captured > right.captured;
}
