/** TabularDataByFilter: a page of readings, or how many there are, of all that the caller reads. */
import { create } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import {
  Order,
  type TabularData,
  type TabularDataByFilterRequest,
  type TabularDataByFilterResponse,
  TabularDataByFilterResponseSchema,
  TabularDataSchema,
} from '@platform/proto/platform/app/data/v1/data';
import { BsonDocument, encodeBson, type Scope } from '@platform/query';
import { type AskRows, numberOf, type Stages } from './ask-rows.ts';
import { createSharedMetadata } from './capture-metadata.ts';
import { datedWithin } from './dated-readings.ts';
import { type Interval, intervalMs } from './interval.ts';
import { jsonOfDocument, type NonFinite } from './json-of-bson.ts';
import { mergedReadings, orderedReadings } from './ordered-readings.ts';
import { pageToken, readPageToken } from './page-token.ts';
import { documentOf, type Reading, timeOf } from './reading.ts';
import { type FleetNames, readingConditions } from './reading-conditions.ts';
import { endOfTimeMs, leastMs, type Sign } from './reading-page.ts';
import { undatedWithin } from './undated-readings.ts';

const defaultLimit = 50;
const maxLimit = 10_000;
/** Public clients refuse answers over 4 MiB. One reading alone may have as much. */
const maxPageBytes = 3 << 20;

/** @param scopes what the caller reads of each organization. */
export async function findReadings(
  ask: AskRows,
  request: TabularDataByFilterRequest,
  scopes: readonly Scope[],
  names: FleetNames,
  nonFinite: NonFinite,
): Promise<TabularDataByFilterResponse> {
  const { filter, limit = 0n, last = '', sortOrder = Order.UNSPECIFIED } = request.dataRequest ?? {};
  const conditions = readingConditions(filter, names);
  const interval = intervalMs(filter?.interval);
  const sign = signOf(sortOrder);
  const from = readPageToken(last);
  if (conditions === undefined) return create(TabularDataByFilterResponseSchema, { last });
  if (request.countOnly) return await countReadings(ask, scopes, conditions, interval);

  const rows = limit === 0n ? defaultLimit : Math.min(Number(limit), maxLimit);
  const within = from === undefined ? interval : onFrom(interval, from.ms, sign);
  const asked = { conditions, ...within, sign, pageRows: rows + Math.min(from?.skip ?? 0, maxLimit) };
  const readings = mergedReadings(
    scopes.map((scope) => orderedReadings(ask, { ...asked, scope })),
    sign,
  );
  const metadata = createSharedMetadata(names);
  const data: TabularData[] = [];
  let place = from ?? { ms: Number.NaN, skip: 0 };
  let toSkip = from?.skip ?? 0;
  let bytes = 0;
  for await (const reading of readings) {
    const { capturedMs: ms } = reading;
    if (toSkip > 0 && ms === place.ms) {
      toSkip--;
      continue;
    }
    toSkip = 0;
    const size = encodeBson(documentOf(reading.row, 'data')).length;
    if (data.length > 0 && bytes + size > maxPageBytes) break;
    bytes += size;
    place = { ms, skip: place.ms === ms ? place.skip + 1 : 1 };
    data.push(tabularData(reading, metadata.indexOf(reading.row), nonFinite));
    if (data.length === rows) break;
  }
  return create(TabularDataByFilterResponseSchema, {
    metadata: [...metadata.list],
    data,
    count: BigInt(data.length),
    last: data.length === 0 ? last : pageToken(place),
    totalSizeBytes: BigInt(bytes),
  });
}

function tabularData({ row }: Reading, metadataIndex: number, nonFinite: NonFinite): TabularData {
  const timeRequested = timeOf(row, 'time_requested');
  const timeReceived = timeOf(row, 'time_received');
  return create(TabularDataSchema, {
    data: jsonOfDocument(documentOf(row, 'data'), nonFinite),
    metadataIndex,
    ...(timeRequested && { timeRequested }),
    ...(timeReceived && { timeReceived }),
  });
}

async function countReadings(
  ask: AskRows,
  scopes: readonly Scope[],
  conditions: BsonDocument,
  interval: Interval,
): Promise<TabularDataByFilterResponse> {
  const group = {
    _id: null,
    rows: BsonDocument.of({ $sum: 1 }),
    bytes: BsonDocument.of({ $sum: BsonDocument.of({ $bsonSize: '$data' }) }),
  };
  const { fromMs, untilMs } = interval;
  const [from, until] = [fromMs ?? leastMs, untilMs ?? endOfTimeMs];
  const whole = fromMs === undefined && untilMs === undefined;
  const parts: Stages[] = whole
    ? [[{ $match: conditions }]]
    : [datedWithin(conditions, from, until), undatedWithin(conditions, from, until)];
  let count = 0;
  let bytes = 0;
  for (const scope of scopes)
    for (const stages of parts) {
      const [row] = await ask(scope, [...stages, { $group: BsonDocument.of(group) }]);
      count += numberOf(row?.get('rows'));
      bytes += numberOf(row?.get('bytes'));
    }
  return create(TabularDataByFilterResponseSchema, { count: BigInt(count), totalSizeBytes: BigInt(bytes) });
}

/** What is left of the interval behind a place: its millisecond is read again. */
function onFrom({ fromMs, untilMs }: Interval, ms: number, sign: Sign): Interval {
  return sign > 0
    ? { fromMs: Math.max(fromMs ?? ms, ms), untilMs }
    : { fromMs, untilMs: Math.min(untilMs ?? ms + 1, ms + 1) };
}

/** Newest first, unless it is said. @throws invalid_argument */
function signOf(order: Order): Sign {
  if (order === Order.ASCENDING) return 1;
  if (order === Order.DESCENDING || order === Order.UNSPECIFIED) return -1;
  throw new PlatformError(
    'invalid_argument',
    `sort_order: expected ORDER_ASCENDING or ORDER_DESCENDING, found ${order}`,
  );
}
