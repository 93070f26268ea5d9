/**
 * Recipients can stop an organization's notifications to their address (RFC 8058), without an account and at once, because anyone can put
 * any address into a trigger. The link in each mail is signed and needs no expiry: all it can do is stop mails to that address, or start
 * them again.
 */
import type { InstanceKey } from '../../instance/instance-key.ts';
import type { OutboxDatabase } from '../store.ts';

export const unsubscribePath = '/unsubscribe';

export interface Subscription {
  readonly organizationId: string;
  readonly address: string;
}

/** Path and query. */
export function unsubscribeLink(instanceKey: Pick<InstanceKey, 'sign'>, to: Subscription): string {
  const signature = instanceKey.sign(signedText(to));
  return `${unsubscribePath}?${new URLSearchParams({ organization: to.organizationId, address: to.address, signature })}`;
}

/** undefined: the link was not made by this cloud, was changed, or was signed with an instance key that has been replaced. */
export function readUnsubscribeLink(
  instanceKey: Pick<InstanceKey, 'verify'>,
  query: URLSearchParams,
): Subscription | undefined {
  const to = { organizationId: query.get('organization') ?? '', address: query.get('address') ?? '' };
  return instanceKey.verify(signedText(to), query.get('signature') ?? '') ? to : undefined;
}

function signedText({ organizationId, address }: Subscription): string {
  return `unsubscribe ${JSON.stringify([organizationId, address.toLowerCase()])}`;
}

/** When the recipient unsubscribed, ms; undefined: never. */
export async function unsubscribedAt(
  db: OutboxDatabase,
  { organizationId, address }: Subscription,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('outbox_unsubscribed')
    .select('at')
    .where('organization_id', '=', organizationId)
    .where('recipient', '=', address.toLowerCase())
    .executeTakeFirst();
  return row?.at;
}

export async function setSubscribed(
  db: OutboxDatabase,
  { organizationId, address }: Subscription,
  isSubscribed: boolean,
  nowMs: number,
): Promise<void> {
  const key = { organization_id: organizationId, recipient: address.toLowerCase() };
  if (isSubscribed) {
    await db
      .deleteFrom('outbox_unsubscribed')
      .where('organization_id', '=', key.organization_id)
      .where('recipient', '=', key.recipient)
      .execute();
  } else {
    await db
      .insertInto('outbox_unsubscribed')
      .values({ ...key, at: nowMs })
      .onConflict((conflict) => conflict.columns(['organization_id', 'recipient']).doNothing())
      .execute();
  }
}
