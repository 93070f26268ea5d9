/**
 * Fragments: shared pieces of configuration with variables, revisions, tags and overrides; they can be nested.
 *
 * Machines follow the newest revision unless they are pinned to a revision or a tag. Imports of parts are indexed in the transactions that
 * save, so that a change reaches exactly the parts that use the fragment. A part whose imports have errors keeps its previous
 * configuration. The format: docs/specs/fragments.md.
 */
import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import type { Problem } from '@platform/base';
import type { FoundFragment } from '@platform/machine-config/fragments';
import { type AppService, FragmentImportListSchema } from '@platform/proto/platform/app/v1/app';
import type { CloudHandlers, Principal } from '../access/principal.ts';
import type { EffectiveConfigurations } from '../machines/configuration/effective-configuration.ts';
import type { Database } from '../metadata/tables.ts';
import { organizationDeleting } from './delete-fragment.ts';
import type { FragmentsDeps } from './fragments-deps.ts';
import { nestedFragmentHandlers } from './nested-rpc.ts';
import type { Propagated } from './propagate.ts';
import { createRevisionPruner } from './prune-revisions.ts';
import { fragmentReadHandlers } from './read-rpc.ts';
import { createFragmentReader } from './reader.ts';
import { resolveAndSave } from './resolve-and-save.ts';
import { RevisionCache } from './revision-cache.ts';
import { rightsOfCaller } from './rights.ts';
import { createFragmentSource, type Rights } from './source.ts';
import { fragmentWriteHandlers } from './write-rpc.ts';

export interface Fragments extends EffectiveConfigurations {
  readonly appHandlers: CloudHandlers<typeof AppService>;
  /** Deletes the fragments of a deleted organization. @throws failed_precondition if others use them */
  organizationDeleting(trx: Database, organizationId: string): Promise<void>;
  /** Whether a caller may know of a fragment; also false if it does not exist. */
  seesFragment(principal: Principal, fragmentId: string): Promise<boolean>;
  /** A version ('': the newest) of a fragment that belongs to this organization; undefined: it does not exist. */
  ownFragment(organizationId: string, id: string, version: string): Promise<FoundFragment | undefined>;
  /** The first configuration of a new machine: the organization's default fragments; undefined if it has none. */
  firstDocument(organizationId: string): string | undefined;
}

export function createFragments(deps: FragmentsDeps): Fragments {
  const { db, tree, clock, log, tellPart } = deps;
  const cache = new RevisionCache();
  // Stamps must live as long as the cached answers that use them: until the process ends.
  const stamps = new Map<string, number>();
  const moveStamp = (partId: string): void => void stamps.set(partId, (stamps.get(partId) ?? 0) + 1);
  const reader = createFragmentReader(db, tree);
  const read = { ...deps, reader, cache };
  const defaultVersionsOf = (fragmentId: string): string[] =>
    tree
      .organizations()
      .flatMap(({ default_fragments: list }) => defaultImports(list))
      .flatMap(({ id, version }) => (id === fragmentId && typeof version === 'string' ? [version] : []));

  const onPropagated = (fragmentId: string, reached: Propagated): void => {
    // Only after the commit: until then readers get the old configuration with the old stamp.
    for (const partId of reached.partIds) moveStamp(partId);
    log.info('fragment changed', { fragmentId, parts: reached.partIds.length, failed: reached.failed.length });
    for (const { partId, message } of reached.failed)
      void tellPart(
        partId,
        `a change of fragment ${fragmentId} is not applied; the part keeps its configuration: ${message}`,
      );
  };

  return {
    appHandlers: {
      ...fragmentReadHandlers(read),
      ...nestedFragmentHandlers(read),
      ...fragmentWriteHandlers({
        ...read,
        onPropagated,
        bound: createRevisionPruner(defaultVersionsOf, deps.maxHistoryBytes),
        maxFragmentsOf: deps.maxFragmentsOf,
      }),
    },
    stampOf: (partId) => String(stamps.get(partId) ?? 0),
    ...resolveAndSave({ db, access: deps.access, clock, cache }),
    async deleting(trx, partId) {
      await trx.deleteFrom('part_fragments').where('part_id', '=', partId).execute();
      await trx.deleteFrom('part_fragment_problems').where('part_id', '=', partId).execute();
    },
    organizationDeleting,
    async seesFragment(principal, fragmentId) {
      const row = await createFragmentSource(db, cache).fragment(fragmentId);
      return row !== undefined && rightsOfCaller(principal)(row) !== 'none';
    },
    async ownFragment(organizationId, id, version) {
      const ownOnly: Rights = (fragment) => (fragment.organization_id === organizationId ? 'all' : 'none');
      const found = await createFragmentSource(db, cache).find(ownOnly, id, version);
      return typeof found === 'string' ? undefined : found;
    },
    async problemsOf(partId) {
      const row = await db
        .selectFrom('part_fragment_problems')
        .select('problems')
        .where('part_id', '=', partId)
        .executeTakeFirst();
      return row === undefined ? [] : (JSON.parse(row.problems) as Problem[]);
    },
    firstDocument(organizationId) {
      const imports = defaultImports(tree.organization(organizationId)?.default_fragments ?? null);
      return imports.length === 0 ? undefined : JSON.stringify({ fragments: imports });
    },
  };
}

/** An organization's default fragments as entries of `fragments`. @param list JSON of a FragmentImportList; null: none */
function defaultImports(list: string | null): readonly Record<string, JsonValue>[] {
  if (list === null) return [];
  const { fragments } = fromJson(FragmentImportListSchema, JSON.parse(list) as JsonValue);
  return fragments.map(({ fragmentId, version, prefix = '', variables, fragmentVariables = {} }) => {
    // Older clients support only variables that are strings.
    const given = { ...variables, ...fragmentVariables };
    return {
      id: fragmentId,
      ...(version === '' ? {} : { version }),
      ...(prefix === '' ? {} : { prefix }),
      ...(Object.keys(given).length === 0 ? {} : { variables: given }),
    };
  });
}
