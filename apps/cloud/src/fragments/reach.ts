/** Brings a change of a fragment to exactly the parts that use it, inside the transaction that makes the change. */
import type { JsonObject } from '@platform/machine-config/schema';
import type { Transaction } from 'kysely';
import type { CloudTables } from '../metadata/tables.ts';
import { heldBy, heldOf, resolvePart, writeIndex } from './part-index.ts';
import { resolveHeld } from './resolve-for.ts';
import { type ConfigCache, createFragmentSource } from './source.ts';

/** As many configurations are in memory at a time. */
const partsAtOnce = 100;

export interface Reached {
  /** Parts whose effective document may be another one now. */
  readonly partIds: readonly string[];
  /** Parts that now have errors, with the first of them; they keep what they had. */
  readonly failed: readonly { readonly partId: string; readonly message: string }[];
}

export interface ReachDeps {
  readonly cache: ConfigCache;
  readonly nowMs: number;
  /** Told the effective document of each part whose triggers changed. */
  readonly onTriggers: (trx: Transaction<CloudTables>, partId: string, document: unknown) => Promise<void>;
}

export async function reach(trx: Transaction<CloudTables>, fragmentId: string, deps: ReachDeps): Promise<Reached> {
  const source = createFragmentSource(trx, deps.cache);
  const users = await trx
    .selectFrom('part_fragments')
    .innerJoin('parts', 'parts.id', 'part_fragments.part_id')
    .innerJoin('machines', 'machines.id', 'parts.machine_id')
    .innerJoin('locations', 'locations.id', 'machines.location_id')
    .select(['parts.id', 'locations.organization_id'])
    .where('part_fragments.fragment_id', '=', fragmentId)
    .distinct()
    .orderBy('parts.id')
    .execute();
  const partIds: string[] = [];
  const failed: { partId: string; message: string }[] = [];
  for (let at = 0; at < users.length; at += partsAtOnce) {
    const some = users.slice(at, at + partsAtOnce);
    const ids = some.map((user) => user.id);
    const documents = await newestDocuments(trx, ids);
    const indexed = await heldBy(trx, ids);
    for (const { id, organization_id } of some) {
      const document = documents.get(id) ?? {};
      const before = indexed.get(id) ?? [];
      const held = heldOf(before);
      const now = await resolvePart(source, organization_id, document, held);
      if (!(await writeIndex(trx, id, now, before, deps.nowMs)) && !now.isHeld) continue;
      partIds.push(id);
      const [first] = now.problems.filter(({ level, fault }) => level === 'error' || fault !== undefined);
      if (first !== undefined) failed.push({ partId: id, message: `${first.path}: ${first.message}` });
      const had = await resolveHeld(source, document, held);
      if (JSON.stringify(had.document['triggers'] ?? []) !== JSON.stringify(now.running.document['triggers'] ?? []))
        await deps.onTriggers(trx, id, now.running.document);
    }
  }
  return { partIds, failed };
}

async function newestDocuments(
  trx: Transaction<CloudTables>,
  partIds: readonly string[],
): Promise<ReadonlyMap<string, JsonObject>> {
  const rows = await trx
    .selectFrom('part_configurations')
    .innerJoin(
      (inner) =>
        inner
          .selectFrom('part_configurations')
          .select(['part_id as newest_of', (each) => each.fn.max('version').as('newest')])
          .where('part_id', 'in', partIds)
          .groupBy('part_id')
          .as('newest_versions'),
      (join) =>
        join
          .onRef('newest_versions.newest_of', '=', 'part_configurations.part_id')
          .onRef('newest_versions.newest', '=', 'part_configurations.version'),
    )
    .select(['part_configurations.part_id', 'part_configurations.document'])
    .execute();
  return new Map(rows.map((row) => [row.part_id, JSON.parse(row.document) as JsonObject]));
}
