/** Which fragments each part has, and what is wrong with them; written in the transactions that save. */
import { isObject, type ResolvedDocument } from '@platform/machine-config/fragments';
import type { JsonObject } from '@platform/machine-config/schema';
import type { Kysely, Transaction } from 'kysely';
import type { CloudTables } from '../metadata/tables.ts';
import { type Held, importKey, resolveFor, resolveHeld } from './resolve-for.ts';
import { type FragmentSource, rightsOf } from './source.ts';
import type { FragmentsTables } from './store.ts';

type IndexRow = FragmentsTables['part_fragments'];

export interface PartResolution {
  /** What the part is to run. */
  readonly running: ResolvedDocument;
  /** What is wrong with its fragments as they are now; with errors, `running` is what it had before. */
  readonly problems: ResolvedDocument['problems'];
  /** As they are now, also those that could not be had. */
  readonly asked: ResolvedDocument['used'];
  readonly isHeld: boolean;
}

/** A part whose imports have errors keeps what it had: nothing vanishes from a running machine. */
export async function resolvePart(
  source: FragmentSource,
  organizationId: string | null,
  document: unknown,
  held: Held,
): Promise<PartResolution> {
  const given = (isObject(document) ? document : {}) as JsonObject;
  const fresh = await resolveFor(source, rightsOf(organizationId), given, held);
  const { problems, used: asked } = fresh;
  if (held.size > 0 && hasErrors(fresh)) {
    const before = await resolveHeld(source, given, held);
    if (!hasErrors(before)) return { running: before, problems, asked, isHeld: true };
  }
  return { running: fresh, problems, asked, isHeld: false };
}

const hasErrors = (resolved: ResolvedDocument): boolean => resolved.problems.some(({ level }) => level === 'error');

export async function heldBy(db: Kysely<CloudTables>, partIds: readonly string[]): Promise<Map<string, IndexRow[]>> {
  const rows = await db.selectFrom('part_fragments').selectAll().where('part_id', 'in', partIds).execute();
  return Map.groupBy(rows, (row) => row.part_id);
}

export function heldOf(rows: readonly IndexRow[] | undefined): Held {
  const had = (rows ?? []).filter((row) => row.revision > 0);
  return new Map(had.map((row) => [importKey(row.fragment_id, row.version), row.revision]));
}

/** @returns whether anything that the part uses is another than before. */
export async function writeIndex(
  trx: Transaction<CloudTables>,
  partId: string,
  resolution: PartResolution,
  before: readonly IndexRow[],
  nowMs: number,
): Promise<boolean> {
  const rows = new Map<string, IndexRow>();
  for (const used of [...resolution.running.used, ...(resolution.isHeld ? resolution.asked : [])]) {
    const key = importKey(used.fragmentId, used.version);
    const known = rows.get(key);
    rows.set(key, {
      part_id: partId,
      fragment_id: used.fragmentId,
      version: used.version,
      // Of what is held, the revision that is held.
      revision: known?.revision ?? (resolution.isHeld && !isIn(resolution, key) ? 0 : Number(used.revision ?? 0)),
      direct: used.direct ? 1 : 0,
    });
  }
  const changed = fingerprint([...rows.values()]) !== fingerprint(before);
  if (changed) {
    await trx.deleteFrom('part_fragments').where('part_id', '=', partId).execute();
    if (rows.size > 0)
      await trx
        .insertInto('part_fragments')
        .values([...rows.values()])
        .execute();
  }
  await writeProblems(trx, partId, resolution.problems, nowMs);
  return changed;
}

const isIn = (resolution: PartResolution, key: string): boolean =>
  resolution.running.used.some((used) => importKey(used.fragmentId, used.version) === key);

async function writeProblems(
  trx: Transaction<CloudTables>,
  partId: string,
  problems: PartResolution['problems'],
  nowMs: number,
): Promise<void> {
  const serious = problems.filter(({ level, fault }) => level === 'error' || fault !== undefined);
  if (serious.length === 0) {
    await trx.deleteFrom('part_fragment_problems').where('part_id', '=', partId).execute();
    return;
  }
  const text = JSON.stringify(serious.slice(0, 20));
  await trx
    .insertInto('part_fragment_problems')
    .values({ part_id: partId, problems: text, since_ms: nowMs })
    .onConflict((conflict) => conflict.column('part_id').doUpdateSet({ problems: text }))
    .execute();
}

function fingerprint(rows: readonly IndexRow[]): string {
  return rows
    .map((row) => `${row.fragment_id} ${row.version} ${row.revision} ${row.direct}`)
    .toSorted()
    .join('\n');
}
