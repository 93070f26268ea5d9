/**
 * Names in a query that no stored reading has, told with the nearest name that one has: fields, and components, machines and other values
 * with which a path column is compared for equality.
 *
 * Only answers that look as if they lacked something are examined. What the store is then asked, it answers from the values and facts that
 * it keeps of each file (ADR-0027), not from rows, within `limits`; what takes longer gives no notice.
 */
import { type ClockAndLog, errorText } from '@platform/base';
import {
  BsonDocument,
  type BsonValue,
  documentsOf,
  type Expr,
  fieldsNamed,
  type Plan,
  pathFilter,
  readingColumns,
  type Scope,
} from '@platform/query';
import type { QueryResult, Tabular } from '../tabular/tabular.ts';
import { nearestName } from './nearest-name.ts';
import { numberOf } from './readings/ask-rows.ts';
import type { FleetNames } from './readings/reading-conditions.ts';

const limits = {
  checks: 8,
  notices: 5,
  series: 500,
  names: 1_000,
  depth: 8,
  rows: 5,
  rowBytes: 65_536,
  chars: 100,
};
const compared = ['component_name', 'method_name', 'component_type', 'robot_id', 'part_id', 'location_id'] as const;

export interface UnknownNamesDeps extends ClockAndLog {
  readonly tabular: Pick<Tabular, 'query'>;
  readonly names: Pick<FleetNames, 'machinesNamed' | 'partsNamed'>;
  /** How long an answer waits for notices about its names. Default: 1 s. */
  readonly noticeMs?: number;
}

interface Asked {
  readonly plan: Plan;
  readonly scope: Scope;
  readonly vocabulary: 'core' | 'rdk';
  readonly signal: AbortSignal;
}

/** A field, or a value of a column. */
type Named =
  | { readonly path: readonly string[] }
  | { readonly column: (typeof compared)[number]; readonly value: string };

/** @returns a sentence for each name that no reading in the caller's scope has; empty if the answer lacks nothing */
export async function unknownNames(
  { tabular, names, clock, log, noticeMs = 1_000 }: UnknownNamesDeps,
  { plan, scope, vocabulary, signal }: Asked,
  result: QueryResult,
): Promise<readonly string[]> {
  const named = namesIn(plan);
  if (named.length === 0 || !looksIncomplete(plan, result)) return [];
  const endMs = clock.monotonic() + noticeMs;
  const ask = (stages: Plan['stages']): Promise<QueryResult> =>
    tabular.query({
      plan: { source: 'readings', stages },
      ...{ scope, vocabulary, signal, unmetered: true, deadlineMs: Math.max(1, endMs - clock.monotonic()) },
    });
  try {
    const unknown: Named[] = [];
    for (const one of named) {
      if (unknown.length < limits.notices && !(await isStored(one, ask))) unknown.push(one);
    }
    if (unknown.length === 0) return [];
    const stored = await storedNames(
      ask,
      unknown.some((one) => 'path' in one),
    );
    return unknown.map((one) => sentence(one, stored, names));
  } catch (caught) {
    log.debug('the names in a query were not compared with stored ones', { reason: errorText(caught) });
    return [];
  }
}

function namesIn(plan: Plan): readonly Named[] {
  if (plan.source === 'none') return [];
  const { columns } = pathFilter(plan);
  const values = compared.flatMap((column) => (columns[column]?.in ?? []).map((value) => ({ column, value })));
  const fields = fieldsNamed(plan).filter(([first = '', ...below]) =>
    first === 'data' ? below.length > 0 : !readingColumns.includes(first) && first !== '_id',
  );
  return [...values, ...fields.map((path) => ({ path }))].slice(0, limits.checks);
}

/** Whether there are no rows, or one of the first lacks a value, as rows do that were made from a field that does not exist. */
function looksIncomplete({ stages }: Plan, result: QueryResult): boolean {
  if (result.count === 0) return true;
  const wanted = namesMade(stages);
  const rows = Math.min(result.count, limits.rows);
  const bytes = result.ends[rows - 1] ?? 0;
  if (bytes > limits.rowBytes) return false;
  const ends = result.ends.subarray(0, rows);
  for (const row of documentsOf({ count: rows, bytes: result.bytes.subarray(0, bytes), ends })) {
    if (row.size === 0 || [...row.values()].some(isNothing) || wanted.some((name) => !row.has(name))) return true;
  }
  return false;
}

/** The fields that the last stage that makes rows gives to them, if their values exist. */
function namesMade(stages: Plan['stages']): readonly string[] {
  const last = stages.findLast(({ k }) => k === 'shape' || k === 'replace');
  if (last?.k === 'replace') return last.with.k === 'doc' ? last.with.fields.map(([name]) => name) : [];
  if (last?.k !== 'shape' || last.mode !== 'include') return [];
  return last.tree.fields.map(([name]) => name).filter((name) => name !== '_id');
}

function isNothing(value: BsonValue): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (value instanceof BsonDocument) return value.size === 0;
  return numberOf(value) === 0;
}

async function isStored(named: Named, ask: (stages: Plan['stages']) => Promise<QueryResult>): Promise<boolean> {
  // Rows have no other columns.
  if ('path' in named && named.path[0] !== 'data') return false;
  const where: Expr =
    'path' in named
      ? { k: 'call', fn: 'match.exists', args: [{ k: 'field', path: named.path }], at: '' }
      : {
          ...{ k: 'call', fn: 'match.eq', at: '' },
          args: [
            { k: 'field', path: [named.column] },
            { k: 'lit', value: named.value },
          ],
        };
  const one: Expr = { k: 'doc', fields: [['found', { k: 'lit', value: true }]] };
  const found = await ask([
    { k: 'filter', where },
    { k: 'slice', skip: 0, limit: 1 },
    { k: 'replace', with: one },
  ]);
  return found.count > 0;
}

interface StoredNames {
  readonly fields: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Names in the newest reading of each series, from which the nearest ones are chosen. */
async function storedNames(
  ask: (stages: Plan['stages']) => Promise<QueryResult>,
  withFields: boolean,
): Promise<StoredNames> {
  const key: Expr = { k: 'doc', fields: compared.map((column) => [column, { k: 'field', path: [column] }]) };
  const newest = { fn: 'last', arg: { k: 'field', path: ['data'] } } as const;
  const result = await ask([
    ...(withFields ? [{ k: 'sort', by: [{ path: ['time_received'], descending: false }] } as const] : []),
    { k: 'group', key, accumulators: withFields ? [['data', newest]] : [] },
    { k: 'slice', skip: 0, limit: limits.series },
  ]);
  const fields = new Set(readingColumns);
  const values = new Map<string, Set<string>>(compared.map((column) => [column, new Set()]));
  for (const row of documentsOf(result)) {
    const series = row.get('_id');
    if (series instanceof BsonDocument)
      for (const column of compared) values.get(column)?.add(String(series.get(column)));
    addFields(row.get('data'), 'data', 1, fields);
    if (fields.size >= limits.names) break;
  }
  return { fields, values };
}

function addFields(value: BsonValue | undefined, path: string, depth: number, into: Set<string>): void {
  if (!(value instanceof BsonDocument) || depth > limits.depth) return;
  for (const [name, inner] of value) {
    if (into.size >= limits.names) return;
    into.add(`${path}.${name}`);
    addFields(inner, `${path}.${name}`, depth + 1, into);
  }
}

function sentence(named: Named, { fields, values }: StoredNames, fleet: UnknownNamesDeps['names']): string {
  if ('path' in named) {
    const name = named.path.join('.');
    return `no stored reading has a field ${shown(name)}${hint(nearestName(name, fields))}`;
  }
  const { column, value } = named;
  const said = `no stored reading has ${column} ${shown(value)}`;
  const stored = values.get(column) ?? new Set();
  const ids = column === 'robot_id' ? fleet.machinesNamed(value) : column === 'part_id' ? fleet.partsNamed(value) : [];
  // Only what the caller may see.
  const id = ids.find((one) => stored.has(one));
  if (id === undefined) return `${said}${hint(nearestName(value, stored))}`;
  return `${said}, which is a name; its id: ${shown(id)}`;
}

function hint(name: string | undefined): string {
  return name === undefined ? '' : `; nearest: ${shown(name)}`;
}

function shown(name: string): string {
  return JSON.stringify(name.length > limits.chars ? `${name.slice(0, limits.chars)}…` : name);
}
