/** Tags: movable names for revisions; parts that follow a tag move with it. */
import { failedPrecondition, invalidArgument, notFound } from '@platform/base';
import { audit, type Caller } from '../access/audit.ts';
import { partPlaces } from '../machines/part-places.ts';
import type { DatabaseTransaction } from '../metadata/tables.ts';
import { requireCapacity } from '../text-rules/require-at-most.ts';
import { type PropagateDeps, type Propagated, propagate } from './propagate.ts';
import type { FragmentRow } from './source.ts';

const maxTags = 100;

/** @throws invalid_argument: a tag must not look like a revision. */
export function checkedTag(tag: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/.test(tag) && !/^\d+$/.test(tag) && tag !== 'latest') return tag;
  throw invalidArgument(
    `tag: expected 1 to 60 letters, digits, ".", "_" or "-", beginning with a letter or digit, not a number and not "latest", found ${JSON.stringify(tag.slice(0, 80))}`,
  );
}

/** @throws invalid_argument; not_found; failed_precondition if the configuration is no longer kept; resource_exhausted */
export async function setTag(
  trx: DatabaseTransaction,
  by: Caller,
  row: FragmentRow,
  asked: string,
  revisionText: string,
  deps: PropagateDeps,
): Promise<Propagated> {
  const tag = checkedTag(asked);
  const revision = /^\d{1,9}$/.test(revisionText) ? Number(revisionText) : 0;
  if (revision < 1 || revision > row.revision)
    throw notFound(
      `fragment ${row.id}: expected a revision from 1 to ${row.revision}, found ${JSON.stringify(revisionText.slice(0, 80))}`,
    );
  const kept = await trx
    .selectFrom('fragment_revisions')
    .select('revision')
    .where('fragment_id', '=', row.id)
    .where('revision', '=', revision)
    .where('config', '<>', '')
    .executeTakeFirst();
  if (kept === undefined)
    throw failedPrecondition(
      `fragment ${row.id}: expected a revision whose configuration is still kept, found ${revision}, one of the oldest: it was deleted to make space for newer ones`,
    );
  const tags = await trx.selectFrom('fragment_tags').selectAll().where('fragment_id', '=', row.id).execute();
  const before = tags.find((each) => each.tag === tag)?.revision;
  if (before === undefined) requireCapacity(`fragment ${row.id}`, maxTags, tags.length, ' tags', 'delete one first');
  await trx
    .insertInto('fragment_tags')
    .values({ fragment_id: row.id, tag, revision })
    .onConflict((conflict) => conflict.columns(['fragment_id', 'tag']).doUpdateSet({ revision }))
    .execute();
  const reached = await propagate(trx, row.id, deps);
  const detail = { tag, revision, parts: reached.partIds.length, ...(before === undefined ? {} : { before }) };
  await audit(trx, by, deps.nowMs, 'AppService.SetFragmentTag', ['fragment', row.id, row.organization_id], detail);
  return reached;
}

/** @throws not_found; failed_precondition while something follows the tag. */
export async function deleteTag(
  trx: DatabaseTransaction,
  by: Caller,
  row: FragmentRow,
  tag: string,
  nowMs: number,
): Promise<void> {
  const followers = await trx
    .selectFrom('part_fragments')
    .innerJoin(partPlaces(trx).as('place'), 'place.part_id', 'part_fragments.part_id')
    .select((each) => each.fn.count<number>('place.machine_id').distinct().as('machines'))
    .where('part_fragments.fragment_id', '=', row.id)
    .where('part_fragments.version', '=', tag)
    .executeTakeFirst();
  const importing = await trx
    .selectFrom('fragment_imports')
    .innerJoin('fragments', (join) =>
      join
        .onRef('fragments.id', '=', 'fragment_imports.fragment_id')
        .onRef('fragments.revision', '=', 'fragment_imports.revision'),
    )
    .select((each) => each.fn.count<number>('fragments.id').distinct().as('fragments'))
    .where('fragment_imports.child_id', '=', row.id)
    .where('fragment_imports.version', '=', tag)
    .executeTakeFirst();
  const machines = Number(followers?.machines ?? 0);
  const fragments = Number(importing?.fragments ?? 0);
  if (machines + fragments > 0)
    throw failedPrecondition(
      `tag "${tag}" of fragment ${row.id}: expected an unused tag, found ${machines} machines and ${fragments} fragments that use it. Change their version first, or move the tag`,
    );
  const { numDeletedRows } = await trx
    .deleteFrom('fragment_tags')
    .where('fragment_id', '=', row.id)
    .where('tag', '=', tag)
    .executeTakeFirst();
  if (numDeletedRows === 0n)
    throw notFound(`fragment ${row.id}: expected one of its tags, found ${JSON.stringify(tag.slice(0, 80))}`);
  await audit(trx, by, nowMs, 'AppService.DeleteFragmentTag', ['fragment', row.id, row.organization_id], { tag });
}
