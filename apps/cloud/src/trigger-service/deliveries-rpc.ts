/** TriggerService: the messages that triggers sent, and the answers of their targets. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type DeliverySchema,
  DeliveryState,
  DeliveryStateSchema,
  type TriggerService,
} from '@platform/proto/platform/app/v1/triggers';
import { type CloudHandlers, grantsOf, notVisible, type Principal } from '../access/principal.ts';
import { describeRequest } from '../outbox/deliveries/describe-request.ts';
import {
  type Delivery,
  type DeliveryFilter,
  type DeliveryKey,
  listDeliveries,
  readDelivery,
  type WholeDelivery,
} from '../outbox/deliveries/list-deliveries.ts';
import { withoutSecrets } from '../outbox/failure-line.ts';
import { channelNames, type MessageState, type OutboxAttemptRow, type OutboxDatabase } from '../outbox/store.ts';
import { badPageToken, namesOf, quoted, refused, timeRange } from './request-fields.ts';
import { readScope, type ScopeDeps } from './scope.ts';

export interface DeliveriesRpcDeps extends ScopeDeps {
  readonly db: OutboxDatabase;
}

const defaultDeliveries = 50;
const maxDeliveries = 200;

const states: Readonly<Record<MessageState, DeliveryState>> = {
  pending: DeliveryState.PENDING,
  paused: DeliveryState.PAUSED,
  delivered: DeliveryState.DELIVERED,
  failed: DeliveryState.FAILED,
  cancelled: DeliveryState.CANCELLED,
};

export function deliveriesHandlers(deps: DeliveriesRpcDeps): CloudHandlers<typeof TriggerService> {
  const { db } = deps;
  return {
    async listDeliveries(request, call) {
      const scope = readScope(deps, call.principal, request.scope, 'ListDeliveries');
      const limit = Math.min(request.limit || defaultDeliveries, maxDeliveries);
      const filter = { ...scope, ...filterOf(request, 'ListDeliveries') };
      const found = await listDeliveries(db, filter, limit + 1, readToken(request.pageToken));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        deliveries: page.map(deliveryMessage),
        nextPageToken: found.length > limit && last !== undefined ? `${last.created_at}.${last.id}` : '',
      };
    },
    async getDelivery({ id }, call) {
      const delivery = await visibleDelivery(deps, call.principal, id);
      const request = describeRequest(delivery);
      return { delivery: deliveryMessage(delivery), ...(request && { request }) };
    },
  };
}

/** @throws not_found, even if it exists but the caller may not see it */
export async function visibleDelivery(
  { db, access }: DeliveriesRpcDeps,
  principal: Principal,
  id: string,
): Promise<WholeDelivery> {
  const organizationIds = [...new Set(grantsOf(principal).map(({ organizationId }) => organizationId))];
  const delivery = await readDelivery(db, id, organizationIds);
  if (delivery === undefined) throw notVisible('delivery', id);
  const { part_id: partId, organization_id: organizationId } = delivery;
  const sees =
    access.allows(principal, 'part.triggers', partId) ||
    // Deliveries of deleted parts are shown to operators of the organization.
    access.allows(principal, 'organization.read', organizationId);
  if (!sees) throw notVisible('delivery', id);
  return delivery;
}

/** @throws invalid_argument */
export function filterOf(
  request: {
    readonly triggerName: string;
    readonly states: readonly DeliveryState[];
    readonly channels: readonly string[];
    readonly start?: Timestamp | undefined;
    readonly end?: Timestamp | undefined;
  },
  operation: string,
): Omit<DeliveryFilter, 'organizationId' | 'partIds'> {
  const { triggerName } = request;
  const wanted = namesOf(operation, 'states', request.states, states, DeliveryStateSchema);
  const channels = request.channels.map((channel, index) => {
    const found = channelNames.find((one) => one === channel);
    if (found !== undefined) return found;
    throw refused(operation, `channels[${index}]`, `one of ${channelNames.join(', ')}`, quoted(channel));
  });
  return {
    ...(triggerName !== '' && { triggerName }),
    ...(wanted.length > 0 && { states: wanted }),
    ...(channels.length > 0 && { channels }),
    ...timeRange(request),
  };
}

export function deliveryMessage(one: Delivery): MessageInitShape<typeof DeliverySchema> {
  return {
    ...{ id: one.id, partId: one.part_id, triggerName: one.trigger_name, eventType: one.event_type },
    ...{ channel: one.channel, target: withoutSecrets(one.target), application: one.application ?? '' },
    state: states[one.state],
    eventAt: timestampFromMs(one.event_at),
    createdAt: timestampFromMs(one.created_at),
    ...(one.finished_at !== null && { finishedAt: timestampFromMs(one.finished_at) }),
    ...(one.state === 'pending' && { nextAttemptAt: timestampFromMs(one.next_attempt_at) }),
    attempts: one.attempts.map(attemptMessage),
  };
}

function attemptMessage({ attempt, at, duration_ms, outcome, code, error, response }: OutboxAttemptRow) {
  return {
    number: attempt,
    at: timestampFromMs(at),
    durationMs: duration_ms,
    outcome: outcome === 'retryLater' ? 'retry-later' : outcome,
    code: code ?? 0,
    error: error ?? '',
    response: response ?? '',
  };
}

function readToken(text: string): DeliveryKey | undefined {
  if (text === '') return undefined;
  const [, createdAtMs, id] = /^(\d{1,16})\.(msg_\w{1,64})$/.exec(text) ?? [];
  if (createdAtMs !== undefined && id !== undefined) return { createdAtMs: Number(createdAtMs), id };
  throw badPageToken('ListDeliveries', text);
}
