/** Propagates a fragment change to exactly the parts that use it, within the transaction that makes the change. */
import { chunks } from '@platform/base';
import type { OnConfigurationChange } from '../machines/configuration/configuration-change.ts';
import { newestDocuments } from '../machines/configuration/newest-documents.ts';
import { partPlaces } from '../machines/part-places.ts';
import type { DatabaseTransaction } from '../metadata/tables.ts';
import { heldBy, heldOf, type PartChange, resolvePart, seriousProblems, writeIndex } from './part-index.ts';
import { resolveHeld } from './resolve-for.ts';
import { createFragmentSource } from './source.ts';

/** Number of configurations in memory at a time. */
const partsAtOnce = 100;

export interface Propagated {
  /** Parts whose effective document may have changed. */
  readonly partIds: readonly string[];
  /** Parts that now have errors, with the first error of each; they keep their previous document. */
  readonly failed: readonly { readonly partId: string; readonly message: string }[];
}

export interface PropagateDeps {
  readonly nowMs: number;
  /** Called with all parts whose effective document may have changed. */
  readonly onConfigurationChange: OnConfigurationChange;
}

export async function propagate(
  trx: DatabaseTransaction,
  fragmentId: string,
  deps: PropagateDeps,
): Promise<Propagated> {
  const source = createFragmentSource(trx);
  const users = await trx
    .selectFrom('part_fragments')
    .innerJoin(partPlaces(trx).as('place'), 'place.part_id', 'part_fragments.part_id')
    .select(['place.part_id as id', 'place.organization_id'])
    .where('part_fragments.fragment_id', '=', fragmentId)
    .distinct()
    .orderBy('place.part_id')
    .execute();
  const partIds: string[] = [];
  const failed: { partId: string; message: string }[] = [];
  for (const some of chunks(users, partsAtOnce)) {
    const ids = some.map((user) => user.id);
    const documents = await newestDocuments(trx, ids);
    const indexed = await heldBy(trx, ids);
    const changes: PartChange[] = [];
    for (const { id, organization_id } of some) {
      const before = indexed.get(id) ?? [];
      const resolution = await resolvePart(source, organization_id, documents.get(id) ?? {}, async () =>
        heldOf(before),
      );
      changes.push({ partId: id, resolution, before });
    }
    const changed = await writeIndex(trx, changes, deps.nowMs);
    const reached = changes.filter(({ partId, resolution }) => changed.has(partId) || resolution.isHeld);
    await deps.onConfigurationChange(
      trx,
      reached.map(({ partId, resolution, before }) => ({
        partId,
        before: async () => (await resolveHeld(source, documents.get(partId) ?? {}, heldOf(before))).document,
        after: resolution.running.document,
      })),
    );
    for (const { partId, resolution } of reached) {
      partIds.push(partId);
      const [first] = seriousProblems(resolution);
      if (first !== undefined) failed.push({ partId, message: `${first.path}: ${first.message}` });
    }
  }
  return { partIds, failed };
}
