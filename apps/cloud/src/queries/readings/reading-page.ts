/** One page of ordered readings, and the place after it. */
import { BsonDocument, Int32, type Scope } from '@platform/query';
import type { AskRows, Stages } from './ask-rows.ts';
import type { ExactRows } from './exact-rows.ts';
import { type Reading, readingOf } from './reading.ts';

/** All rows before `time` have been read, and the first `skip` rows of that microsecond. */
export interface Place {
  readonly time: bigint;
  readonly skip: number;
}

export type Sign = 1 | -1;

/** Order within a microsecond: by arrival, then by anything that never changes. */
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
  of: { readonly rows: ExactRows; readonly time: string; readonly sign: Sign; readonly skip: number },
  rows: number,
): Promise<Reading[]> {
  const { time, sign, skip } = of;
  const { stages, exactTimes } = of.rows;
  const order = BsonDocument.of({ [time]: new Int32(sign) });
  for (const column of tieColumns) order.set(column, new Int32(1));
  const inOrder: Stages = [
    ...stages,
    { $sort: order },
    { $limit: BigInt(skip + rows) },
    ...(skip > 0 ? [{ $skip: BigInt(skip) }] : []),
  ];
  const page = await ask(scope, inOrder, { exactTimes });
  return page.map(readingOf);
}

/** @param page must not be empty. */
export function placeAfter(place: Place | undefined, page: readonly Reading[]): Place {
  const time = page.at(-1)?.captured ?? 0n;
  const held = page.filter(({ captured }) => captured === time).length;
  return { time, skip: place?.time === time ? place.skip + held : held };
}
