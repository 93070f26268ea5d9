/** Accounts and machines: who exists, who may do what, and which configuration each part runs. */
import type { Clock, Log } from '@platform/base';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { type Authenticator, createAuthenticator } from './access/authenticate.ts';
import { type Access, createAccess } from './access/authorize.ts';
import { type AccessRpc, createAccessRpc } from './access/feature.ts';
import { createGuessLimit, type GuessLimit } from './access/guess-limit.ts';
import { createKeyUse, type KeyUse } from './access/key-use.ts';
import { type Accounts, createAccounts } from './accounts/feature.ts';
import { intactPlaces } from './accounts/intact-places.ts';
import { type AccountTree, openAccountTree } from './accounts/tree.ts';
import { organizationDeleting as deleteAllowedTargets } from './admin/allowed-targets.ts';
import { organizationDeleting as deleteLimits, type Limits, machineLogAllowance } from './admin/limits.ts';
import type { LiveUsage } from './billing/meter/live-usage.ts';
import { createFragments, type Fragments } from './fragments/feature.ts';
import { deleteGaps, deleteGapsOfPart } from './gaps/feature.ts';
import { createFirstAccount } from './identity/create-first-account.ts';
import { addressesOfOwners } from './identity/notified-people.ts';
import { organizationDeleting as deletePeople } from './identity/prune-expired.ts';
import { createSessions, type Sessions } from './identity/sign-in/sessions.ts';
import { callInOrder, type OnConfigurationChange } from './machines/configuration/configuration-change.ts';
import { createMachines, type Machines, type MachinesDeps } from './machines/feature.ts';
import { intactRegistry } from './machines/intact-registry.ts';
import { createMachineNames, type MachineNames } from './machines/machine-names.ts';
import { machineNamesIn } from './machines/part-places.ts';
import { openRegistry, type Registry } from './machines/registry.ts';
import type { Stores } from './open-stores.ts';
import { organizationDeleting as deleteTargets } from './outbox/organization-deleting.ts';
import { organizationDeleting as deletePackages } from './packages/organization-deleting.ts';
import { createServePackages, type ServePackages } from './packages/serve-packages.ts';
import { organizationDeleting as deleteQueries } from './queries/organization-deleting.ts';
import { createLinks, type Links } from './relay/links.ts';
import { createRetention, type Retention } from './retention/feature.ts';
import { ownHosts, type Settings } from './settings.ts';
import { organizationDeleting as deleteTriggerHistory } from './triggers/history/trigger-history.ts';
import { ownerProblems } from './triggers/parsing/owner-problems.ts';
import { triggersOfDocument } from './triggers/parsing/parse-document.ts';
import { pushProblems } from './triggers/parsing/push-problems.ts';
import { targetProblems } from './triggers/parsing/target-problems.ts';

export interface FleetDeps extends Pick<Stores, 'db' | 'rows' | 'instanceKey'>, Pick<MachinesDeps, 'onTransitions'> {
  /** Notifies the triggers, which are composed later. */
  readonly triggersChanged: OnConfigurationChange;
  readonly settings: Pick<Settings, 'host' | 'identity' | 'keyRotationOverlapMs' | 'machineDomain' | 'tls'>;
  readonly limits: Limits;
  readonly liveUsage: Pick<LiveUsage, 'add'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Why a webhook to this URL would be refused; undefined: it would not. Called once the outbox is composed. */
  readonly targetRefusal: (url: string, organizationId: string) => Promise<string | undefined>;
  /** Base URL of the cloud. Read at each call, never before the cloud listens. */
  readonly url: () => string;
}

export interface Fleet {
  readonly tree: AccountTree;
  readonly registry: Registry;
  readonly access: Access;
  readonly retention: Retention;
  readonly fragments: Fragments;
  readonly servedPackages: ServePackages;
  /** Id of the organization with this id or public namespace. */
  readonly organizationNamed: (name: string) => string | undefined;
  /** The caller starts and disposes their presence tracking. */
  readonly machines: Machines;
  readonly guesses: GuessLimit;
  readonly keyUse: KeyUse;
  readonly sessions: Sessions;
  readonly authenticator: Authenticator;
  readonly accessRpc: AccessRpc;
  readonly accounts: Accounts;
  /** The links of machines that wait for calls. */
  readonly links: Links;
  readonly names: MachineNames;
}

export async function composeFleet(deps: FleetDeps): Promise<Fleet> {
  const { db, rows, instanceKey, settings, limits, clock, log, triggersChanged, onTransitions, url } = deps;

  await createFirstAccount(db, instanceKey, clock.now());
  const tree = await openAccountTree(db);
  const registry = await openRegistry(db, tree, instanceKey);
  const intact = intactRegistry(registry, registry.damage);
  const access = createAccess(tree, {
    locationOfMachine: (id) => intact.machine(id)?.location_id,
    machineOfPart: (id) => intact.part(id)?.machine_id,
  });
  const retention = createRetention({ db, now: clock.now });
  const onConfigurationChange = callInOrder(triggersChanged, retention.configurationsChanged);
  const triggerProblems: MachinesDeps['triggerProblems'] = (document) => triggersOfDocument(document).problems;
  const problemsOfTargets: MachinesDeps['targetProblems'] = async (document, organizationId, partId) => {
    const lineage = (partId === undefined ? undefined : access.lineageOf('part', partId)) ?? {
      organizationId,
      locationIds: [],
    };
    return [
      ...(await targetProblems(document, (url) => deps.targetRefusal(url, organizationId))),
      ...(await ownerProblems(document, () => addressesOfOwners(db, lineage))),
      ...(await pushProblems(document, async () => (await accounts.pushConfiguration(organizationId))?.appId)),
    ];
  };
  const fragments = createFragments({
    targetProblems: problemsOfTargets,
    db,
    tree,
    access,
    clock,
    log: log.child('fragments'),
    triggerProblems,
    documentOf: (partId) => machines.documentOf(partId),
    onConfigurationChange,
    tellPart: (partId, message) =>
      machines.logs.appendOwn(partId, { level: 'warn', loggerName: 'cloud.fragments', message }),
    maxFragmentsOf: (organizationId) => limits.limitOf(organizationId, 'fragments'),
  });
  const organizationNamed: Fleet['organizationNamed'] = (name) =>
    (tree.organization(name) ?? tree.organizations().find((row) => row.public_namespace === name))?.id;
  const links = createLinks(clock);
  const names = createMachineNames(settings.machineDomain, ownHosts(settings));
  const servedPackages = createServePackages({ db, organizationNamed });
  const machines = await createMachines({
    logAllowanceOf: (partId) => machineLogAllowance(limits, registry.placeOf(partId).organizationId),
    onLogsSent: (organizationId, bytes) => deps.liveUsage.add(organizationId, UsageCostType.LOGS_EGRESS, bytes),
    db,
    tree,
    registry,
    access,
    effective: fragments,
    packages: servedPackages,
    seesFragment: fragments.seesFragment,
    firstDocument: fragments.firstDocument,
    instanceKey,
    servesTls: settings.tls.kind !== 'plaintext',
    names,
    clock,
    log: log.child('machines'),
    triggerProblems,
    targetProblems: problemsOfTargets,
    onConfigurationChange,
    partDeleting: deleteGapsOfPart,
    accessChanged: () => authenticator.forget(),
    onTransitions,
    linkSinceMs: (partId) => links.of(partId)?.sinceMs,
  });
  const guesses = createGuessLimit(clock);
  const keyUse = createKeyUse(db, clock);
  const sessions = createSessions({ db, instanceKey, clock, settings: settings.identity.sessions });
  const authenticator = createAuthenticator({
    db,
    rows,
    requirePlaces: intactPlaces(rows),
    instanceKey,
    partSecrets: machines.partSecrets,
    sessions,
    shares: tree,
    guesses,
    clock,
    keyUsed: (keyId) => keyUse.used(keyId),
  });
  const accessRpc = createAccessRpc({
    db,
    instanceKey,
    access,
    keyUse,
    now: clock.now,
    rotationOverlapMs: settings.keyRotationOverlapMs,
    changed: () => authenticator.forget(),
  });
  const accounts = createAccounts({
    db,
    tree,
    access,
    instanceKey,
    clock,
    machinesOf: (locationId) => registry.machinesOf(locationId),
    machineNamesIn,
    seesFragment: fragments.seesFragment,
    baseUrl: url,
    accessChanged: () => authenticator.forget(),
    keysEnded: (keys, place) => {
      for (const { id, hashes } of keys) registry.secrets.deleted.put(id, hashes, place);
    },
    organizationDeleting: [
      deletePeople,
      deleteQueries,
      deleteTargets,
      deleteTriggerHistory,
      deleteLimits,
      deleteAllowedTargets,
      deletePackages,
      deleteGaps,
      fragments.organizationDeleting,
      retention.organizationDeleting,
    ],
  });

  return {
    ...{ tree, registry, access, retention, fragments, servedPackages, organizationNamed, machines },
    ...{ guesses, keyUse, sessions, authenticator, accessRpc, accounts, links, names },
  };
}
