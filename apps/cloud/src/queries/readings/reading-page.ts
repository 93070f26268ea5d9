/** One page of readings in order, and the place behind it. */
import { BsonDocument, Int32, type Scope } from '@platform/query';
import type { AskRows, Stages } from './ask-rows.ts';
import { type Reading, readingOf } from './reading.ts';

/** Before it everything was read, and of its own millisecond so many rows. */
export interface Place {
  readonly ms: number;
  readonly skip: number;
}

export type Sign = 1 | -1;

/** No stored time is less: earlier ones are clamped to it. */
export const leastMs: number = Date.parse('0001-01-01T00:00:00Z');
/** Behind all stored times. */
export const endOfTimeMs = 253_402_300_800_000;

/** Within a millisecond: the order of arrival, then whatever is always the same. */
const tieColumns = [
  'time_synced',
  'time_requested',
  'part_id',
  'component_type',
  'component_name',
  'method_name',
  'tags',
  'additional_parameters',
];

export async function readingPage(
  ask: AskRows,
  scope: Scope,
  of: { readonly stages: Stages; readonly time: string; readonly sign: Sign; readonly skip: number },
  rows: number,
): Promise<Reading[]> {
  const { stages, time, sign, skip } = of;
  const order = BsonDocument.of({ [time]: new Int32(sign) });
  for (const column of tieColumns) order.set(column, new Int32(1));
  const page = await ask(scope, [
    ...stages,
    { $sort: order },
    { $limit: BigInt(skip + rows) },
    ...(skip > 0 ? [{ $skip: BigInt(skip) }] : []),
  ]);
  return page.map(readingOf);
}

/** @param page of at least one row. */
export function placeAfter(place: Place | undefined, page: readonly Reading[]): Place {
  const ms = page.at(-1)?.capturedMs ?? Number.NaN;
  const held = page.filter(({ capturedMs }) => capturedMs === ms).length;
  return { ms, skip: place?.ms === ms ? place.skip + held : held };
}
