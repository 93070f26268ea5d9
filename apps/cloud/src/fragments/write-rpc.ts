/** AppService: the operations that change fragments. All require an owner of the fragment's organization. */
import type { JsonObject as ProtobufJson } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { errorText, invalidArgument, permissionDenied } from '@platform/base';
import { maxDocumentElements } from '@platform/machine-config/limits';
import type { AppService, UpdateFragmentRequest } from '@platform/proto/platform/app/v1/app';
import { type CloudCall, type CloudHandlers, notVisible } from '../access/principal.ts';
import type { DatabaseTransaction } from '../metadata/tables.ts';
import { checkedName } from '../text-rules/checked-name.ts';
import { requireFewElements } from '../wire/few-elements.ts';
import { requireEachKeyOnce } from '../wire/repeated-keys.ts';
import { sendWarnings } from '../wire/send-warnings.ts';
import { maxBytes } from './check-fragment.ts';
import { deleteFragment } from './delete-fragment.ts';
import type { FragmentOperationDeps } from './fragments-deps.ts';
import type { Propagated } from './propagate.ts';
import type { RevisionPruner } from './prune-revisions.ts';
import { requireCapacity } from './require-capacity.ts';
import { visibleFragment } from './rights.ts';
import { createFragment, editConflict, type Saved, updateFragment } from './save-fragment.ts';
import { type FragmentRow, readFragment } from './source.ts';
import { deleteTag, setTag } from './tags.ts';
import { visibilityOf } from './wire.ts';

export interface WriteDeps extends FragmentOperationDeps {
  /** Called after the commit. */
  readonly onPropagated: (fragmentId: string, reached: Propagated) => void;
  readonly bound: RevisionPruner;
}

export function fragmentWriteHandlers(deps: WriteDeps): CloudHandlers<typeof AppService> {
  const { db, access, reader, clock, onConfigurationChange, triggerProblems, onPropagated, bound, cache } = deps;
  const saveDeps = () => ({ nowMs: clock.now(), onConfigurationChange, triggerProblems, bound });

  /** Reads the fragment within the transaction; reveals nothing to callers who may not see it. @throws not_found, permission_denied */
  const owned = async (trx: DatabaseTransaction, call: CloudCall, id: string): Promise<FragmentRow> => {
    const row = visibleFragment(call.principal, id, await readFragment(trx, id));
    if (access.allows(call.principal, 'organization.manage', row.organization_id)) return row;
    throw permissionDenied(
      `fragment ${id}: expected an owner of the organization that it belongs to, found an insufficient role`,
    );
  };
  /** @param config absent: it did not change */
  const answer = async (call: CloudCall, saved: Saved, config?: ProtobufJson) => {
    const { organization_id: organizationId } = saved.row;
    // After the commit, because names of hosts are looked up. Errors of a machine are warnings here: what it lacks may still come.
    const found = config === undefined ? [] : await deps.targetProblems(config, organizationId, undefined);
    const warnings = [...saved.warnings, ...found.map(({ path, message }) => `${path}: ${message}`)];
    for (const revision of saved.dropped) cache.forget(`${saved.row.id} ${revision}`);
    onPropagated(saved.row.id, saved.reached);
    sendWarnings(call, warnings);
    return { fragment: await reader.message(call.principal, saved.row) };
  };

  return {
    async createFragment(request, call) {
      if (call.principal.kind === 'part') throw notVisible('organization', request.organizationId);
      access.authorize(call.principal, 'organization.manage', request.organizationId);
      const change = {
        name: checkedName(request.name, 'fragment name'),
        visibility: visibilityOf(request.visibility) ?? 'private',
        config: (request.config ?? {}) as never,
      };
      const saved = await db.transaction().execute(async (trx) => {
        await requireCapacity(trx, request.organizationId, deps.maxFragmentsOf(request.organizationId));
        return createFragment(trx, call, request.organizationId, change, saveDeps());
      });
      return answer(call, saved, change.config);
    },
    async updateFragment(request, call) {
      const legacy = request.public === undefined ? undefined : request.public ? 'public' : 'private';
      const asked = visibilityOf(request.visibility) ?? legacy;
      const edited = request.lastKnownUpdate === undefined ? undefined : timestampMs(request.lastKnownUpdate);
      const config = configurationOf(request);
      const saving = db.transaction().execute(async (trx) => {
        const row = await owned(trx, call, request.id);
        // "public: false" from a client that does not know unlisted fragments must not make an unlisted one private.
        const visibility =
          asked === 'private' && request.visibility === undefined && row.visibility === 'unlisted' ? undefined : asked;
        const change = {
          ...(request.name === '' ? {} : { name: checkedName(request.name, 'fragment name') }),
          ...(visibility === undefined ? {} : { visibility }),
          ...(config === undefined ? {} : { config: config as never }),
        };
        return { row, saved: await updateFragment(trx, call, row, change, edited, saveDeps()) };
      });
      const { row: before, saved } = await saving.catch((caught: unknown) => {
        bound.forget(request.id);
        throw caught;
      });
      if (saved === undefined) throw await editConflict(db, before, edited ?? 0);
      return answer(call, saved, config);
    },
    async deleteFragment(request, call) {
      await db.transaction().execute(async (trx) => {
        const row = await owned(trx, call, request.id);
        await deleteFragment(trx, call, row, access, clock.now());
      });
      bound.forget(request.id);
    },
    async setFragmentTag(request, call) {
      const { reached, row } = await db.transaction().execute(async (trx) => {
        const found = await owned(trx, call, request.fragmentId);
        return { row: found, reached: await setTag(trx, call, found, request.tag, request.revision, saveDeps()) };
      });
      onPropagated(row.id, reached);
      return { tags: await reader.tags(row, true) };
    },
    async deleteFragmentTag(request, call) {
      const row = await db.transaction().execute(async (trx) => {
        const found = await owned(trx, call, request.fragmentId);
        await deleteTag(trx, call, found, request.tag, clock.now());
        return found;
      });
      return { tags: await reader.tags(row, true) };
    },
  };
}

/** @throws invalid_argument */
function configurationOf({ config, fragmentConfigJson: text = '' }: UpdateFragmentRequest): ProtobufJson | undefined {
  if (text === '') return config;
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes)
    throw invalidArgument(`fragment_config_json: expected at most ${maxBytes} bytes, found ${bytes}`);
  requireFewElements('fragment_config_json', text, maxDocumentElements);
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (caught) {
    throw invalidArgument(`fragment_config_json: expected JSON: ${errorText(caught)}`, caught);
  }
  if (typeof found !== 'object' || found === null || Array.isArray(found))
    throw invalidArgument('fragment_config_json: expected a JSON object, found another value');
  requireEachKeyOnce(text, found, 'fragment_config_json');
  return found as ProtobufJson;
}
