/** AppService: the fragments that a fragment or a machine imports, and what they resolve to. */
import type { MessageInitShape, JsonObject as ProtobufJson } from '@bufbuild/protobuf';
import { readImports } from '@platform/machine-config/fragments';
import type { JsonObject } from '@platform/machine-config/schema';
import type {
  AppService,
  ListMachineFragmentsResponseSchema,
  ListNestedFragmentsResponseSchema,
} from '@platform/proto/platform/app/v1/app';
import type { CloudHandlers, Principal } from '../access/principal.ts';
import { partIdsOf } from '../machines/part-places.ts';
import { structBytes } from '../wire/struct-bytes.ts';
import { halfAnswer, takes } from './fit-messages.ts';
import type { FragmentOperationDeps } from './fragments-deps.ts';
import { resolveWith } from './resolve-for.ts';
import { rightsOfCaller, visibleFragment } from './rights.ts';
import { createFragmentSource, type FragmentRow, type FragmentSource } from './source.ts';
import { leftOutMessage, resolvedMessage } from './wire.ts';

const maxAsked = 100;

interface Asked {
  readonly id: string;
  readonly version: string;
  readonly variables: JsonObject;
}

type Answer = MessageInitShape<typeof ListMachineFragmentsResponseSchema> &
  MessageInitShape<typeof ListNestedFragmentsResponseSchema>;

export function nestedFragmentHandlers(deps: FragmentOperationDeps): CloudHandlers<typeof AppService> {
  const { db, access, reader, cache, documentOf } = deps;

  /** Every fragment reachable from `asked` that the caller may see, each resolved separately. */
  const answer = async (
    principal: Principal,
    source: FragmentSource,
    asked: readonly Asked[],
    organizationId: string,
    without: string | undefined,
  ): Promise<Answer> => {
    const rights = rightsOfCaller(principal);
    const find = (id: string, version: string) => source.find(rights, id, version);
    const rows = new Map<string, FragmentRow>();
    const resolved = new Map<string, ReturnType<typeof resolvedMessage>>();
    const roots = new Map(asked.slice(0, maxAsked).map((each) => [`${each.id} ${each.version}`, each]));
    const budget = halfAnswer();
    const isFull = () => budget.left <= 0;
    for (const root of roots.values()) {
      if (isFull()) {
        const row = await source.fragment(root.id);
        if (row !== undefined && rights(row) !== 'none') rows.set(root.id, row);
        resolved.set(`${root.id} ${root.version}`, leftOutMessage(root.id));
        continue;
      }
      const fragments = [{ id: root.id, version: root.version, variables: root.variables }];
      const whole = await resolveWith({ fragments }, find);
      for (const { fragmentId, version } of whole.used) {
        const row = await source.fragment(fragmentId);
        const seen = row !== undefined && rights(row) !== 'none';
        if (seen) rows.set(fragmentId, row);
        const isRoot = fragmentId === root.id && version === root.version;
        // A nested import that cannot be resolved is reported with the fragment that contains it.
        if (!isRoot && !seen) continue;
        // Without given variables, the result is the same as for other occurrences.
        const isGiven = isRoot && Object.keys(root.variables).length > 0;
        if (!isGiven && resolved.has(`${fragmentId} ${version}`)) continue;
        const own = isRoot
          ? whole
          : isFull()
            ? undefined
            : await resolveWith({ fragments: [{ id: fragmentId, version }] }, find);
        const fits = own !== undefined && takes(budget, structBytes(own.document as ProtobufJson));
        // Stop at the first one that does not fit: resolving the rest would be useless.
        if (!fits) budget.left = 0;
        resolved.set(`${fragmentId} ${version}`, fits ? resolvedMessage(fragmentId, own) : leftOutMessage(fragmentId));
      }
    }
    const shown = [...rows.values()].filter((row) => row.id !== without);
    return {
      fragments: (await reader.messages(principal, shown, organizationId, halfAnswer())).map(({ message }) => message),
      resolvedFragments: [...resolved.values()].filter((each) => each.fragmentId !== without),
    };
  };

  return {
    async listNestedFragments(request, call) {
      const source = createFragmentSource(db, cache);
      const { fragmentId = '' } = request;
      const root =
        fragmentId === '' ? undefined : visibleFragment(call.principal, fragmentId, await source.fragment(fragmentId));
      const asked = [
        ...(root === undefined ? [] : [{ id: root.id, version: '', variables: {} }]),
        ...request.additionalFragments.map(additional),
      ];
      return answer(call.principal, source, asked, root?.organization_id ?? '', root?.id);
    },
    async listMachineFragments(request, call) {
      const { organizationId } = access.authorize(call.principal, 'machine.read', request.machineId);
      const source = createFragmentSource(db, cache);
      const partIds = await partIdsOf(db, request.machineId);
      const documents = await Promise.all(partIds.map(documentOf));
      const imported = documents.flatMap((document) =>
        readImports(document as JsonObject).imports.map(({ fragmentId, version, variables }) => ({
          id: fragmentId,
          version,
          variables,
        })),
      );
      const seen: Asked[] = [];
      const rights = rightsOfCaller(call.principal);
      for (const each of imported) {
        const row = await source.fragment(each.id);
        if (row !== undefined && rights(row) !== 'none') seen.push(each);
      }
      const asked = [
        ...seen,
        ...request.additionalFragmentIds.map((id) => ({ id, version: '', variables: {} })),
        ...request.additionalFragments.map(additional),
      ];
      return answer(call.principal, source, asked, organizationId, undefined);
    },
  };
}

const additional = ({ fragmentId, version }: { fragmentId: string; version?: string | undefined }): Asked => ({
  id: fragmentId,
  version: version === undefined || version === 'latest' ? '' : version,
  variables: {},
});
