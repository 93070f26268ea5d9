/** Saves a fragment: every save creates a revision, and reaches its machines in the same transaction. */
import { aborted, alreadyExists, newId, type PlatformError } from '@platform/base';
import { diff, diffLines } from '@platform/machine-config/diff';
import { isObject } from '@platform/machine-config/fragments';
import type { Json, JsonObject } from '@platform/machine-config/schema';
import { audit, authorOf, type Caller } from '../access/audit.ts';
import { authorText } from '../machines/author.ts';
import type { TriggerProblems } from '../machines/configuration/check-document.ts';
import type { Database, DatabaseTransaction } from '../metadata/tables.ts';
import { isSameName } from '../text-rules/same-name.ts';
import { timeText } from '../wire/time-text.ts';
import { checkFragment } from './check-fragment.ts';
import { type PropagateDeps, type Propagated, propagate } from './propagate.ts';
import type { RevisionPruner } from './prune-revisions.ts';
import { asStored, createFragmentSource, type FragmentRow, requireRightRevisions } from './source.ts';
import type { Visibility } from './store.ts';

export interface FragmentChange {
  readonly name: string;
  readonly visibility: Visibility;
  readonly config: JsonObject;
}

export interface Saved {
  readonly row: FragmentRow;
  readonly warnings: readonly string[];
  readonly reached: Propagated;
  /** Older revisions whose configurations were deleted to make room. */
  readonly dropped: readonly number[];
}

interface SaveDeps extends PropagateDeps {
  readonly triggerProblems: TriggerProblems;
  readonly bound: RevisionPruner;
}

/** @throws invalid_argument, already_exists */
export async function createFragment(
  trx: DatabaseTransaction,
  by: Caller,
  organizationId: string,
  change: FragmentChange,
  deps: SaveDeps,
): Promise<Saved> {
  const id = newId();
  const { nowMs } = deps;
  await requireFreeName(trx, { organizationId, name: change.name });
  const warnings = await checkFragment(
    createFragmentSource(trx),
    { id, organizationId, ...change },
    deps.triggerProblems,
  );
  const row = {
    id,
    organization_id: organizationId,
    name: change.name,
    visibility: change.visibility,
    revision: 1,
    created_ms: nowMs,
    updated_ms: nowMs,
  };
  await trx.insertInto('fragments').values(row).execute();
  await insertRevision(trx, by, row, change.config);
  const detail = { name: change.name, visibility: change.visibility };
  await audit(trx, by, nowMs, 'AppService.CreateFragment', ['fragment', id, organizationId], detail);
  return { row, warnings, reached: { partIds: [], failed: [] }, dropped: [] };
}

/**
 * @param editedMs the save time of the revision that the client edited; absent: the last write wins.
 * @returns undefined if that is no longer the newest: after the transaction, `editConflict` then describes the changes.
 * @throws invalid_argument, already_exists
 */
export async function updateFragment(
  trx: DatabaseTransaction,
  by: Caller,
  before: FragmentRow,
  change: Partial<FragmentChange>,
  editedMs: number | undefined,
  deps: SaveDeps,
): Promise<Saved | undefined> {
  if (editedMs !== undefined && editedMs !== before.updated_ms) return undefined;
  if (change.name !== undefined && change.name !== before.name)
    await requireFreeName(trx, { organizationId: before.organization_id, name: change.name, id: before.id });
  const newest = await createFragmentSource(trx).revision(before.id, before.revision);
  if (newest === undefined)
    throw new Error(`expected revision ${before.revision} of fragment ${before.id}, found none`);
  const { config } = newest;
  const next = {
    name: change.name ?? before.name,
    visibility: change.visibility ?? before.visibility,
    config: change.config ?? (JSON.parse(config) as JsonObject),
  };
  const candidate = { id: before.id, organizationId: before.organization_id, ...next };
  const warnings = await checkFragment(createFragmentSource(trx), candidate, deps.triggerProblems);
  const row = {
    ...before,
    name: next.name,
    visibility: next.visibility,
    revision: before.revision + 1,
    updated_ms: Math.max(deps.nowMs, before.updated_ms + 1),
  };
  const { name, visibility, revision, updated_ms } = row;
  await trx.updateTable('fragments').set({ name, visibility, revision, updated_ms }).where('id', '=', row.id).execute();
  const savedBytes = await insertRevision(trx, by, row, next.config);
  const reached = await propagate(trx, row.id, deps);
  const dropped = await deps.bound.saved(trx, row, savedBytes);
  await audit(trx, by, deps.nowMs, 'AppService.UpdateFragment', ['fragment', row.id, row.organization_id], {
    name,
    visibility,
    revision,
    parts: reached.partIds.length,
    failed: reached.failed.length,
    ...(before.visibility === visibility ? {} : { visibilityBefore: before.visibility }),
    ...(before.name === name ? {} : { nameBefore: before.name }),
  });
  return { row, warnings, reached, dropped };
}

/** @returns the size of the configuration in bytes */
async function insertRevision(
  trx: DatabaseTransaction,
  by: Caller,
  row: FragmentRow,
  config: JsonObject,
): Promise<number> {
  const author = authorOf(by);
  const text = JSON.stringify(config);
  await trx
    .insertInto('fragment_revisions')
    .values({
      fragment_id: row.id,
      revision: row.revision,
      name: row.name,
      visibility: row.visibility,
      config: text,
      author_kind: author.kind,
      author_id: author.id,
      author_name: author.name,
      created_ms: row.updated_ms,
    })
    .execute();
  const imports = importsIn(config);
  if (imports.length > 0)
    await trx
      .insertInto('fragment_imports')
      .values(imports.map((each) => ({ fragment_id: row.id, revision: row.revision, ...each })))
      .execute();
  return Buffer.byteLength(text);
}

/** The imports in a configuration, without duplicates; a version that is a variable is treated as the newest. */
export function importsIn(config: JsonObject): { child_id: string; version: string }[] {
  const { fragments } = config;
  const list = Array.isArray(fragments) ? fragments : [];
  const found = new Map<string, { child_id: string; version: string }>();
  for (const entry of list as readonly Json[]) {
    const { id, version } = isObject(entry) ? entry : { id: entry, version: '' };
    if (typeof id !== 'string') continue;
    const asked = typeof version === 'string' || typeof version === 'number' ? String(version) : '';
    found.set(`${id} ${asked}`, { child_id: id, version: asked === 'latest' ? '' : asked });
  }
  return [...found.values()];
}

const shownChanges = 20;

/** The error for a client that edited an older revision. Must be called outside of transactions, because comparing takes time. */
export async function editConflict(db: Database, row: FragmentRow, editedMs: number): Promise<PlatformError> {
  const revisions = await db
    .selectFrom('fragment_revisions')
    .selectAll()
    .select(asStored)
    .where('fragment_id', '=', row.id)
    .where((each) => each.or([each('created_ms', '=', editedMs), each('revision', '=', row.revision)]))
    .orderBy('revision')
    .execute();
  requireRightRevisions(revisions);
  const newest = revisions.at(-1);
  const edited = revisions.find((each) => each.created_ms === editedMs);
  const by =
    newest === undefined
      ? ''
      : ` by ${authorText({ kind: newest.author_kind, id: newest.author_id, name: newest.author_name })}`;
  const head = `fragment ${row.id}: you edited the revision of ${timeText(editedMs)}, but the newest is revision ${row.revision}, saved at ${timeText(row.updated_ms)}${by}. Nothing was saved: read it again and repeat your edit`;
  if (newest === undefined || edited === undefined || edited.config === '') return aborted(head);
  const changes = diff(JSON.parse(edited.config), JSON.parse(newest.config));
  const lines = diffLines(changes.slice(0, shownChanges));
  if (edited.name !== newest.name)
    lines.unshift(`name: ${JSON.stringify(edited.name)} → ${JSON.stringify(newest.name)}`);
  if (edited.visibility !== newest.visibility) lines.unshift(`visibility: ${edited.visibility} → ${newest.visibility}`);
  if (changes.length > shownChanges) lines.push(`… and ${changes.length - shownChanges} more`);
  return aborted(`${head}. Changed since:\n${lines.join('\n')}`);
}

/**
 * D36: fragments of one organization have different names, because people and commands address them by name. Those that already share a name
 * keep it. Only for callers who see all fragments of the organization.
 * @param id of the fragment that is renamed; absent: a new one. @throws already_exists
 */
async function requireFreeName(
  trx: Pick<DatabaseTransaction, 'selectFrom'>,
  { organizationId, name, id }: { readonly organizationId: string; readonly name: string; readonly id?: string },
): Promise<void> {
  const all = await trx
    .selectFrom('fragments')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .execute();
  const other = all.find((one) => one.id !== id && isSameName(one.name, name));
  if (other !== undefined)
    throw alreadyExists(
      `name: expected one that no other fragment of the organization has, found ${JSON.stringify(name)}, the name of fragment ${other.id}`,
    );
}
