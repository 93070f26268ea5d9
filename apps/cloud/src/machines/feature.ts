/** Machines: registered parts, their configurations, status and logs. */
import { type ClockAndLog, errorText } from '@platform/base';
import { maskSecrets } from '@platform/machine-config/mask-secrets';
import type { Json } from '@platform/machine-config/schema';
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { owns } from '../access/authorization-on-wire.ts';
import type { PartSecrets } from '../access/ports.ts';
import { type CloudBinding, type CloudHandlers, notVisible, type Principal } from '../access/principal.ts';
import type { DatabaseTransaction } from '../metadata/tables.ts';
import { certificateNames, createCertificates } from './certificates.ts';
import { checkDocument, type TriggerProblems } from './configuration/check-document.ts';
import { type ConfigurationDeps, type Configurations, createConfigurations } from './configuration/configuration.ts';
import { configurationHandlers } from './configuration/configuration-rpc.ts';
import { createCurrentConfiguration } from './configuration/current-configuration.ts';
import { createInstallationProblems, type TargetProblems } from './configuration/installation-problems.ts';
import { type KeyPair, partConfigDocument } from './configuration/part-config-document.ts';
import { propertyHandlers } from './configuration/property-rpc.ts';
import { createRobotConfigs } from './configuration/robot-configs.ts';
import type { ServedPackages } from './configuration/served-packages.ts';
import { createTriggersIfSaved, type TriggersIfSaved } from './configuration/triggers-if-saved.ts';
import { createTriggersOf, type PartTriggers } from './configuration/triggers-of.ts';
import { consumeRestartRequest } from './consume-restart-request.ts';
import { favoriteHandlers } from './favorites/favorite-rpc.ts';
import { fleetHandlers, type StatusOf, statusOf } from './fleet-rpc.ts';
import { intactRegistry } from './intact-registry.ts';
import { createMachineLogs, type MachineLogs } from './logs/logs.ts';
import type { Allowance } from './logs/quota.ts';
import { createMachineMessages } from './machine-messages.ts';
import type { MachineNames } from './machine-names.ts';
import type { MachineOperationDeps } from './machines-deps.ts';
import { machineHandlers } from './machines-rpc.ts';
import { metadataHandlers } from './metadata-rpc.ts';
import { openPartStatuses, type PartStatuses } from './part-status.ts';
import { partHandlers } from './parts-rpc.ts';
import { type CompetingServers, createCompetingServers } from './presence/competing-servers.ts';
import { isContact } from './presence/contact.ts';
import { openPresence, type Presence, type PresenceDeps } from './presence/presence.ts';
import type { PartPlace, Registry } from './registry.ts';
import { robotServiceBinding } from './robot-rpc.ts';
import { summaryHandlers } from './summaries-rpc.ts';

export interface MachinesDeps
  extends ClockAndLog,
    Pick<
      MachineOperationDeps,
      'db' | 'tree' | 'registry' | 'access' | 'instanceKey' | 'firstDocument' | 'seesFragment' | 'accessChanged'
    >,
    Pick<ConfigurationDeps, 'effective' | 'maxHistoryBytes' | 'onConfigurationChange'> {
  /** Whether the cloud serves TLS; machines do the same. */
  readonly servesTls: boolean;
  readonly names: MachineNames;
  /** Finds problems in the triggers of a document; implemented by the triggers feature. */
  readonly triggerProblems: TriggerProblems;
  /** Webhook targets of a document that this installation refuses; implemented by the triggers feature. */
  readonly targetProblems: TargetProblems;
  /** Packages and registry modules in the form that machines receive. */
  readonly packages: ServedPackages;
  /** Called in the transaction that deletes a part. */
  readonly partDeleting: (trx: DatabaseTransaction, partId: string) => Promise<void>;
  /** How much a part may log. Read for each line. */
  readonly logAllowanceOf: (partId: string) => Allowance;
  /** Called with the bytes of machine logs that readers get. */
  readonly onLogsSent: (organizationId: string, bytes: number) => void;
  /** Effects of parts going online and offline. */
  readonly onTransitions: PresenceDeps['onTransitions'];
  /** Time since which calls can be passed on to a part, by the wall clock in ms; undefined: they cannot. */
  readonly linkSinceMs: (partId: string) => number | undefined;
}

export interface ConfigurationFacts {
  readonly savedRevision: string;
  /** What the part runs, or fetched last, if the server does not report it. */
  readonly runsRevision: string;
  /** Empty: nothing waits for the maintenance window. */
  readonly heldRevision: string;
  readonly lastError: string;
}

export interface Machines {
  readonly registry: Registry;
  readonly configurations: Configurations;
  readonly presence: Presence;
  readonly competing: CompetingServers;
  readonly statuses: PartStatuses;
  readonly logs: MachineLogs;
  readonly partSecrets: PartSecrets;
  readonly appHandlers: CloudHandlers<typeof AppService>;
  readonly fleetHandlers: CloudHandlers<typeof FleetService>;
  /** The answer of GetPartStatus to the call. */
  readonly statusOf: StatusOf;
  readonly robotBinding: CloudBinding;
  /**
   * Checks a call for a part: the principal must be allowed to act as the part, or to operate it. Returns whether the call counts as
   * contact, which needs the part's own credentials or its machine's (D17). @throws not_found
   */
  authorizePart(principal: Principal, partId: string): boolean;
  /**
   * Checks that the principal may answer in the name of the part: as the part itself, as its machine, or as an owner. A check alone: open
   * streams repeat it although nothing arrives. @throws not_found, permission_denied
   */
  authorizeAnswer(principal: Principal, partId: string): void;
  /** A call for the part began, or more of one arrived: contact if the call is the part's own or its machine's (D17). */
  sawCall(principal: Principal, partId: string): void;
  /** The same for a message on the part's link. */
  sawOnLink(principal: Principal, partId: string): void;
  /** Like `authorizePart`, for uploads. Returns the part's place. */
  authorizeUpload(principal: Principal, partId: string): PartPlace;
  /** The newest saved document of a part, decoded. */
  documentOf(partId: string): Promise<unknown>;
  /** With its fragments resolved. */
  effectiveDocumentOf(partId: string): Promise<unknown>;
  triggersOf(partId: string): Promise<PartTriggers | undefined>;
  /** The triggers of a part as if these were saved in place of its own. */
  triggersIfSaved(partId: string, triggers: readonly unknown[]): Promise<TriggersIfSaved>;
  /** The revision that should run, and the one that the part reports. */
  configurationFacts(partId: string): Promise<ConfigurationFacts>;
  /**
   * The document of `GET /api/json1/config`. Callers who are not owners get `key` instead of the part's secret (D6). `masked`: values
   * that look like secrets are masked (R6).
   */
  partConfig(partId: string, baseUrl: string, key: KeyPair | undefined, masked: boolean): Promise<unknown>;
}

export async function createMachines(deps: MachinesDeps): Promise<Machines> {
  const {
    db,
    tree,
    registry,
    access,
    instanceKey,
    clock,
    log,
    triggerProblems,
    onConfigurationChange,
    effective,
    packages,
    names,
  } = deps;
  const installationProblems = createInstallationProblems(deps);
  const exists = (partId: string): boolean => registry.part(partId) !== undefined;
  const organizationOf = (partId: string): string | undefined => registry.findPlace(partId)?.organizationId;
  const logs = createMachineLogs({
    ...{ db, clock, log, organizationOf, allowanceOf: deps.logAllowanceOf },
    onSent(partId, bytes) {
      const organizationId = organizationOf(partId);
      if (organizationId !== undefined) deps.onLogsSent(organizationId, bytes);
    },
  });
  const presence = await openPresence({ db, clock, log, exists, onTransitions: deps.onTransitions });
  const competing = createCompetingServers(clock, (partId, servers) => {
    const message = `two machine-servers use this part: ${servers.join(', ')}. Each undoes what the other reports, and takes its link for remote control: stop one of them, or create a part for it (platform machines part create)`;
    logs
      .appendOwn(partId, { level: 'warn', loggerName: 'cloud.presence', message })
      .catch((caught) => log.warn('a line for the log of a part could not be stored', { error: errorText(caught) }));
  });
  const statuses = await openPartStatuses({
    db,
    clock,
    exists,
    async onLongHold(partId, { held_revision: revision, held_ms: sinceMs, held_reason: reason }) {
      const since = new Date(sinceMs).toISOString();
      const message = `a new configuration has waited for the maintenance window since ${since}${reason === '' ? '' : `: ${reason}`}; an owner can force it (platform machines part force), or save one without the window`;
      const fields = { revision };
      await logs.appendOwn(partId, { level: 'warn', loggerName: 'cloud.configuration', message, fields });
    },
    onWriteFailure: (caught) =>
      log.warn('the fetched configuration of a part could not be recorded', { error: errorText(caught) }),
  });
  const configurations = createConfigurations({
    db,
    clock,
    ...(deps.maxHistoryBytes !== undefined && { maxHistoryBytes: deps.maxHistoryBytes }),
    effective,
    organizationOf: (partId) => registry.placeOf(partId).organizationId,
    check: async (document, resolved, organizationId, partId) =>
      checkDocument(document, resolved, triggerProblems, await installationProblems(resolved, organizationId, partId)),
    onWarnings: async (partId, savedVersion, warnings) => {
      const message = `configuration version ${savedVersion} was saved with warnings: ${warnings.join('; ')}`;
      await logs.appendOwn(partId, { level: 'warn', loggerName: 'cloud.configuration', message });
    },
    onConfigurationChange,
  });
  const current = createCurrentConfiguration(configurations, effective);
  const triggersOf = createTriggersOf(current);
  const documentOf = async (partId: string): Promise<unknown> =>
    JSON.parse((await configurations.current(partId)).document);
  const configs = createRobotConfigs({
    ...{ db, registry, current, packages, instanceKey, names, clock },
    servesTls: deps.servesTls,
  });
  const issueCertificate = createCertificates({ db, instanceKey, now: clock.now });

  const counts = (principal: Principal, partId: string): boolean =>
    isContact(principal, partId, registry.part(partId)?.machine_id ?? '');
  const sawCall = (principal: Principal, partId: string): boolean => {
    const isCounted = counts(principal, partId);
    if (isCounted) presence.saw(partId);
    return isCounted;
  };
  const authorizePart = (principal: Principal, partId: string): boolean => {
    access.authorize(principal, 'part.act', partId);
    return sawCall(principal, partId);
  };
  const operations: MachineOperationDeps = {
    db,
    access,
    tree,
    registry: intactRegistry(registry, registry.damage),
    configurations,
    current,
    statuses,
    names,
    messages: createMachineMessages({ access, registry, presence, statuses, names, now: clock.now }),
    instanceKey,
    clock,
    firstDocument: deps.firstDocument,
    seesFragment: deps.seesFragment,
    firstDocumentRefused: (partId, reason) =>
      logs.appendOwn(partId, {
        level: 'warn',
        loggerName: 'cloud.configuration',
        message: `the machine starts without the default fragments of its organization: ${reason}`,
      }),
    async onDeleting(trx, partId, deletedBy) {
      const before = async (): Promise<unknown> => (await current.effective(partId)).document;
      await onConfigurationChange(trx, [{ partId, before, after: undefined, deletedBy }]);
      await logs.removePart(trx, partId);
      await effective.deleting(trx, partId);
      await deps.partDeleting(trx, partId);
    },
    forgetPart(partId) {
      configurations.forget(partId);
      current.forget(partId);
      configs.forget(partId);
      statuses.forget(partId);
      triggersOf.forget(partId);
    },
    accessChanged: deps.accessChanged,
  };

  const fleet = {
    ...{ ...operations, effective, triggerProblems, installationProblems },
    linkSinceMs: deps.linkSinceMs,
    competing,
  };

  return {
    registry,
    configurations,
    presence,
    competing,
    statuses,
    logs,
    partSecrets: {
      check: (partId, secret) => registry.secrets.check(partId, secret),
      isCurrent: async (partId, epoch) => registry.secrets.isCurrent(partId, epoch),
      deletedPlace: (id, secret) => registry.secrets.deleted.placeOf(id, secret),
    },
    appHandlers: {
      ...machineHandlers(operations),
      ...favoriteHandlers(operations),
      ...partHandlers(operations),
      ...configurationHandlers(operations),
      ...propertyHandlers(operations),
      ...summaryHandlers(operations),
      ...metadataHandlers(operations),
    },
    fleetHandlers: fleetHandlers(fleet),
    statusOf: statusOf(fleet),
    robotBinding: robotServiceBinding({
      ...{ logs, authorizePart, competing },
      mayHaveSecrets: (principal, partId) => access.allows(principal, 'part.secrets', partId),
      mayHaveKey: (principal, partId, { grants }) =>
        principal.kind === 'part'
          ? principal.partId === partId
          : grants.every((grant) => owns(access, principal, grant)),
      configs,
      statuses,
      certificate: (partId, hostName) => issueCertificate(certificateNames(names, partId, hostName)),
      polls: (partId, everyMs) => presence.polls(partId, everyMs),
      consumeRestartRequest: (partId) => consumeRestartRequest(db, registry, partId),
    }),
    authorizePart,
    authorizeAnswer(principal, partId) {
      // Callers connect to whoever answers, so an operator whose role reaches beyond this machine must not take its place.
      access.authorize(principal, 'part.act', partId);
      if (!counts(principal, partId)) access.authorize(principal, 'part.report', partId);
    },
    sawCall,
    sawOnLink(principal, partId) {
      if (counts(principal, partId)) presence.sawOnLink(partId);
    },
    authorizeUpload(principal, partId) {
      authorizePart(principal, partId);
      return registry.placeOf(partId);
    },
    documentOf,
    effectiveDocumentOf: async (partId) => (await current.effective(partId)).document,
    async triggersOf(partId) {
      return exists(partId) ? triggersOf.of(partId) : undefined;
    },
    triggersIfSaved: createTriggersIfSaved({
      documentOf,
      ...{ effective, triggerProblems, installationProblems },
      organizationOf: (partId) => registry.placeOf(partId).organizationId,
    }),
    async configurationFacts(partId) {
      const { applied_revision: applied, fetched_revision: fetched, ...status } = statuses.of(partId);
      return {
        savedRevision: (await current.facts(partId)).revision,
        runsRevision: applied === '' ? fetched : applied,
        heldRevision: status.held_revision,
        lastError: status.last_error,
      };
    },
    async partConfig(partId, baseUrl, key, masked) {
      if (!exists(partId)) throw notVisible('part', partId);
      const { document } = await current.effective(partId);
      return partConfigDocument(masked ? maskSecrets(document as Json) : document, {
        id: partId,
        appAddress: baseUrl,
        credentials: key ?? { secret: await registry.secretOf(partId) },
      });
    },
  };
}
