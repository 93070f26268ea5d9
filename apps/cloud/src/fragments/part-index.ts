/** The index of the fragments that each part uses, and of their problems; written in the transactions that save. */
import { chunks } from '@platform/base';
import { isObject, type ResolvedDocument } from '@platform/machine-config/fragments';
import type { JsonObject } from '@platform/machine-config/schema';
import { requireAllRows } from '../metadata/row-checks/require-complete.ts';
import { rowsPerStatement } from '../metadata/rows-per-statement.ts';
import type { Database, DatabaseTransaction } from '../metadata/tables.ts';
import { type Held, importKey, resolveFor, resolveHeld } from './resolve-for.ts';
import { type FragmentSource, rightsOf } from './source.ts';
import { checkedPartFragments, type FragmentsTables } from './store.ts';

const shownProblems = 20;

export type IndexRow = FragmentsTables['part_fragments'];

export interface PartResolution {
  /** What the part should run. */
  readonly running: ResolvedDocument;
  /** Problems of its fragments in their current state; if there are errors, `running` is the previous document. */
  readonly problems: ResolvedDocument['problems'];
  /** Its current imports, including unavailable ones. */
  readonly asked: ResolvedDocument['used'];
  readonly isHeld: boolean;
}

/**
 * Resolves a part's fragments. If its imports have errors, the part keeps its previous document: nothing disappears from a running
 * machine.
 */
export async function resolvePart(
  source: FragmentSource,
  organizationId: string | null,
  document: unknown,
  readHeld: () => Promise<Held>,
): Promise<PartResolution> {
  const given = (isObject(document) ? document : {}) as JsonObject;
  const fresh = await resolveFor(source, rightsOf(organizationId), given, readHeld);
  const { problems, used: asked } = fresh;
  if (hasErrors(fresh)) {
    const held = await readHeld();
    const before = held.size === 0 ? undefined : await resolveHeld(source, given, held);
    if (before !== undefined && !hasErrors(before)) return { running: before, problems, asked, isHeld: true };
  }
  return { running: fresh, problems, asked, isHeld: false };
}

const hasErrors = (resolved: ResolvedDocument): boolean => resolved.problems.some(({ level }) => level === 'error');

/** @throws data_loss when one of the rows was altered, or some are missing */
export async function heldBy(db: Database, partIds: readonly string[]): Promise<Map<string, IndexRow[]>> {
  const rows = await db.selectFrom('part_fragments').selectAll().where('part_id', 'in', partIds).execute();
  await requireAllRows(db, checkedPartFragments, partIds, rows);
  return Map.groupBy(rows, (row) => row.part_id);
}

export function heldOf(rows: readonly IndexRow[] | undefined): Held {
  const had = (rows ?? []).filter((row) => row.revision > 0);
  return new Map(had.map((row) => [importKey(row.fragment_id, row.version), row.revision]));
}

export interface PartChange {
  readonly partId: string;
  readonly resolution: PartResolution;
  /** The previous rows of the index. */
  readonly before: readonly IndexRow[];
}

/** @returns the parts for which any used revision has changed. */
export async function writeIndex(
  trx: DatabaseTransaction,
  changes: readonly PartChange[],
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const changed = new Set<string>();
  const rows: IndexRow[] = [];
  for (const { partId, resolution, before } of changes) {
    const after = rowsOf(partId, resolution);
    if (fingerprint(after) === fingerprint(before)) continue;
    changed.add(partId);
    for (const row of after) rows.push(row);
  }
  if (changed.size > 0)
    await trx
      .deleteFrom('part_fragments')
      .where('part_id', 'in', [...changed])
      .execute();
  for (const some of chunks(rows, rowsPerStatement)) await trx.insertInto('part_fragments').values(some).execute();
  await writeProblems(trx, changes, nowMs);
  return changed;
}

function rowsOf(partId: string, { running, asked, isHeld }: PartResolution): IndexRow[] {
  const rows = new Map<string, IndexRow>();
  const add = (used: PartResolution['asked'][number], revision: number): void => {
    const key = importKey(used.fragmentId, used.version);
    if (rows.has(key)) return;
    const { fragmentId, version, direct } = used;
    rows.set(key, { part_id: partId, fragment_id: fragmentId, version, revision, direct: direct ? 1 : 0 });
  };
  for (const used of running.used) add(used, Number(used.revision ?? 0));
  // A part that keeps its previous document must also learn of changes in its current imports: they may fix it.
  if (isHeld) for (const used of asked) add(used, 0);
  return [...rows.values()];
}

async function writeProblems(trx: DatabaseTransaction, changes: readonly PartChange[], nowMs: number): Promise<void> {
  const rows = changes.flatMap(({ partId, resolution }) => {
    const serious = seriousProblems(resolution);
    if (serious.length === 0) return [];
    return [{ part_id: partId, problems: JSON.stringify(serious.slice(0, shownProblems)), since_ms: nowMs }];
  });
  const ill = new Set(rows.map((row) => row.part_id));
  const well = changes.flatMap(({ partId }) => (ill.has(partId) ? [] : [partId]));
  if (well.length > 0) await trx.deleteFrom('part_fragment_problems').where('part_id', 'in', well).execute();
  if (rows.length > 0)
    await trx
      .insertInto('part_fragment_problems')
      .values(rows)
      .onConflict((conflict) =>
        conflict.column('part_id').doUpdateSet((each) => ({ problems: each.ref('excluded.problems') })),
      )
      .execute();
}

/** Errors, and problems caused by lost rights. */
export function seriousProblems({ problems }: PartResolution): PartResolution['problems'] {
  return problems.filter(({ level, fault }) => level === 'error' || fault !== undefined);
}

/** Equal for rows with the same content, whatever their order. */
export function fingerprint(rows: readonly IndexRow[]): string {
  return rows
    .map((row) => `${row.fragment_id} ${row.version} ${row.revision} ${row.direct}`)
    .toSorted()
    .join('\n');
}
