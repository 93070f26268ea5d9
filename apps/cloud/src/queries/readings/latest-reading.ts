/** GetLatestTabularData: the newest reading of a method, or an empty answer. */
import { create } from '@bufbuild/protobuf';
import {
  type GetLatestTabularDataResponse,
  GetLatestTabularDataResponseSchema,
} from '@platform/proto/platform/app/data/v1/data';
import { BsonDate, BsonDocument, Int32, type Scope } from '@platform/query';
import type { AskRows } from './ask-rows.ts';
import { datedWithin } from './exact-rows.ts';
import { jsonOfDocument, type NonFinite } from './json-of-bson.ts';
import { type MethodKey, methodConditions } from './method-key.ts';
import { timestampOf } from './microseconds.ts';
import { documentOf, type Reading, timeOf } from './reading.ts';
import { readingPage } from './reading-page.ts';
import { undatedReadings } from './undated-readings.ts';

export async function latestReading(
  ask: AskRows,
  scope: Scope,
  asked: MethodKey,
  nonFinite: NonFinite,
): Promise<GetLatestTabularDataResponse> {
  const conditions = methodConditions(asked);
  // The store answers this query from the newest row that it caches for each series.
  const [newest] = await ask(scope, [
    { $match: conditions },
    { $sort: BsonDocument.of({ time_received: new Int32(-1) }) },
    { $limit: new Int32(1) },
  ]);
  if (newest === undefined) return create(GetLatestTabularDataResponseSchema);
  const shown = newest.get('time_received');
  const reading = shown instanceof BsonDate ? await latestDated(shown.ms) : await latestUndated();
  // It was deleted between the two queries: look for the newest one again.
  if (reading === undefined && shown instanceof BsonDate) return latestReading(ask, scope, asked, nonFinite);
  if (reading === undefined) return create(GetLatestTabularDataResponseSchema);
  const timeSynced = timeOf(reading.row, 'time_synced');
  return create(GetLatestTabularDataResponseSchema, {
    timeCaptured: timestampOf(reading.captured),
    ...(timeSynced && { timeSynced }),
    payload: jsonOfDocument(documentOf(reading.row, 'data'), nonFinite),
  });

  /** The newest reading within the newest millisecond, by its microseconds. */
  async function latestDated(ms: number): Promise<Reading | undefined> {
    const time = BigInt(ms) * 1_000n;
    const rows = datedWithin(conditions, time, time + 1_000n);
    const [reading] = await readingPage(ask, scope, { rows, time: 'time_received', sign: -1, skip: 0 }, 1);
    return reading;
  }

  async function latestUndated(): Promise<Reading | undefined> {
    const readings = undatedReadings(ask, { scope, conditions, sign: -1, pageRows: 1 });
    const { value, done } = await readings.next();
    await readings.return(undefined);
    return done ? undefined : value;
  }
}
