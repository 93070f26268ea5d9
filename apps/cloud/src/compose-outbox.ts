/** Outgoing messages: webhooks, e-mail and push. Notifications for which no server or credentials are configured go to the test inbox. */
import { asStarted, type ClockAndLog, version } from '@platform/base';
import type { Billing } from './billing/feature.ts';
import type { Fleet, FleetDeps } from './compose-fleet.ts';
import type { Metrics } from './edge/metrics/metrics.ts';
import { addressesOfOwners, personOver, zoneOfMember } from './identity/notified-people.ts';
import type { DatabaseTransaction } from './metadata/tables.ts';
import type { Stores } from './open-stores.ts';
import { createEmailChannel, noServer } from './outbox/email/email-channel.ts';
import { createMail, type Mail } from './outbox/email/mail.ts';
import type { NotificationMailDeps } from './outbox/email/write-notifications.ts';
import { createOutbox, type Outbox } from './outbox/feature.ts';
import { createPushProvider, providerAddresses } from './outbox/push/provider.ts';
import { createPushChannel, noCredentials, ownApplication } from './outbox/push/push-channel.ts';
import type { TargetPolicy } from './outbox/webhook/target-guard.ts';
import { systemResolve, targetRefusal } from './outbox/webhook/target-refusal.ts';
import { createWebhookChannel, type WebhookChannelDeps } from './outbox/webhook/webhook-channel.ts';
import type { Settings } from './settings.ts';
import type { TestInbox } from './test-inbox/feature.ts';
import type { TargetStatesDeps } from './trigger-service/target-states.ts';

export interface OutboxWiringDeps
  extends Pick<Stores, 'db' | 'instanceKey'>,
    Pick<TargetPolicy, 'ownAddress' | 'loopback'>,
    Pick<WebhookChannelDeps, 'ownAuthority'>,
    ClockAndLog,
    Pick<FleetDeps, 'url'> {
  readonly fleet: Pick<Fleet, 'tree' | 'access' | 'accounts' | 'machines'>;
  readonly testInbox: () => Pick<TestInbox, 'keepMail' | 'keepPush'>;
  readonly billing: () => Pick<Billing, 'invoicePdf'>;
  readonly metrics: Pick<Metrics, 'observeAttempt'>;
  readonly settings: Pick<Settings, 'identity' | 'allowPrivateWebhookTargets' | 'command'>;
}

export interface Outgoing {
  /** The caller starts and disposes it. */
  readonly outbox: Outbox;
  /** Undefined: no mail server is configured. */
  readonly mail: Mail | undefined;
  readonly zoneOf: NotificationMailDeps['zoneOf'];
  readonly targetRefusal: TargetStatesDeps['targetRefusal'];
  readonly keptBecause: TargetStatesDeps['keptBecause'];
}

export function composeOutbox(deps: OutboxWiringDeps): Outgoing {
  const { db, instanceKey, fleet, settings, clock, log, ownAddress, ownAuthority, loopback } = deps;
  const { tree, access, accounts, machines } = fleet;
  const mailSettings = settings.identity.mail;
  const policy = {
    ownAddress,
    loopback,
    privateTargetsAllowed: settings.allowPrivateWebhookTargets,
    privateTargetsSetting: 'PLATFORM_WEBHOOK_ALLOW_PRIVATE',
    command: settings.command,
    resolve: systemResolve,
  };
  const zoneOf: Outgoing['zoneOf'] = async (organizationId, address) =>
    (await zoneOfMember(db, organizationId, address)) || tree.organization(organizationId)?.time_zone || 'UTC';
  const credentialsOf = async (organizationId: string, application: string): Promise<string | undefined> => {
    const uploaded = await accounts.pushConfiguration(organizationId);
    if (uploaded?.appId === application) return uploaded.credentials;
    return application === ownApplication ? accounts.hostPushCredentials() : undefined;
  };
  const outbox = createOutbox({
    db,
    instanceKey,
    clock,
    log: log.child('outbox'),
    channels: {
      webhook: createWebhookChannel({
        clock,
        instanceKey,
        version,
        policy,
        ownAuthority,
        signingSecrets: accounts.webhookSecrets,
      }),
      email: createEmailChannel({
        ...{ db, instanceKey, clock },
        settings: mailSettings,
        branding: async (organizationId) => {
          const { name = '', support_email: supportEmail = '' } = tree.organization(organizationId) ?? {};
          return { organizationName: name, supportEmail, logoUrl: await accounts.logoUrl(organizationId) };
        },
        zoneOf,
        publicUrl: () => settings.identity.publicUrl ?? deps.url(),
        keep: (mail) => deps.testInbox().keepMail(mail),
        invoicePdf: (organizationId, invoiceId) => deps.billing().invoicePdf(organizationId, invoiceId),
      }),
      push: createPushChannel({
        provider: createPushProvider({ clock, addresses: providerAddresses }),
        credentialsOf,
        recipientOf: async (address, { robotId }) => {
          const machine = access.lineageOf('machine', robotId);
          return machine && (await personOver(db, machine, address));
        },
        tokensOf: accounts.devicePushTokens,
        removeToken: accounts.removeDeadToken,
        keep: (push) => deps.testInbox().keepPush(push),
      }),
    },
    async ownersOf(trx: DatabaseTransaction, { robotId }) {
      const machine = access.lineageOf('machine', robotId);
      return machine === undefined ? [] : await addressesOfOwners(trx, machine);
    },
    organizationExists: (organizationId) => tree.organization(organizationId) !== undefined,
    appendMachineLog: machines.logs.appendOwn,
    observeAttempt: deps.metrics.observeAttempt,
  });
  return {
    outbox,
    zoneOf,
    mail: mailSettings && createMail({ outbox, instanceKey, clock }),
    targetRefusal: (url, organizationId) => targetRefusal(url, policy, organizationId, clock),
    async keptBecause(organizationId, { type, application }) {
      if (type === 'email') return mailSettings === undefined ? noServer : undefined;
      if (type !== 'push' || application !== ownApplication) return undefined;
      return (await credentialsOf(organizationId, application)) === undefined
        ? asStarted(noCredentials, settings.command)
        : undefined;
    },
  };
}
