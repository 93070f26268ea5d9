/** TabularDataByFilter: a page of all readings that the caller may read, or their number. */
import { create } from '@bufbuild/protobuf';
import { invalidArgument } from '@platform/base';
import {
  Order,
  type TabularData,
  type TabularDataByFilterRequest,
  type TabularDataByFilterResponse,
  TabularDataByFilterResponseSchema,
  TabularDataSchema,
} from '@platform/proto/platform/app/data/v1/data';
import { encodeBson, type Scope } from '@platform/query';
import type { AskRows } from './ask-rows.ts';
import { createSharedMetadata } from './capture-metadata.ts';
import { countReadings } from './count-readings.ts';
import { type Interval, intervalOf } from './interval.ts';
import { jsonOfDocument, type NonFinite } from './json-of-bson.ts';
import { mergedReadings, orderedReadings } from './ordered-readings.ts';
import { documentOf, type Reading, timeOf } from './reading.ts';
import { type FleetNames, readingConditions } from './reading-conditions.ts';
import type { Place, Sign } from './reading-page.ts';

const defaultLimit = 50;
const maxLimit = 10_000;
/** Public clients refuse answers over 4 MiB. A single reading may be this large. */
const maxPageBytes = 3 << 20;

/** @param scopes what the caller may read in each organization. */
export async function findReadings(
  ask: AskRows,
  request: TabularDataByFilterRequest,
  scopes: readonly Scope[],
  names: FleetNames,
  nonFinite: NonFinite,
): Promise<TabularDataByFilterResponse> {
  const { filter, limit = 0n, last = '', sortOrder = Order.UNSPECIFIED } = request.dataRequest ?? {};
  const conditions = readingConditions(filter, names);
  const interval = intervalOf(filter?.interval);
  const sign = signOf(sortOrder);
  const from = readPageToken(last);
  if (conditions === undefined) return create(TabularDataByFilterResponseSchema, { last });
  if (request.countOnly) {
    const { rows, bytes } = await countReadings(ask, scopes, conditions, interval);
    return create(TabularDataByFilterResponseSchema, { count: BigInt(rows), totalSizeBytes: BigInt(bytes) });
  }

  const rows = limit === 0n ? defaultLimit : Math.min(Number(limit), maxLimit);
  const within = from === undefined ? interval : onFrom(interval, from.time, sign);
  const asked = { conditions, ...within, sign, pageRows: rows + Math.min(from?.skip ?? 0, maxLimit) };
  const readings = mergedReadings(
    scopes.map((scope) => orderedReadings(ask, { ...asked, scope })),
    sign,
  );
  const metadata = createSharedMetadata(names);
  const data: TabularData[] = [];
  let place: Place | undefined = from;
  let toSkip = from?.skip ?? 0;
  let bytes = 0;
  for await (const reading of readings) {
    const { captured: time } = reading;
    if (toSkip > 0 && time === place?.time) {
      toSkip--;
      continue;
    }
    toSkip = 0;
    const size = encodeBson(documentOf(reading.row, 'data')).length;
    if (data.length > 0 && bytes + size > maxPageBytes) break;
    bytes += size;
    place = { time, skip: place?.time === time ? place.skip + 1 : 1 };
    data.push(tabularData(reading, metadata.indexOf(reading.row), nonFinite));
    if (data.length === rows) break;
  }
  return create(TabularDataByFilterResponseSchema, {
    metadata: [...metadata.list],
    data,
    count: BigInt(data.length),
    last: place === undefined ? last : pageToken(place),
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

/** The rest of the interval from a place on, including its own microsecond, which is read again. */
function onFrom({ from, until }: Interval, time: bigint, sign: Sign): Interval {
  return sign > 0
    ? { from: from === undefined || from < time ? time : from, until }
    : { from, until: until === undefined || until > time ? time + 1n : until };
}

/** Newest first by default. @throws invalid_argument */
function signOf(order: Order): Sign {
  if (order === Order.ASCENDING) return 1;
  if (order === Order.DESCENDING || order === Order.UNSPECIFIED) return -1;
  throw invalidArgument(`sort_order: expected ORDER_ASCENDING or ORDER_DESCENDING, found ${order}`);
}

/** The `last` of a page, opaque to clients: the place after its last reading. `u`: the time is in microseconds. */
const tokenForm = /^u(-?\d{1,18})\.(\d{1,9})$/;

function pageToken({ time, skip }: Place): string {
  return Buffer.from(`u${time}.${skip}`).toString('base64url');
}

/** @throws invalid_argument */
function readPageToken(last: string): Place | undefined {
  if (last === '') return undefined;
  const [, time, skip] = tokenForm.exec(Buffer.from(last.slice(0, 64), 'base64url').toString('latin1')) ?? [];
  if (time !== undefined && skip !== undefined && last.length <= 64) return { time: BigInt(time), skip: Number(skip) };
  throw invalidArgument(
    `last: expected the \`last\` of an earlier answer, found ${JSON.stringify(last.slice(0, 64))}; omit it for the first page`,
  );
}
