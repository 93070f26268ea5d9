/** Selects rows in an interval exact to the microsecond, and tells the store how to skip all others. */
import { BsonDocument } from '@platform/query';
import type { RowFilter } from '../../tabular/catalog/row-filter.ts';
import type { Stages } from './ask-rows.ts';
import { leastTime } from './interval.ts';

export interface ExactRows {
  readonly stages: Stages;
  /** The option for the query. */
  readonly exactTimes: RowFilter['times'];
}

/** The rows with a time_received in [from, until). */
export function datedWithin(conditions: BsonDocument, from: bigint, until: bigint): ExactRows {
  return {
    stages: [{ $match: new BsonDocument([...conditions, ['time_received', within(from, until)]]) }],
    exactTimes: { time_received: { from, to: until - 1n } },
  };
}

/**
 * The rows without time_received whose time_requested, or otherwise time_synced, is in the interval; the time is in their field `captured`.
 */
export function undatedWithin(conditions: BsonDocument, from: bigint, until: bigint): ExactRows {
  return {
    stages: [
      { $match: new BsonDocument([...conditions, ['time_received', null]]) },
      { $addFields: BsonDocument.of({ captured: BsonDocument.of({ $ifNull: ['$time_requested', '$time_synced'] }) }) },
      { $match: BsonDocument.of({ captured: within(from, until) }) },
    ],
    // A missing time matches every range without a start; files without missing times are skipped.
    exactTimes: { time_received: { to: leastTime - 1n } },
  };
}

function within(from: bigint, until: bigint): BsonDocument {
  return BsonDocument.of({ $gte: from, $lt: until });
}
