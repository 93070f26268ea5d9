/**
 * The host administrator's operations on one installation (D30): the same ones over the control channel of a running cloud and directly
 * on the data directory of a stopped one. Every change is audited with the actor kind `admin`.
 */
import { errorText, type Log } from '@platform/base';
import { storedOrganizations } from '../accounts/organizations/stored-organizations.ts';
import type { DeletionPause } from '../instance/deletion-pause.ts';
import type { KeyRing } from '../instance/instance-key.ts';
import { finishRotation } from '../instance/rotate-instance-key.ts';
import { sealedColumns } from '../metadata/sealed-columns.ts';
import { countMessages } from '../outbox/count-messages.ts';
import type { AllowedTargets } from './allowed-targets.ts';
import { billingOperations } from './billing-operations.ts';
import type { Operations } from './control-channel.ts';
import { createOwnerLink } from './create-owner-link.ts';
import { addDamage } from './doctor/add-damage.ts';
import { checkSecrets } from './doctor/check-secrets.ts';
import { type Limits, limitUsage, requireOrganization } from './limits.ts';
import { listAudit } from './list-audit.ts';
import { pushOperations } from './push-operations.ts';
import { type RepairOperationsDeps, repairOperations } from './repair/repair-operations.ts';
import { rotateKey } from './rotate-key.ts';
import { allowedTargetTexts, webhookOperations } from './webhook-operations.ts';

export interface AdminDeps extends RepairOperationsDeps {
  readonly limits: Limits;
  readonly allowedTargets: AllowedTargets;
  readonly instanceKey: KeyRing;
  /** Absent if the key comes from the environment. */
  readonly keyFile: string | undefined;
  /** Seals every saved configuration with the current key. */
  readonly sealDocuments: () => Promise<number>;
  readonly deletions: DeletionPause;
  readonly log: Log;
  /** The process's own status, for `status`. */
  readonly status: () => Promise<Readonly<Record<string, unknown>>>;
}

/** After this time, every request that began before a rotation has ended. */
const settleMs = 60_000;

export function createAdmin(deps: AdminDeps): Operations {
  const { db, limits, allowedTargets, instanceKey, keyFile, sealDocuments, deletions, clock, log } = deps;
  return {
    status: async () => ({
      ...(await addDamage(db, await deps.status())),
      instanceKey: instanceKey.current.id,
      instanceKeyPlace: keyFile === undefined ? 'environment' : 'file',
      deletionsHeld: deletions.held,
      allowedWebhookTargets: await allowedTargetTexts(allowedTargets, await storedOrganizations(db)),
      // Messages that failed permanently in the last 30 days.
      undeliveredWebhooks: (await countMessages(db, 'webhook')).failed,
      undeliveredMails: (await countMessages(db, 'email')).failed,
      undeliveredPushes: (await countMessages(db, 'push')).failed,
    }),
    'backup.hold': async (_params, connected) => {
      const hold = await deletions.hold();
      log.info('deletions are paused for a backup or a repair');
      const release = (): void => {
        hold[Symbol.dispose]();
        log.info('deletions resume');
      };
      if (connected.aborted) release();
      else connected.addEventListener('abort', release, { once: true });
      return {};
    },
    'limits.get': async ({ text }) => {
      const organizationId = text('organizationId');
      await requireOrganization(db, organizationId);
      return limitUsage(db, organizationId, limits.list(organizationId), clock.now());
    },
    'limits.set': async ({ text, optionalNumber, actor }) => {
      const organizationId = text('organizationId');
      await limits.set(organizationId, text('name'), optionalNumber('value') ?? null, actor, clock.now());
      return limitUsage(db, organizationId, limits.list(organizationId), clock.now());
    },
    'organizations.list': async () =>
      (await storedOrganizations(db)).map(({ id, name, created_ms: createdMs }) => ({ id, name, createdMs })),
    'organizations.create-owner-link': ({ text, optionalText, actor }) =>
      createOwnerLink(db, clock, text('organizationId'), optionalText('email'), actor),
    ...billingOperations(deps),
    ...pushOperations(deps),
    ...webhookOperations(deps),
    ...repairOperations(deps),
    'check-secrets': () => checkSecrets(db, instanceKey, sealedColumns),
    audit: ({ optionalText, optionalNumber }) =>
      listAudit(db, {
        organizationId: optionalText('organizationId'),
        before: optionalNumber('before'),
        limit: optionalNumber('limit'),
      }),
    'rotate-instance-key': async ({ flag, optionalText, actor }) => {
      const report = await rotateKey({
        db,
        instanceKey,
        keyFile,
        next: optionalText('next'),
        endSessions: flag('endSessions'),
        by: actor,
        now: clock.now,
      });
      await sealDocuments();
      const finish = async (): Promise<number> => {
        await sealDocuments();
        return finishRotation({ db, ring: instanceKey, columns: sealedColumns, file: keyFile });
      };
      // A running cloud may still write values that it sealed just before the rotation.
      if (deps.loadAgain === undefined) await finish();
      else
        void clock
          .sleep(settleMs)
          .then(finish)
          // On failure, the next start finishes the rotation.
          .catch((caught: unknown) =>
            log.error('the old instance key is still in the file', { error: errorText(caught) }),
          );
      return report;
    },
  };
}
