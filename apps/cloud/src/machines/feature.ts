/** Machines: registered parts, their configuration, what they fetch and what they log. */

import type { Clock, Log } from '@platform/base';
import { errorText } from '@platform/base';
import { parse } from '@platform/machine-config/parse';
import { toRobotConfig } from '@platform/machine-config/robot-config';
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { Handlers, ServiceBinding } from '@platform/rpc/server';
import type { Transaction } from 'kysely';
import type { PartSecrets } from '../access/ports.ts';
import { holds, notVisible, type Principal } from '../access/principal.ts';
import type { AccountTree } from '../accounts/tree.ts';
import type { CertificatePair } from '../instance/authority.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { CloudTables, Database } from '../metadata/tables.ts';
import { machineHandlers } from './app-rpc.ts';
import { checkDocument, type TriggerProblems } from './check-document.ts';
import { type Configurations, createConfigurations } from './configuration.ts';
import { createCurrentConfiguration } from './current-configuration.ts';
import { type EffectiveConfigurations, withoutFragments } from './effective-configuration.ts';
import { createMachineLogs, type MachineLogs } from './logs.ts';
import { type KeyPair, partConfigDocument } from './part-config-document.ts';
import { openPresence, type Presence, type PresenceDeps } from './presence.ts';
import { isContact } from './presence-contact.ts';
import { openRegistry, type Registry } from './registry.ts';
import { robotServiceBinding } from './robot-rpc.ts';
import { createTriggersOf, type PartTriggers, triggersIn } from './triggers-of.ts';

export interface MachinesDeps {
  readonly db: Database;
  readonly tree: AccountTree;
  readonly instanceKey: InstanceKey;
  readonly clock: Clock;
  readonly log: Log;
  /** What is wrong with the triggers of a document: they belong to another feature. */
  readonly triggerProblems: TriggerProblems;
  /** Resolves fragments. Absent: every document stands for itself. */
  readonly effective?: EffectiveConfigurations;
  /** Runs inside the transaction that saves a configuration. */
  readonly onSaving: (trx: Transaction<CloudTables>, partId: string, triggers: readonly unknown[]) => Promise<void>;
  /** What depends on parts coming online and going offline. */
  readonly onTransitions: PresenceDeps['onTransitions'];
}

export interface Machines {
  readonly registry: Registry;
  readonly configurations: Configurations;
  readonly presence: Presence;
  readonly logs: MachineLogs;
  readonly partSecrets: PartSecrets;
  readonly appHandlers: Handlers<typeof AppService, Principal>;
  readonly robotBinding: ServiceBinding<Principal>;
  /** May the principal act as the part, or operate it? @throws not_found */
  authorizePart(principal: Principal, partId: string): void;
  /** A call for the part arrived; it counts as contact when it is the part's own (D17). */
  noteContact(principal: Principal, partId: string): void;
  triggersOf(partId: string): Promise<PartTriggers | undefined>;
  /** The document of `GET /api/json1/config`; with `key` in place of the part's secret for callers who are no owners (D6). */
  partConfig(partId: string, baseUrl: string, key: KeyPair | undefined): Promise<unknown>;
}

export async function createMachines(deps: MachinesDeps): Promise<Machines> {
  const { db, tree, instanceKey, clock, log, triggerProblems, onSaving, effective = withoutFragments } = deps;
  const registry = await openRegistry(db, tree, instanceKey);
  const logs = createMachineLogs({ db, clock });
  const presence = await openPresence({
    db,
    clock,
    log,
    exists: (partId) => registry.part(partId) !== undefined,
    onTransitions: deps.onTransitions,
  });
  const noteContact = (principal: Principal, partId: string): void => {
    if (isContact(principal, partId, registry.part(partId)?.machine_id ?? '')) presence.saw(partId);
  };
  const configurations = createConfigurations({
    db,
    clock,
    check: (document) => checkDocument(document, triggerProblems),
    onWarnings: async (partId, savedVersion, warnings) => {
      const message = `configuration version ${savedVersion} was saved with warnings: ${warnings.join('; ')}`;
      await logs
        .appendOwn(partId, { level: 'warn', loggerName: 'cloud.configuration', message })
        .catch((caught: unknown) => log.warn(message, { partId, error: errorText(caught) }));
    },
    onSaving: (trx, partId, document) => onSaving(trx, partId, triggersIn(document)),
  });

  const current = createCurrentConfiguration(configurations, effective);
  const triggersOf = createTriggersOf(current);

  const authorizePart = (principal: Principal, partId: string): void => {
    const isItself = principal.kind === 'part' && principal.partId === partId;
    if (
      registry.part(partId) === undefined ||
      !(isItself || holds(principal, 'operator', registry.lineageOfPart(partId)))
    ) {
      throw notVisible('part', partId);
    }
  };

  const locationSecrets = async (locationId: string): Promise<{ id: string; secret: string }[]> => {
    const rows = await db
      .selectFrom('location_secrets')
      .select(['id', 'secret'])
      .where('location_id', '=', locationId)
      .execute();
    return rows.map((row) => ({ id: row.id, secret: instanceKey.decrypt(row.secret) }));
  };

  // Loaded when a machine first asks: X.509 is a fifth of this process's code, and few installations need it.
  const x509 = () => import('../instance/authority.ts');
  let authority: Promise<CertificatePair> | undefined;
  const readAuthority = async (): Promise<CertificatePair> => {
    const row = await db
      .selectFrom('instance_secrets')
      .select('secret')
      .where('name', '=', 'authority')
      .executeTakeFirst();
    if (row !== undefined) return JSON.parse(instanceKey.decrypt(row.secret)) as CertificatePair;
    const created = await (await x509()).createAuthority(clock.now());
    await db
      .insertInto('instance_secrets')
      .values({ name: 'authority', secret: instanceKey.encrypt(JSON.stringify(created)) })
      .execute();
    return created;
  };
  const fqdnOf = (partId: string): string => `${partId}.${registry.placeOf(partId).locationId}.machines.local`;

  const robotBinding = robotServiceBinding({
    noteContact,
    logs,
    authorizePart,
    mayHaveSecrets: (principal, partId) =>
      principal.kind === 'part' || holds(principal, 'owner', registry.lineageOfPart(partId)),
    async robotConfig(partId, authorityName, withSecrets) {
      const place = registry.placeOf(partId);
      const { document } = await configurations.current(partId);
      return toRobotConfig(parse(JSON.parse(document)).config, {
        id: partId,
        fqdn: fqdnOf(partId),
        localFqdn: fqdnOf(partId),
        signalingAddress: authorityName,
        signalingInsecure: true,
        locationSecrets: withSecrets ? await locationSecrets(place.locationId) : [],
        primaryOrgId: place.organizationId,
        locationId: place.locationId,
        machineId: place.robotId,
      });
    },
    async certificate(partId) {
      authority ??= readAuthority().catch((caught: unknown) => {
        authority = undefined;
        throw caught;
      });
      const { issueCertificate } = await x509();
      return issueCertificate(await authority, [fqdnOf(partId)], clock.now());
    },
    async takeRestartMark(partId) {
      const { restart_requested_ms: askedMs = null } = registry.part(partId) ?? {};
      if (askedMs === null) return false;
      // Of two calls at the same time one is told; a restart that is asked for meanwhile is told to the next call.
      const { numUpdatedRows } = await db
        .updateTable('parts')
        .set({ restart_requested_ms: null })
        .where('id', '=', partId)
        .where('restart_requested_ms', '=', askedMs)
        .executeTakeFirst();
      await registry.reload();
      return numUpdatedRows === 1n;
    },
  });

  return {
    registry,
    configurations,
    presence,
    logs,
    partSecrets: {
      check: (partId, secret) => registry.checkSecret(partId, secret),
      isCurrent: async (partId, epoch) => registry.part(partId)?.epoch === epoch,
    },
    appHandlers: machineHandlers({
      tree,
      registry,
      configurations,
      presence,
      now: () => clock.now(),
      async markForRestart(partId) {
        await db.updateTable('parts').set({ restart_requested_ms: clock.now() }).where('id', '=', partId).execute();
        await registry.reload();
      },
    }),
    robotBinding,
    authorizePart,
    noteContact,
    async triggersOf(partId) {
      return registry.part(partId) === undefined ? undefined : triggersOf(partId);
    },
    async partConfig(partId, baseUrl, key) {
      const { document } = await configurations.current(partId);
      return partConfigDocument(document, {
        id: partId,
        appAddress: baseUrl,
        credentials: key ?? { secret: await registry.secretOf(partId) },
      });
    },
  };
}
