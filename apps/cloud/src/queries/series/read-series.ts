/**
 * Asks the store which series an organization has, and for the names of their values. There may be tens of thousands, so the answers are
 * decoded in turns with everything else that waits (ADR-0055).
 */
import { getOrInsert, PlatformError, runInTurns, type Steps } from '@platform/base';
import { type Batch, BsonDate, BsonDocument, type BsonValue, documentsOf, Int32, type Scope } from '@platform/query';
import type { AskBatch } from '../readings/ask-rows.ts';
import { idOf, keyOf, type ListedSeries, seriesId } from './listed-series.ts';

/** Of the names of values of one series. */
const mostNameCharacters = 65_536;

/** Without names of values. The store answers this from its facts about series and reads no reading. @throws like Tabular.query */
export async function readSeries(ask: AskBatch, organizationId: string): Promise<readonly ListedSeries[]> {
  const newest = BsonDocument.of({ $max: '$time_received' });
  const group = { $group: BsonDocument.of({ _id: seriesId, newest }) };
  return await runInTurns(listedIn(await ask(everythingOf(organizationId), [group], { unmetered: true })));
}

/**
 * The same series with the names of the values of their newest readings. The store answers this from the newest row that it keeps of each
 * series, which takes it several times as long as `readSeries`.
 *
 * @returns undefined: the newest readings are larger than an answer may be @throws like Tabular.query
 */
export async function withValueNames(
  ask: AskBatch,
  organizationId: string,
  series: readonly ListedSeries[],
): Promise<readonly ListedSeries[] | undefined> {
  const newestFirst = { $sort: BsonDocument.of({ time_received: new Int32(-1) }) };
  const group = { $group: BsonDocument.of({ _id: seriesId, data: BsonDocument.of({ $first: '$data' }) }) };
  try {
    const newest = await ask(everythingOf(organizationId), [newestFirst, group], { unmetered: true });
    return await runInTurns(named(series, newest));
  } catch (caught) {
    if (!(caught instanceof PlatformError) || caught.code !== 'resource_exhausted') throw caught;
    return undefined;
  }
}

function everythingOf(organizationId: string): Scope {
  return { organizationId, locationIds: null, robotIds: null };
}

function* listedIn(batch: Batch): Steps<readonly ListedSeries[]> {
  const one = shared();
  const series: ListedSeries[] = [];
  for (const row of documentsOf(batch)) {
    const { location, machine, part, type, component, method } = idOf(row);
    const newest = row.get('newest');
    series.push({
      ...{ location: one(location), machine: one(machine), part: one(part) },
      ...{ type: one(type), component: one(component), method: one(method) },
      newestMs: newest instanceof BsonDate ? newest.ms : undefined,
      text: one([component, type, method].join('\n').toLowerCase()),
      valueNames: '',
    });
    yield;
  }
  return series;
}

function* named(series: readonly ListedSeries[], newest: Batch): Steps<readonly ListedSeries[]> {
  const one = shared();
  const namesOf = new Map<string, string>();
  for (const row of documentsOf(newest)) {
    const names: string[] = [];
    addNames(row.get('data'), names, mostNameCharacters);
    namesOf.set(keyOf(idOf(row)), one(names.join('\n').toLowerCase()));
    yield;
  }
  const all: ListedSeries[] = [];
  for (const each of series) {
    all.push({ ...each, valueNames: namesOf.get(keyOf(each)) ?? '' });
    yield;
  }
  return all;
}

/** Returns one string for all equal texts. */
function shared(): (text: string) => string {
  const texts = new Map<string, string>();
  return (text) => getOrInsert(texts, text, () => text);
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
