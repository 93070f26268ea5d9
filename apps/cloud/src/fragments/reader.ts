/** Fragments as a caller may see them: with the usage that the caller may know of. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { FragmentSchema, FragmentTagSchema } from '@platform/proto/platform/app/v1/app';
import type { Principal } from '../access/principal.ts';
import type { AccountTree } from '../accounts/tree.ts';
import type { Database } from '../metadata/tables.ts';
import type { FragmentRow, RevisionRow } from './source.ts';
import { readUsage, type Usage, usageFor } from './usage.ts';
import { fragmentMessage } from './wire.ts';

type FragmentMessage = MessageInitShape<typeof FragmentSchema>;

export interface FragmentReader {
  message(principal: Principal, row: FragmentRow): Promise<FragmentMessage>;
  /** Many, with their newest configurations, in their order. */
  messages(
    principal: Principal,
    rows: readonly FragmentRow[],
    currentOrganizationId: string,
  ): Promise<{ message: FragmentMessage; usage: Usage }[]>;
  /** @param all also tags of revisions that were saved as private. */
  tags(row: FragmentRow, all: boolean): Promise<MessageInitShape<typeof FragmentTagSchema>[]>;
}

export function createFragmentReader(db: Database, tree: AccountTree): FragmentReader {
  const messages: FragmentReader['messages'] = async (principal, rows, currentOrganizationId) => {
    if (rows.length === 0) return [];
    const ids = rows.map((row) => row.id);
    const usage = Map.groupBy(await readUsage(db, ids), (row) => row.fragmentId);
    const newest = await db
      .selectFrom('fragment_revisions')
      .innerJoin('fragments', (join) =>
        join
          .onRef('fragments.id', '=', 'fragment_revisions.fragment_id')
          .onRef('fragments.revision', '=', 'fragment_revisions.revision'),
      )
      .selectAll('fragment_revisions')
      .where('fragments.id', 'in', ids)
      .execute();
    const revisions = new Map<string, RevisionRow>(newest.map((row) => [row.fragment_id, row]));
    return rows.flatMap((row) => {
      const revision = revisions.get(row.id);
      // Deleted meanwhile.
      if (revision === undefined) return [];
      const counted = usageFor(principal, row, usage.get(row.id) ?? [], currentOrganizationId);
      return [{ message: fragmentMessage(tree, principal, row, revision, counted), usage: counted }];
    });
  };
  return {
    messages,
    async message(principal, row) {
      const [found] = await messages(principal, [row], row.organization_id);
      return found?.message ?? {};
    },
    async tags(row, all) {
      const rows = await db
        .selectFrom('fragment_tags')
        .innerJoin('fragment_revisions', (join) =>
          join
            .onRef('fragment_revisions.fragment_id', '=', 'fragment_tags.fragment_id')
            .onRef('fragment_revisions.revision', '=', 'fragment_tags.revision'),
        )
        .select(['fragment_tags.tag', 'fragment_tags.revision', 'fragment_revisions.visibility'])
        .where('fragment_tags.fragment_id', '=', row.id)
        .orderBy('fragment_tags.tag')
        .execute();
      return rows
        .filter(({ visibility }) => all || visibility !== 'private')
        .map(({ tag, revision }) => ({ tag, revision: String(revision) }));
    },
  };
}
