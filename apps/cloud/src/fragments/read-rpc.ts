/** AppService: the operations that read fragments. Fragments that the caller may not see are omitted from lists, and not found by id. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { notFound } from '@platform/base';
import type { AppService } from '@platform/proto/platform/app/v1/app';

import { type CloudHandlers, grantsOf, notVisible, organizationsOf, type Principal } from '../access/principal.ts';
import { authenticatorInfo } from '../machines/author.ts';
import { requireCompleteSet } from '../metadata/row-checks/require-complete.ts';
import { requireRight } from '../metadata/row-checks/require-right.ts';
import { savedBytes } from '../metadata/sealed-documents.ts';
import { readPageToken } from '../wire/page-token.ts';
import { answerBytes, structBytes } from '../wire/struct-bytes.ts';
import { wholeAnswer } from './fit-messages.ts';
import type { FragmentOperationDeps } from './fragments-deps.ts';
import { readsPrivate, rightsOfCaller, visibleFragment } from './rights.ts';
import { asStored, createFragmentSource, type FragmentRow, type RevisionRow, requireRightRevisions } from './source.ts';
import { checkedFragments, checkedRevisions } from './store.ts';
import { readUsage, usageFor } from './usage.ts';
import { fragmentMessage, usageMessage, visibilityOf, withText } from './wire.ts';

const defaultHistory = 50;
const maxHistory = 200;
const shownRevisions = 1_000;
const maxListed = 10_000;
/** Size of a history entry without its configuration. */
const entryBytes = 2_048;

export function fragmentReadHandlers(deps: FragmentOperationDeps): CloudHandlers<typeof AppService> {
  const { db, tree, access, reader, cache } = deps;
  const visible = async (principal: Principal, id: string): Promise<FragmentRow> =>
    visibleFragment(principal, id, await createFragmentSource(db, cache).fragment(id));
  const revisionsOf = async (id: string, revisions: readonly number[]): Promise<RevisionRow[]> => {
    if (revisions.length === 0) return [];
    const rows = await db
      .selectFrom('fragment_revisions')
      .selectAll()
      .select(asStored)
      .where('fragment_id', '=', id)
      .where('revision', 'in', revisions)
      .orderBy('revision', 'desc')
      .execute();
    requireRightRevisions(rows);
    return rows;
  };

  return {
    async listFragments(request, call) {
      const { principal } = call;
      const { organizationId, showPublic } = request;
      if (principal.kind === 'part') throw notVisible('organization', organizationId);
      if (organizationId !== '') access.authorize(principal, 'organization.see', organizationId);
      const organizationIds = organizationId === '' ? organizationsOf(grantsOf(principal)) : [organizationId];
      const asked = request.fragmentVisibility.flatMap((each) => visibilityOf(each) ?? []);
      const rows = await db
        .selectFrom('fragments')
        .selectAll()
        .where((each) =>
          each.or([
            ...(organizationIds.length === 0 ? [] : [each('organization_id', 'in', organizationIds)]),
            ...(showPublic ? [each('visibility', '=', 'public' as const)] : []),
          ]),
        )
        .orderBy('name')
        .orderBy('id')
        .execute();
      requireRight(checkedFragments, rows);
      for (const id of organizationIds) await requireCompleteSet(db, checkedFragments, id);
      // An unlisted fragment can be read only by its id, except by people of its organization.
      const listed = rows
        .filter((row) => row.visibility === 'public' || readsPrivate(principal, row.organization_id))
        .filter((row) => asked.length === 0 || asked.includes(row.visibility));
      // The organization's own fragments first: there may be more public ones of others than fit into one answer.
      const own = (row: FragmentRow) => organizationIds.includes(row.organization_id);
      const ownFirst = [...listed.filter(own), ...listed.filter((row) => !own(row))].slice(0, maxListed);
      const found = await reader.messages(principal, ownFirst, organizationId, wholeAnswer());
      return {
        fragments: found.map(({ message }) => message),
        fragmentUsages: found.map(({ message, usage }) => usageMessage(message.id ?? '', usage)),
      };
    },
    async getFragment(request, call) {
      const { principal } = call;
      const row = await visible(principal, request.id);
      const all = rightsOfCaller(principal)(row) === 'all';
      const source = createFragmentSource(db, cache);
      const asked = request.version === 'latest' ? '' : (request.version ?? '');
      const number = await source.revisionOf(row, asked);
      const revision = number === undefined ? undefined : await source.revision(row.id, number);
      if (revision === undefined || !(all || revision.visibility !== 'private'))
        throw notFound(
          `fragment ${row.id}: expected one of its tags or of the revisions whose configuration is still kept as version, found ${JSON.stringify(asked.slice(0, 80))}`,
        );
      const usage = usageFor(principal, row, await readUsage(db, [row.id]), request.currentOrganizationId);
      const revisions = await db
        .selectFrom('fragment_revisions')
        .select(['revision', 'created_ms', 'visibility'])
        .where('fragment_id', '=', row.id)
        // Read only the sizes: all texts together would be too much.
        .where(savedBytes('config'), '>', 0)
        .orderBy('revision', 'desc')
        .limit(shownRevisions)
        .execute();
      await requireCompleteSet(db, checkedRevisions, row.id);
      return {
        fragment: withText(fragmentMessage(tree, principal, row, revision, usage), revision.config),
        fragmentUsage: usageMessage(row.id, usage),
        revisions: revisions
          .filter(({ visibility }) => all || visibility !== 'private')
          .map((each) => ({ revision: String(each.revision), createdAt: timestampFromMs(each.created_ms) })),
        tags: await reader.tags(row, all),
      };
    },
    async getFragmentHistory(request, call) {
      const { principal } = call;
      const row = await visible(principal, request.id);
      const all = rightsOfCaller(principal)(row) === 'all';
      const asked = Number(request.pageLimit ?? 0n);
      const limit = asked > 0 ? Math.min(asked, maxHistory) : defaultHistory;
      const before = readPageToken(request.pageToken, 'GetFragmentHistory');
      const page = await db
        .selectFrom('fragment_revisions')
        .select(['revision', savedBytes('config').as('size')])
        .where('fragment_id', '=', row.id)
        .$if(before !== undefined, (query) => query.where('revision', '<', Number(before)))
        .$if(!all, (query) => query.where('visibility', '<>', 'private'))
        .orderBy('revision', 'desc')
        .limit(limit + 1)
        .execute();
      await requireCompleteSet(db, checkedRevisions, row.id);
      const usage = usageFor(principal, row, await readUsage(db, [row.id]), '');
      const asOf = (revision: RevisionRow) => {
        const { name, visibility, created_ms: updated_ms } = revision;
        return fragmentMessage(tree, principal, { ...row, name, visibility, updated_ms }, revision, usage);
      };
      const numbers = readable(page.slice(0, limit));
      const read = await revisionsOf(row.id, [...new Set(numbers.flatMap((each) => [each, each - 1]))]);
      const byNumber = new Map(read.map((revision) => [revision.revision, revision]));
      // Who may not read the replaced revision does not get it as `old` either.
      const readableBefore = ({ revision }: RevisionRow): RevisionRow | undefined => {
        const before = byNumber.get(revision - 1);
        return all || before?.visibility !== 'private' ? before : undefined;
      };
      const shown = fitting(
        numbers.flatMap((number) => byNumber.get(number) ?? []),
        readableBefore,
      );
      return {
        history: shown.map((revision) => {
          const before = readableBefore(revision);
          const author = { kind: revision.author_kind, id: revision.author_id, name: revision.author_name };
          return {
            fragment: row.id,
            editedOn: timestampFromMs(revision.created_ms),
            // Never absent: public clients read its fields without asking whether it is there.
            old: before === undefined ? { id: row.id } : asOf(before),
            // The authors of an organization are shown only to its own people.
            ...(all ? { editedBy: authenticatorInfo(author) } : {}),
            revision: String(revision.revision),
            // The oldest revisions may have lost their configurations.
            ...(revision.config === '' ? {} : { config: JSON.parse(revision.config) }),
          };
        }),
        nextPageToken: page.length > shown.length ? String(shown.at(-1)?.revision ?? '') : '',
      };
    },
    async getFragmentUsage(request, call) {
      const row = await visible(call.principal, request.fragmentId);
      const rows = Map.groupBy(await readUsage(db, [row.id], true), ({ version }) => version);
      const usages = [...rows]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([version, some]) => {
          const usage = usageFor(call.principal, row, some, row.organization_id);
          return { usage, message: usageMessage(row.id, usage, version) };
        });
      return { versionUsages: usages.filter(({ usage }) => usage.machines > 0).map(({ message }) => message) };
    },
  };
}

/** The revisions to read, before checking whether they fit. */
function readable(sizes: readonly { readonly revision: number; readonly size: number }[]): readonly number[] {
  let characters = 0;
  const beyond = sizes.findIndex(({ size }) => {
    characters += size;
    return characters > answerBytes;
  });
  return (beyond === -1 ? sizes : sizes.slice(0, Math.max(1, beyond))).map(({ revision }) => revision);
}

/** The rows that fit into one message, each with its configuration and the one that it replaced; the others go to the next page. */
function fitting(rows: readonly RevisionRow[], replacedBy: (row: RevisionRow) => RevisionRow | undefined) {
  const bytesOf = (config = ''): number => (config === '' ? 0 : structBytes(JSON.parse(config)));
  let bytes = 0;
  const beyond = rows.findIndex((row) => {
    bytes += bytesOf(row.config) + bytesOf(replacedBy(row)?.config) + entryBytes;
    return bytes > answerBytes;
  });
  return beyond === -1 ? rows : rows.slice(0, Math.max(1, beyond));
}
