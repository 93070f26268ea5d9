/** A row of `readings` with its exact times, as needed for messages. */
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { BsonDocument, type BsonValue } from '@platform/query';
import { timestampOf } from './microseconds.ts';

export interface Reading {
  /** time_received, otherwise time_requested, otherwise the upload time, in microseconds. Readings are found and sorted by it. */
  readonly captured: bigint;
  readonly row: BsonDocument;
}

/** @param row a row requested with `exactTimes`. */
export function readingOf(row: BsonDocument): Reading {
  const captured = exactTime(row, 'time_received') ?? exactTime(row, 'time_requested') ?? exactTime(row, 'time_synced');
  // Every row has an upload time.
  return { captured: captured ?? 0n, row };
}

/** Undefined if the sender omitted it. */
export function timeOf(row: BsonDocument, column: string): Timestamp | undefined {
  const time = exactTime(row, column);
  return time === undefined ? undefined : timestampOf(time);
}

export function textOf(row: BsonDocument, column: string): string {
  const value = row.get(column);
  return typeof value === 'string' ? value : '';
}

export function tagsOf(row: BsonDocument): string[] {
  const tags: BsonValue | undefined = row.get('tags');
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
}

export function documentOf(row: BsonDocument, column: string): BsonDocument {
  const value = row.get(column);
  return value instanceof BsonDocument ? value : new BsonDocument();
}

function exactTime(row: BsonDocument, column: string): bigint | undefined {
  const value = row.get(column);
  return typeof value === 'bigint' ? value : undefined;
}
