/**
 * Which series each organization has stored, in memory: listing all of them takes the store a second for 20,000, so pages are cut from this
 * list. Values are not kept here. Nothing else changes the list than asking the store again, so deletions need no further care.
 */
import { type Clock, PlatformError } from '@platform/base';
import { BsonDate, BsonDocument, type BsonValue, Int32, type Scope } from '@platform/query';
import type { AskRows } from '../readings/ask-rows.ts';

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
  /** What a search looks at, except for the name of the machine; in lower case. */
  readonly text: string;
}

export interface SeriesList {
  readonly series: readonly ListedSeries[];
  /** Wall time at which the store was asked. */
  readonly listedMs: number;
  /** The newest readings are larger than an answer may be, so the names of their values are not in `text`. */
  readonly ignoresValueNames: boolean;
}

export interface SeriesIndex {
  /** @throws like Tabular.query */
  of(organizationId: string): Promise<SeriesList>;
  /** After a deletion: the next list is a new one. */
  forget(organizationId: string): void;
}

/** A longer list is not made for each page: an older one is returned while the next is made. */
export const fewSeries = 1_000;
/** Making lists takes at most a twentieth of the time. */
const restFactor = 20;
const longestRestMs = 60_000;
/** An older list is not returned, however long a new one takes. */
const oldestMs = 10 * 60_000;
/** Of the organizations that were looked at last. */
const mostLists = 16;
/** Of the names of values of one series. */
const mostNameCharacters = 65_536;

interface Kept extends SeriesList {
  readonly startedMs: number;
  readonly tookMs: number;
}

export function createSeriesIndex(ask: AskRows, clock: Pick<Clock, 'now' | 'monotonic'>): SeriesIndex {
  const lists = new Map<string, Kept>();
  const making = new Map<string, Promise<Kept>>();

  const make = async (organizationId: string): Promise<Kept> => {
    const [startedMs, listedMs] = [clock.monotonic(), clock.now()];
    const list = await readSeries(ask, { organizationId, locationIds: null, robotIds: null });
    return { ...list, listedMs, startedMs, tookMs: clock.monotonic() - startedMs };
  };
  const next = (organizationId: string): Promise<Kept> => {
    const running = making.get(organizationId);
    if (running !== undefined) return running;
    const made = make(organizationId).then(
      (list) => {
        // After `forget`, the list may contain what was deleted.
        if (making.get(organizationId) !== made) return list;
        making.delete(organizationId);
        lists.delete(organizationId);
        lists.set(organizationId, list);
        for (const oldest of [...lists.keys()].slice(0, -mostLists)) lists.delete(oldest);
        return list;
      },
      (caught: unknown) => {
        if (making.get(organizationId) === made) making.delete(organizationId);
        throw caught;
      },
    );
    making.set(organizationId, made);
    return made;
  };

  return {
    async of(organizationId) {
      const known = lists.get(organizationId);
      if (known === undefined || known.series.length <= fewSeries) return next(organizationId);
      const ageMs = clock.monotonic() - known.startedMs;
      if (ageMs > oldestMs) return next(organizationId);
      // A failure is reported to whoever has to wait for a list.
      if (ageMs > Math.min(longestRestMs, restFactor * known.tookMs)) next(organizationId).catch(() => undefined);
      return known;
    },
    forget(organizationId) {
      lists.delete(organizationId);
      making.delete(organizationId);
    },
  };
}

/** Of `$group`. */
export const seriesId: BsonDocument = BsonDocument.of({
  ...{ location: '$location_id', machine: '$robot_id', part: '$part_id' },
  ...{ type: '$component_type', component: '$component_name', method: '$method_name' },
});

/** The store answers this from the newest row that it keeps of each series. */
async function readSeries(ask: AskRows, scope: Scope): Promise<Pick<SeriesList, 'series' | 'ignoresValueNames'>> {
  const read = (newest: Readonly<Record<string, BsonValue>>): Promise<BsonDocument[]> =>
    ask(
      scope,
      [
        { $sort: BsonDocument.of({ time_received: new Int32(-1) }) },
        { $group: BsonDocument.of({ _id: seriesId, ...newest }) },
      ],
      { unmetered: true },
    );
  const time = { newest: BsonDocument.of({ $first: '$time_received' }) };
  try {
    const rows = await read({ ...time, data: BsonDocument.of({ $first: '$data' }) });
    return { series: rows.map(listedOf), ignoresValueNames: false };
  } catch (caught) {
    if (!(caught instanceof PlatformError) || caught.code !== 'resource_exhausted') throw caught;
    return { series: (await read(time)).map(listedOf), ignoresValueNames: true };
  }
}

function listedOf(row: BsonDocument): ListedSeries {
  const id = idOf(row);
  const newest = row.get('newest');
  const names: string[] = [];
  addNames(row.get('data'), names, mostNameCharacters);
  const text = [id.component, id.type, id.method, ...names].join('\n').toLowerCase();
  return { ...id, newestMs: newest instanceof BsonDate ? newest.ms : undefined, text };
}

/** The series of a group with the id of this file. */
export function idOf(row: BsonDocument): Omit<ListedSeries, 'newestMs' | 'text'> {
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

/** Adds the names of all values, also of those in objects. Returns how many characters are left. */
function addNames(value: BsonValue | undefined, names: string[], left: number): number {
  if (!(value instanceof BsonDocument)) return left;
  let rest = left;
  for (const [name, member] of value) {
    if (rest <= 0) return 0;
    rest -= name.length;
    names.push(name);
    rest = addNames(member, names, rest);
  }
  return rest;
}
