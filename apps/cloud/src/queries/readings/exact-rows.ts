/** Rows of a stretch of time to the microsecond, and what the store is told so that it reads no others. */
import { BsonDocument } from '@platform/query';
import type { RowFilter } from '../../tabular/catalog/row-filter.ts';
import type { Stages } from './ask-rows.ts';
import { leastTime } from './interval.ts';

export interface ExactRows {
  readonly stages: Stages;
  /** The option of the question. */
  readonly exactTimes: RowFilter['times'];
}

/** The rows with a time_received from one time to before another. */
export function datedWithin(conditions: BsonDocument, from: bigint, until: bigint): ExactRows {
  return {
    stages: [{ $match: new BsonDocument([...conditions, ['time_received', within(from, until)]]) }],
    exactTimes: { time_received: { from, to: until - 1n } },
  };
}

/** The rows without a time of receipt that were asked for, or else uploaded, in a time; it is in their field `captured`. */
export function undatedWithin(conditions: BsonDocument, from: bigint, until: bigint): ExactRows {
  return {
    stages: [
      { $match: new BsonDocument([...conditions, ['time_received', null]]) },
      { $addFields: BsonDocument.of({ captured: BsonDocument.of({ $ifNull: ['$time_requested', '$time_synced'] }) }) },
      { $match: BsonDocument.of({ captured: within(from, until) }) },
    ],
    // A missing time is in every range without a start; files in which none is missing are passed by.
    exactTimes: { time_received: { to: leastTime - 1n } },
  };
}

function within(from: bigint, until: bigint): BsonDocument {
  return BsonDocument.of({ $gte: from, $lt: until });
}
