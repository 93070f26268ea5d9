/**
 * Push notifications to the phones of a person, as a channel of the outbox. The recipient must own or operate the machine, and must have
 * accepted the app's notifications, which registered the phone's token.
 */
import { backoffMs, dataLoss } from '@platform/base';
import type { Channel, SendResult } from '../channel.ts';
import { allMachineOwners } from '../enqueue.ts';
import { type EventPlace, eventOf, type TriggerEvent } from '../event.ts';
import type { OutboxMessageRow } from '../store.ts';
import type { PushProvider, PushResult, ServiceAccount } from './provider.ts';
import { type PushMessageIds, pushMessage } from './push-message.ts';

/** The platform's own mobile app. */
export const ownApplication = 'com.platform.platformmobile';

export interface PushChannelDeps {
  readonly provider: PushProvider;
  /**
   * JSON of the service account that sends to the app: the organization's, or the host's for the platform's own app. undefined: there is
   * none.
   */
  readonly credentialsOf: (organizationId: string, application: string) => Promise<string | undefined>;
  /** Id of the person with this address, if they own or operate the machine. */
  readonly recipientOf: (address: string, place: EventPlace) => Promise<string | undefined>;
  readonly tokensOf: (personId: string, application: string) => Promise<readonly string[]>;
  readonly removeToken: (application: string, token: string) => Promise<void>;
  /** Keeps a notification in the test inbox. */
  readonly keep: (push: KeptPush) => void;
}

/** A notification in the test inbox. */
export interface KeptPush {
  readonly organizationId: string;
  readonly to: string;
  readonly messageId: string;
  readonly message: Readonly<Record<string, unknown>>;
}

const giveUpMs = 86_400_000;
export const noCredentials: string = `${ownApplication}: the host administrator has not set credentials for it; set them with platform admin push-config set`;

export function createPushChannel(deps: PushChannelDeps): Channel {
  return {
    maxInFlight: 16,
    maxPerTarget: 4,
    async send(row, signal) {
      const event = eventOf(row.event);
      const application = row.application ?? '';
      if (event === undefined) return rejected('the stored event cannot be read');
      const { target } = row;
      if (target === allMachineOwners)
        return rejected(
          'expected at least one person who owns the machine, its location or its organization, found none',
        );
      const personId = await deps.recipientOf(target, event.place);
      if (personId === undefined) return rejected('recipient is not a machine owner or operator');
      const ids = { id: row.id, triggerName: row.trigger_name, application };
      const credentials = await deps.credentialsOf(row.organization_id, application);
      if (credentials === undefined) return withoutCredentials(deps, row, event, ids);
      const tokens = await deps.tokensOf(personId, application);
      if (tokens.length === 0)
        return rejected(
          `recipient has not accepted push notifications of the application ${application} on any device`,
        );
      const account = accountOf(credentials);
      const results = await Promise.all(
        tokens.map(async (token) => {
          const result = await deps.provider.send(account, pushMessage(event, ids, token), signal);
          if (result.outcome === 'deadToken') await deps.removeToken(application, token);
          return result;
        }),
      );
      return overall(results);
    },
    waitMs: ({ attempts, ageMs, retryAfterMs = 0 }) =>
      ageMs > giveUpMs
        ? undefined
        : Math.max(
            Math.round(backoffMs(attempts, { firstMs: 5_000, maxMs: 3_600_000 })),
            Math.min(retryAfterMs, 3_600_000),
          ),
    [Symbol.dispose]: () => {},
  };
}

function withoutCredentials(
  deps: Pick<PushChannelDeps, 'keep'>,
  row: OutboxMessageRow,
  event: TriggerEvent,
  ids: PushMessageIds,
): SendResult {
  if (ids.application !== ownApplication)
    return rejected(
      `no credentials for the application ${ids.application} are uploaded; an owner of the organization uploads them with platform organizations push-config set`,
    );
  const { organization_id: organizationId, target: to, id: messageId } = row;
  deps.keep({ organizationId, to, messageId, message: pushMessage(event, ids, '') });
  return { outcome: 'accepted', kept: noCredentials, response: `kept in the test inbox: ${noCredentials}` };
}

/**
 * The overall result for all devices. As long as one may still receive the notification, it is sent again to all: phones that already have
 * it show it only once.
 */
function overall(results: readonly PushResult[]): SendResult {
  const failures = results.filter((one) => one.outcome !== 'accepted');
  const accepted = results.length - failures.length;
  const later = failures.find((one) => one.outcome === 'retryLater');
  if (later !== undefined) return { ...later, outcome: 'retryLater' };
  const text = [`sent to ${accepted} of ${results.length} devices`, ...failures.map(({ error }) => error)].join('; ');
  if (accepted > 0) return { outcome: 'accepted', code: 200, response: text };
  const code = failures[0]?.code;
  return { ...rejected(text), ...(code !== undefined && { code }) };
}

function rejected(error: string): SendResult & { outcome: 'rejected' } {
  return { outcome: 'rejected', error };
}

function accountOf(json: string): ServiceAccount {
  const { project_id, client_email, private_key } = JSON.parse(json) as Partial<ServiceAccount>;
  if (project_id && client_email && private_key) return { project_id, client_email, private_key };
  throw dataLoss('the stored credentials of the push provider cannot be read');
}
