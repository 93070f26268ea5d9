/** A row of `readings` as the wire's messages need it. */
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { BsonDate, BsonDocument, type BsonValue } from '@platform/query';

export interface Reading {
  /**
   * time_received, or without it time_requested, or without both the time of the upload. Milliseconds.
   * Readings are found and put in order by it.
   */
  readonly capturedMs: number;
  readonly row: BsonDocument;
}

export function readingOf(row: BsonDocument): Reading {
  const capturedMs =
    timeMs(row, 'time_received') ?? timeMs(row, 'time_requested') ?? timeMs(row, 'time_synced') ?? Number.NaN;
  return { capturedMs, row };
}

/** Undefined when the sender left it out. */
export function timeOf(row: BsonDocument, column: string): Timestamp | undefined {
  const ms = timeMs(row, column);
  return ms === undefined ? undefined : timestampFromMs(ms);
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

function timeMs(row: BsonDocument, column: string): number | undefined {
  const value = row.get(column);
  return value instanceof BsonDate ? value.ms : undefined;
}
