/** Fragments as a caller may see them, with the usage that the caller may know of. */
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import type { FragmentTagSchema } from '@platform/proto/platform/app/v1/app';

import type { Principal } from '../access/principal.ts';
import type { AccountTree } from '../accounts/tree.ts';
import { requireAllRows, requireIntactSet } from '../metadata/row-checks/require-complete.ts';
import { savedBytes } from '../metadata/sealed-documents.ts';
import type { Database } from '../metadata/tables.ts';
import { structBytes } from '../wire/struct-bytes.ts';
import { type ByteBudget, type FragmentMessage, fittingMessages, takes, wholeAnswer } from './fit-messages.ts';
import { asStored, type FragmentRow, requireRightRevisions } from './source.ts';
import { checkedRevisions, checkedTags } from './store.ts';
import { readUsage, type Usage, usageFor } from './usage.ts';
import { fragmentMessage } from './wire.ts';

/** Number of texts read at once, and their maximum total length. */
const maxRead = 50;
const maxReadCharacters = 1024 * 1024;

export interface FragmentReader {
  message(principal: Principal, row: FragmentRow): Promise<FragmentMessage>;
  /** The first rows that fit into the answer, in order, with their newest configurations as long as there is room. */
  messages(
    principal: Principal,
    rows: readonly FragmentRow[],
    currentOrganizationId: string,
    budget: ByteBudget,
  ): Promise<{ message: FragmentMessage; usage: Usage }[]>;
  /** @param all also includes tags of revisions that were saved as private. */
  tags(row: FragmentRow, all: boolean): Promise<MessageInitShape<typeof FragmentTagSchema>[]>;
}

export function createFragmentReader(db: Database, tree: AccountTree): FragmentReader {
  const messages: FragmentReader['messages'] = async (principal, rows, currentOrganizationId, budget) => {
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
      .select([
        'fragment_revisions.fragment_id',
        'fragment_revisions.revision',
        savedBytes('fragment_revisions.config').as('size'),
      ])
      .where('fragments.id', 'in', ids)
      .execute();
    const revisions = new Map(newest.map((each) => [each.fragment_id, each]));
    for (const row of rows) if (!revisions.has(row.id)) await requireIntactSet(db, checkedRevisions, row.id);
    const all = rows.flatMap((row) => {
      const revision = revisions.get(row.id);
      // It has been deleted in the meantime, or its row is missing.
      if (revision === undefined) return [];
      const counted = usageFor(principal, row, usage.get(row.id) ?? [], currentOrganizationId);
      const { size, ...newestOf } = revision;
      return [{ message: fragmentMessage(tree, principal, row, newestOf, counted), usage: counted, revision }];
    });
    const shown = fittingMessages(all, budget);
    /** Configuration texts are added last, and only for fragments whose configuration fits. */
    const whole: [FragmentMessage, string][] = [];
    // Smallest first, so that as many as possible are complete.
    for (const some of batches(shown.toSorted((a, b) => a.revision.size - b.revision.size))) {
      const texts = await configurations(some.map(({ revision }) => revision));
      for (const { message, revision } of some) {
        const text = texts.get(revision.fragment_id);
        const config = text === undefined ? undefined : (JSON.parse(text) as JsonObject);
        if (config === undefined) continue;
        if (!takes(budget, structBytes(config))) return shown;
        message.fragment = config;
        whole.push([message, text ?? '']);
      }
    }
    for (const [message, text] of whole) {
      // Including tag and length.
      if (!takes(budget, Buffer.byteLength(text) + 8)) break;
      message.fragmentConfigJson = text;
    }
    return shown;
  };
  /** Texts by fragment; revisions never change. */
  const configurations = async (
    asked: readonly { readonly fragment_id: string; readonly revision: number }[],
  ): Promise<ReadonlyMap<string, string>> => {
    const found = await db
      .selectFrom('fragment_revisions')
      .selectAll()
      .select(asStored)
      .where((each) =>
        each.or(
          asked.map(({ fragment_id, revision }) =>
            each.and([each('fragment_id', '=', fragment_id), each('revision', '=', revision)]),
          ),
        ),
      )
      .execute();
    requireRightRevisions(found);
    return new Map(found.map(({ fragment_id, config }) => [fragment_id, config]));
  };
  return {
    messages,
    async message(principal, row) {
      const [found] = await messages(principal, [row], row.organization_id, wholeAnswer());
      return found?.message ?? {};
    },
    async tags(row, all) {
      const tags = await db.selectFrom('fragment_tags').selectAll().where('fragment_id', '=', row.id).execute();
      await requireAllRows(db, checkedTags, [row.id], tags);
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

function batches<Of extends { readonly revision: { readonly size: number } }>(all: readonly Of[]): Of[][] {
  const found: Of[][] = [];
  let characters = 0;
  for (const each of all) {
    const last = found.at(-1);
    characters += each.revision.size;
    if (last !== undefined && last.length < maxRead && characters <= maxReadCharacters) last.push(each);
    else {
      found.push([each]);
      characters = each.revision.size;
    }
  }
  return found;
}
