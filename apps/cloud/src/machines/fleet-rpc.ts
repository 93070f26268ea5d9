/** FleetService for parts: versions of their configuration, and what they run. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { PlatformError, type Problem } from '@platform/base';
import type {
  ConfigurationVersionSchema,
  FleetService,
  GetPartStatusResponseSchema,
  RevisionAtSchema,
} from '@platform/proto/platform/fleet/v1/fleet';
import { audit } from '../access/audit.ts';
import type { CloudHandlers, Principal } from '../access/principal.ts';
import { readPageToken } from '../wire/page-token.ts';
import { repeatedKeys } from '../wire/repeated-keys.ts';
import { sendWarnings } from '../wire/send-warnings.ts';
import { problemsOf, type TriggerProblems } from './configuration/check-document.ts';
import type { ConfigurationVersion } from './configuration/configuration.ts';
import type { EffectiveConfigurations } from './configuration/effective-configuration.ts';
import type { InstallationProblems } from './configuration/installation-problems.ts';
import { decodeDocument } from './configuration/parse-document.ts';
import type { MachineOperationDeps } from './machines-deps.ts';
import type { PartStatus } from './part-status.ts';
import type { CompetingServers } from './presence/competing-servers.ts';

const defaultVersions = 50;
const maxVersions = 500;
const maxProblems = 500;

export interface FleetHandlerDeps extends MachineOperationDeps {
  readonly effective: EffectiveConfigurations;
  readonly triggerProblems: TriggerProblems;
  readonly installationProblems: InstallationProblems;
  readonly linkSinceMs: (partId: string) => number | undefined;
  readonly competing: Pick<CompetingServers, 'of'>;
}

export function fleetHandlers(deps: FleetHandlerDeps): CloudHandlers<typeof FleetService> {
  const { access, clock, configurations, current, effective, statuses, messages, triggerProblems } = deps;
  const partStatus = statusOf(deps);

  return {
    async listConfigurationVersions(request, call) {
      access.authorize(call.principal, 'part.read', request.partId);
      const asked = request.pageLimit ?? 0;
      const limit = asked > 0 ? Math.min(asked, maxVersions) : defaultVersions;
      const before = readPageToken(request.pageToken, 'ListConfigurationVersions');
      const found = await configurations.summaries(request.partId, { limit: limit + 1, before });
      const page = found.slice(0, limit);
      return {
        versions: page.map(({ version, bytes }) => versionMessage(version, bytes)),
        nextPageToken: found.length > limit ? String(page.at(-1)?.version.version ?? '') : '',
      };
    },
    async getConfigurationVersion(request, call) {
      access.authorize(call.principal, 'part.read', request.partId);
      const newest = await configurations.current(request.partId);
      const asked = request.version === undefined ? newest.version : Number(request.version);
      const version = asked === newest.version ? newest : await configurations.version(request.partId, asked);
      const document = messages.document(request.partId, version.document, call.principal);
      if (version.version !== newest.version) return { version: versionMessage(version), document };
      const resolved = JSON.stringify((await current.effective(request.partId)).document);
      const effectiveDocument = messages.document(request.partId, resolved, call.principal);
      return { version: versionMessage(version), document, effectiveDocument };
    },
    async restoreConfigurationVersion(request, call) {
      access.authorize(call.principal, 'part.manage', request.partId);
      const number = Number(request.version);
      const { document } = await configurations.version(request.partId, number);
      const version = await configurations.save({
        partId: request.partId,
        document,
        by: call,
        restoredFrom: number,
        warned: (warnings) => sendWarnings(call, warnings),
        action: 'FleetService.RestoreConfigurationVersion',
        ...(request.currentVersion === undefined ? {} : { edited: { version: Number(request.currentVersion) } }),
      });
      return { version: versionMessage(version) };
    },
    async validateConfiguration(request, call) {
      // Validation reveals the content of imported fragments, so it requires the right to save.
      const { organizationId } = access.authorize(call.principal, 'part.manage', request.partId);
      let parsed: unknown;
      try {
        parsed = decodeDocument(request.document, request.partId);
      } catch (caught) {
        if (!(caught instanceof PlatformError)) throw caught;
        return { problems: [{ severity: 'error', path: '$', message: caught.message }], revision: '' };
      }
      const resolved = await effective.effective(request.partId, parsed);
      const notHere = await deps.installationProblems(resolved, organizationId, request.partId);
      const problems = [
        ...repeatedKeys(request.document, parsed),
        ...problemsOf(parsed, resolved, triggerProblems, notHere),
      ];
      const isSound = !problems.some(({ level }) => level === 'error');
      return { problems: boundedProblems(problems), revision: isSound ? resolved.revision : '' };
    },
    getPartStatus: ({ partId }, call) => partStatus(partId, call),
    async reportPartStatus(request, call) {
      access.authorize(call.principal, 'part.report', request.partId);
      await statuses.report(request.partId, request);
      return { forcedRevision: statuses.of(request.partId).forced_revision };
    },
    async forceConfiguration({ partId, revision: asked }, call) {
      const { organizationId } = access.authorize(call.principal, 'part.manage', partId);
      const target = ['part', partId, organizationId] as const;
      const revision = await statuses.force(partId, asked, (trx, forced) =>
        audit(trx, call, clock.now(), 'FleetService.ForceConfiguration', target, { revision: forced }),
      );
      return { revision };
    },
  };
}

/** @param call whose principal must be allowed to read the part */
export type StatusOf = (
  partId: string,
  call: { readonly principal: Principal },
) => Promise<MessageInitShape<typeof GetPartStatusResponseSchema>>;

export function statusOf(deps: FleetHandlerDeps): StatusOf {
  const { access, configurations, current, effective, statuses, messages } = deps;
  return async (partId, call) => {
    access.authorize(call.principal, 'part.read', partId);
    const newest = await configurations.current(partId);
    const { revision } = await current.facts(partId);
    const status = statuses.of(partId);
    const { onlineState, lastAccess } = messages.contact([partId]);
    const linkMs = deps.linkSinceMs(partId);
    return {
      partId,
      onlineState,
      savedVersion: BigInt(newest.version),
      saved: { revision, ...(newest.version === 0 ? {} : { at: timestampFromMs(newest.createdMs) }) },
      fetched: at(status.fetched_revision, status.fetched_ms),
      applied: at(status.applied_revision, status.applied_ms),
      held: at(status.held_revision, status.held_ms),
      heldReason: status.held_reason,
      forced: at(status.forced_revision, status.forced_ms),
      lastError: status.last_error,
      ...(linkMs === undefined ? {} : { linkSince: timestampFromMs(linkMs) }),
      competingServers: [...deps.competing.of(partId)],
      ...{ serverVersion: status.server_version, platform: status.platform },
      ...dataOf(status),
      ...(lastAccess === undefined ? {} : { lastAccess }),
      fragmentProblems: boundedProblems(await effective.problemsOf(partId)),
      ...(status.last_error_ms === 0 ? {} : { lastErrorAt: timestampFromMs(status.last_error_ms) }),
    };
  };
}

/** The last reported state of capture and sync. */
function dataOf({ data_status: text, data_status_ms: ms }: PartStatus) {
  return text === '' ? {} : { data: { status: JSON.parse(text), at: timestampFromMs(ms) } };
}

function at(revision: string, ms: number): MessageInitShape<typeof RevisionAtSchema> | undefined {
  return revision === '' ? undefined : { revision, ...(ms === 0 ? {} : { at: timestampFromMs(ms) }) };
}

function versionMessage(
  { version, author, createdMs, revision, restoredFrom, document }: ConfigurationVersion,
  bytes: number = Buffer.byteLength(document),
): MessageInitShape<typeof ConfigurationVersionSchema> {
  return {
    version: BigInt(version),
    author,
    revision,
    bytes,
    restoredFrom: BigInt(restoredFrom),
    ...(version === 0 ? {} : { savedAt: timestampFromMs(createdMs) }),
  };
}

function boundedProblems(problems: readonly Problem[]): { severity: string; path: string; message: string }[] {
  // Errors first: they prevent the document from being saved.
  const sorted = [...problems].sort((a, b) => Number(b.level === 'error') - Number(a.level === 'error'));
  return sorted.slice(0, maxProblems).map(({ level, path, message }) => ({ severity: level, path, message }));
}
