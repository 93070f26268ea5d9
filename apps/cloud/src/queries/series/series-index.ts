/**
 * Which series each organization has stored, in memory: pages are cut from this list. Values are not kept here. Nothing else changes the
 * list than asking the store again, so deletions need no further care.
 *
 * A list is made in two parts: which series exist takes the store a fraction of a second for 20,000, the names of their values several times
 * as long. Who does not search waits for the first part only.
 */
import type { Clock } from '@platform/base';
import type { AskBatch } from '../readings/ask-rows.ts';
import type { ListedSeries } from './listed-series.ts';
import { readSeries, withValueNames } from './read-series.ts';

export interface SeriesList {
  readonly series: readonly ListedSeries[];
  /** Wall time at which the store was asked. */
  readonly listedMs: number;
  /** The newest readings are larger than an answer may be, so there are no names of values. */
  readonly ignoresValueNames: boolean;
}

export interface SeriesIndex {
  /** @param isSearched the names of values are needed @throws like Tabular.query */
  of(organizationId: string, isSearched: boolean): Promise<SeriesList>;
  /** Makes the list, and keeps it if it is long, before somebody asks for it. @throws like Tabular.query */
  prepare(organizationId: string): Promise<void>;
  /** After a deletion: the next list is a new one. */
  forget(organizationId: string): void;
}

/** A longer list is not made for each page: an older one is returned while the next is made. */
export const fewSeries = 1_000;
/** Making lists takes at most a twentieth of the time. */
const restFactor = 20;
const longestRestMs = 60_000;
/** The names of values are read this much later, so that they do not delay the newest values of the page that waited for the list. */
export const namesAfterMs = 2_000;
/** An older list is not returned, however long a new one takes. */
const oldestMs = 10 * 60_000;
/** Of the organizations that were looked at last. */
export const mostLists = 16;

interface Kept extends SeriesList {
  readonly startedMs: number;
  readonly tookMs: number;
}

/** A list that is being made. */
interface Making {
  /** Without names of values. */
  readonly unnamed: Promise<SeriesList>;
  named(): Promise<SeriesList>;
  /** Resolves when it is kept, or is too short for that. */
  readonly ended: Promise<void>;
}

/** @param stopping ends what runs in the background */
export function createSeriesIndex(
  ask: AskBatch,
  clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>,
  stopping: AbortSignal = new AbortController().signal,
): SeriesIndex {
  const lists = new Map<string, Kept>();
  const making = new Map<string, Making>();

  const keep = (organizationId: string, list: Kept): void => {
    lists.delete(organizationId);
    lists.set(organizationId, list);
    for (const oldest of [...lists.keys()].slice(0, -mostLists)) lists.delete(oldest);
  };
  const make = (organizationId: string): Making => {
    const [startedMs, listedMs] = [clock.monotonic(), clock.now()];
    let tookMs = 0;
    const unnamed = readSeries(ask, organizationId).then((series): SeriesList => {
      tookMs = clock.monotonic() - startedMs;
      return { series, listedMs, ignoresValueNames: false };
    });
    const name = async (): Promise<SeriesList> => {
      const list = await unnamed;
      const beganMs = clock.monotonic();
      const series = await withValueNames(ask, organizationId, list.series);
      tookMs += clock.monotonic() - beganMs;
      return series === undefined ? { ...list, ignoresValueNames: true } : { ...list, series };
    };
    let names: Promise<SeriesList> | undefined;
    const named = (): Promise<SeriesList> => (names ??= name());
    const end = async (): Promise<void> => {
      try {
        if ((await unnamed).series.length <= fewSeries) return;
        if (names === undefined) await clock.sleep(namesAfterMs, stopping);
        const list = await named();
        // After `forget`, the list may contain what was deleted.
        if (making.get(organizationId) === made) keep(organizationId, { ...list, startedMs, tookMs });
      } finally {
        if (making.get(organizationId) === made) making.delete(organizationId);
      }
    };
    const made: Making = { unnamed, named, ended: end() };
    // A failure is reported to whoever has to wait for a list.
    made.ended.catch(() => undefined);
    return made;
  };
  const next = (organizationId: string): Making => {
    const running = making.get(organizationId);
    if (running !== undefined) return running;
    const made = make(organizationId);
    making.set(organizationId, made);
    return made;
  };

  return {
    async of(organizationId, isSearched) {
      const known = lists.get(organizationId);
      const ageMs = clock.monotonic() - (known?.startedMs ?? Number.NEGATIVE_INFINITY);
      if (known === undefined || ageMs > oldestMs) {
        const { unnamed, named } = next(organizationId);
        return isSearched ? named() : unnamed;
      }
      if (ageMs > Math.min(longestRestMs, restFactor * known.tookMs)) next(organizationId);
      return known;
    },
    prepare: (organizationId) => next(organizationId).ended,
    forget(organizationId) {
      lists.delete(organizationId);
      making.delete(organizationId);
    },
  };
}
