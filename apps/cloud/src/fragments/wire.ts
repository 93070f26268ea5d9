/** Converts fragments to messages. */
import type { MessageInitShape, JsonObject as ProtobufJson } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { invalidArgument } from '@platform/base';
import type { FragmentFault, FragmentProblem, ResolvedDocument } from '@platform/machine-config/fragments';
import {
  FragmentErrorType,
  type FragmentSchema,
  type FragmentUsageSchema,
  FragmentVisibility,
  type ResolvedFragmentSchema,
} from '@platform/proto/platform/app/v1/app';
import { type Principal, sees } from '../access/principal.ts';
import type { AccountTree } from '../accounts/tree.ts';
import { answerBytes, structBytes } from '../wire/struct-bytes.ts';
import type { FragmentRow, RevisionRow } from './source.ts';
import type { Visibility } from './store.ts';
import type { Usage } from './usage.ts';

const visibilities: Readonly<Record<Visibility, FragmentVisibility>> = {
  private: FragmentVisibility.PRIVATE,
  public: FragmentVisibility.PUBLIC,
  unlisted: FragmentVisibility.PUBLIC_UNLISTED,
};

/** Undefined if unspecified. @throws invalid_argument */
export function visibilityOf(value: FragmentVisibility | undefined): Visibility | undefined {
  if (value === undefined || value === FragmentVisibility.UNSPECIFIED) return undefined;
  const found = (['private', 'public', 'unlisted'] as const).find((each) => visibilities[each] === value);
  if (found === undefined) throw invalidArgument(`visibility: expected private, public or unlisted, found ${value}`);
  return found;
}

/**
 * A fragment with the configuration of `revision`, if it is given and still kept. Only callers who may see the owning organization get
 * its name.
 */
export function fragmentMessage(
  tree: AccountTree,
  principal: Principal,
  row: FragmentRow,
  revision: Pick<RevisionRow, 'revision'> & { readonly config?: string },
  usage: Usage,
): MessageInitShape<typeof FragmentSchema> {
  const owner = tree.organization(row.organization_id);
  const namespace = owner?.public_namespace ?? null;
  return {
    id: row.id,
    name: row.name,
    ...(revision.config === undefined || revision.config === ''
      ? {}
      : { fragment: JSON.parse(revision.config) as ProtobufJson }),
    ...(sees(principal, row.organization_id)
      ? { organizationOwner: row.organization_id, organizationName: owner?.name ?? '' }
      : {}),
    ...(namespace === null ? {} : { publicNamespace: namespace }),
    public: row.visibility === 'public',
    visibility: visibilities[row.visibility],
    createdOn: timestampFromMs(row.created_ms),
    lastUpdated: timestampFromMs(row.updated_ms),
    revision: String(revision.revision),
    robotPartCount: usage.parts,
    organizationCount: usage.organizations,
    onlyUsedByOwner: usage.onlyByOwner,
  };
}

/** Adds the configuration as text, which keeps the order of keys; an answer may have room for only one of the two forms. */
export function withText(
  message: MessageInitShape<typeof FragmentSchema>,
  config: string,
): MessageInitShape<typeof FragmentSchema> {
  if (config === '') return message;
  const fits = structBytes(JSON.parse(config) as ProtobufJson) + Buffer.byteLength(config) <= answerBytes / 2;
  return fits ? { ...message, fragmentConfigJson: config } : message;
}

export function usageMessage(
  fragmentId: string,
  usage: Usage,
  version?: string,
): MessageInitShape<typeof FragmentUsageSchema> {
  return {
    fragmentId,
    organizations: usage.organizations,
    machines: usage.machines,
    machinesInCurrentOrg: usage.machinesInCurrent,
    ...(version === undefined || version === '' ? {} : { version }),
  };
}

const errorTypes: Readonly<Record<FragmentFault, FragmentErrorType>> = {
  no_access: FragmentErrorType.NO_ACCESS,
  nesting_limit: FragmentErrorType.NESTING_LIMIT_EXCEEDED,
  child_id_invalid: FragmentErrorType.CHILD_ID_INVALID,
  cycle: FragmentErrorType.CYCLE_DETECTED,
  no_value: FragmentErrorType.UNSPECIFIED,
};

/** Replaces a fragment for which the answer has no room. */
export function leftOutMessage(fragmentId: string): MessageInitShape<typeof ResolvedFragmentSchema> {
  const detail = `fragment ${fragmentId}: expected an answer that public clients can read, found no space for this configuration: request fewer fragments at once`;
  return { fragmentId, error: { errorType: FragmentErrorType.UNSPECIFIED, fragmentId, detail } };
}

/** Reports only the first import error. A variable without a value is not an error here, because the importer sets it. */
export function resolvedMessage(
  fragmentId: string,
  resolved: ResolvedDocument,
): MessageInitShape<typeof ResolvedFragmentSchema> {
  const found: FragmentProblem | undefined = resolved.problems.find(
    ({ level, fault }) => level === 'error' && fault !== 'no_value',
  );
  return {
    fragmentId,
    resolvedConfig: resolved.document as ProtobufJson,
    revision: resolved.used.find((used) => used.fragmentId === fragmentId)?.revision ?? '',
    ...(found === undefined
      ? {}
      : {
          error: {
            errorType: found.fault === undefined ? FragmentErrorType.UNSPECIFIED : errorTypes[found.fault],
            fragmentId: found.fragmentId ?? fragmentId,
            detail: found.message,
          },
        }),
  };
}
