/** Webhooks as a channel of the outbox (D23): sends the signed request of the event to the configured URL. */
import { notFound } from '@platform/base';
import type { InstanceKey } from '../../instance/instance-key.ts';
import type { Channel } from '../channel.ts';
import { coalesce } from '../coalesce.ts';
import { eventOf, type TriggerEvent } from '../event.ts';
import type { OutboxMessageRow } from '../store.ts';
import { scheduleMs, waitMs } from './classify.ts';
import { createWebhookSender, type OutgoingRequest, type WebhookSenderDeps } from './send-webhook.ts';
import { sign } from './sign.ts';
import { webhookRequest } from './webhook-request.ts';

export interface WebhookChannelDeps extends Pick<WebhookSenderDeps, 'clock' | 'ownAuthority' | 'policy'> {
  /** Decrypts the passwords of targets. */
  readonly instanceKey: Pick<InstanceKey, 'decrypt'>;
  /** `whsec_` and base64: the keys that sign the organization's webhooks, the current one first. Empty: the organization does not exist. */
  readonly signingSecrets: (organizationId: string) => Promise<readonly string[]>;
  /** Version of the platform, for User-Agent. */
  readonly version: string;
}

export function createWebhookChannel(deps: WebhookChannelDeps): Channel {
  const { clock, instanceKey, signingSecrets, version, ownAuthority, policy } = deps;
  const sender = createWebhookSender({ clock, ownAuthority, policy });
  const secretsOf = coalesce(async (organizationIds: readonly string[]) => {
    const all = [...new Set(organizationIds)].map(async (id) => [id, await signingSecrets(id)] as const);
    return new Map(await Promise.all(all));
  });

  return {
    maxInFlight: 256,
    maxPerTarget: 4,
    breaksCircuits: true,
    longestWaitMs: scheduleMs,
    async send(message, signal) {
      const event = eventOf(message.event);
      if (event === undefined) return { outcome: 'rejected', error: 'the stored event cannot be read' };
      const authorization = authorizationOf(message, instanceKey);
      if (authorization === undefined)
        return { outcome: 'rejected', error: 'the stored password for the target cannot be opened' };
      const timestamp = Math.floor(clock.now() / 1_000);
      const secrets = (await secretsOf(message.organization_id)).get(message.organization_id) ?? [];
      if (secrets.length === 0) throw notFound('its organization was deleted');
      return sender.send(signedRequest(message, event, { authorization, secrets, timestamp, version }), signal);
    },
    waitMs: ({ attempts, retryAfterMs }) => waitMs(attempts, retryAfterMs),
    [Symbol.dispose]: () => sender[Symbol.dispose](),
  };
}

function signedRequest(
  { id, target, organization_id: organizationId }: OutboxMessageRow,
  event: TriggerEvent,
  by: {
    readonly authorization: string | null;
    readonly secrets: readonly string[];
    readonly timestamp: number;
    readonly version: string;
  },
): OutgoingRequest {
  const { method, headers, body } = webhookRequest(event);
  return {
    url: target,
    organizationId,
    method,
    body,
    headers: {
      ...headers,
      'User-Agent': `platform/${by.version}`,
      'webhook-id': id,
      'webhook-timestamp': String(by.timestamp),
      'webhook-signature': by.secrets.map((secret) => sign(secret, id, by.timestamp, body)).join(' '),
      ...(method === 'POST' && { 'Content-Length': String(Buffer.byteLength(body)) }),
      ...(by.authorization !== null && { Authorization: by.authorization }),
    },
  };
}

/** null: the target needs none. undefined: it cannot be decrypted, and the message must still be finished. */
function authorizationOf(
  { sealed }: OutboxMessageRow,
  instanceKey: Pick<InstanceKey, 'decrypt'>,
): string | null | undefined {
  if (sealed === null) return null;
  try {
    return instanceKey.decrypt(sealed);
  } catch {
    return undefined;
  }
}
