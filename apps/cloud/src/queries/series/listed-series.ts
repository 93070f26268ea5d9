/** A series in the list of an organization, and what identifies it. */
import { BsonDocument } from '@platform/query';

/** Equal texts of a list are one string: most series share most of theirs. */
export interface ListedSeries {
  readonly location: string;
  readonly machine: string;
  readonly part: string;
  /** In the `core` vocabulary. */
  readonly type: string;
  readonly component: string;
  readonly method: string;
  /** Undefined: no reading has a time_received. */
  readonly newestMs: number | undefined;
  /** Component, type and method in lower case, for searches. */
  readonly text: string;
  /** The names of all values of the newest reading in lower case, for searches; empty: none, or not read. */
  readonly valueNames: string;
}

export type SeriesId = Pick<ListedSeries, 'location' | 'machine' | 'part' | 'type' | 'component' | 'method'>;

/** Of `$group`. */
export const seriesId: BsonDocument = BsonDocument.of({
  ...{ location: '$location_id', machine: '$robot_id', part: '$part_id' },
  ...{ type: '$component_type', component: '$component_name', method: '$method_name' },
});

/** The series of a group with this id. */
export function idOf(row: BsonDocument): SeriesId {
  const id = row.get('_id');
  const text = (name: string): string => {
    const value = id instanceof BsonDocument ? id.get(name) : undefined;
    return typeof value === 'string' ? value : '';
  };
  return {
    ...{ location: text('location'), machine: text('machine'), part: text('part') },
    ...{ type: text('type'), component: text('component'), method: text('method') },
  };
}

/** Identifies a series of an organization. */
export function keyOf({ location, part, type, component, method }: Omit<SeriesId, 'machine'>): string {
  return JSON.stringify([location, part, type, component, method]);
}
