/** TriggerService: the messages that triggers sent, and the answers of their targets. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { getOrInsert } from '@platform/base';
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
  type DeliveryRow,
  readDelivery,
  type WholeDelivery,
} from '../outbox/deliveries/list-deliveries.ts';
import { pauseReasons } from '../outbox/deliveries/paused-targets.ts';
import { countDeliveries, searchDeliveries } from '../outbox/deliveries/search-deliveries.ts';
import type { NotificationMailDeps } from '../outbox/email/write-notifications.ts';
import { type EventPlace, eventOf } from '../outbox/event.ts';
import { withoutSecrets } from '../outbox/failure-line.ts';
import type { Outbox } from '../outbox/feature.ts';
import { outcomeWords } from '../outbox/outcome-words.ts';
import { channelNames, type MessageState, type OutboxAttemptRow, type OutboxDatabase } from '../outbox/store.ts';
import { badPageToken, namesOf, quoted, refused, timeRange } from './request-fields.ts';
import { readScope, type ScopeDeps } from './scope.ts';
import { nextAttemptMs, waitsBecause } from './waiting.ts';

export interface DeliveriesRpcDeps extends ScopeDeps {
  readonly db: OutboxDatabase;
  readonly outbox: Pick<Outbox, 'obstacleOf'>;
  readonly zoneOf: NotificationMailDeps['zoneOf'];
  readonly placeOf: (partId: string) => EventPlace | undefined;
}

const defaultDeliveries = 50;
const maxDeliveries = 200;
const maxText = 256;

const states: Readonly<Record<MessageState, DeliveryState>> = {
  pending: DeliveryState.PENDING,
  paused: DeliveryState.PAUSED,
  delivered: DeliveryState.DELIVERED,
  kept: DeliveryState.KEPT,
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
      const matches = matcherOf(deps, request.text);
      const { deliveries, after } = await searchDeliveries(db, filter, matches, limit, readToken(request.pageToken));
      const { states: _states, ...ofAllStates } = filter;
      const counts = request.withCounts ? await countDeliveries(db, ofAllStates, matches) : undefined;
      return {
        deliveries: await deliveryMessages(deps, scope.organizationId, deliveries),
        nextPageToken: after === undefined ? '' : `${after.createdAtMs}.${after.id}`,
        counts: [...(counts?.byState ?? [])].map(([state, count]) => ({ state: states[state], deliveries: count })),
        countsArePartial: counts?.isPartial === true,
      };
    },
    async getDelivery({ id }, call) {
      const delivery = await visibleDelivery(deps, call.principal, id);
      const request = describeRequest(delivery, await deps.zoneOf(delivery.organization_id, delivery.target));
      const [message] = await deliveryMessages(deps, delivery.organization_id, [delivery]);
      const machineName = message?.machineName || eventOf(delivery.event)?.place?.robotName || '';
      return { delivery: { ...message, machineName }, ...(request && { request }) };
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

/** @param text of a request @throws invalid_argument */
function matcherOf({ placeOf }: DeliveriesRpcDeps, text: string): ((row: DeliveryRow) => boolean) | undefined {
  if (text.length > maxText)
    throw refused('ListDeliveries', 'text', `at most ${maxText} characters`, String(text.length));
  const wanted = comparable(text.trim());
  if (wanted === '') return undefined;
  const placesOf = new Map<string, string>();
  return (row) => {
    const place = getOrInsert(placesOf, row.part_id, (partId) => {
      const { robotName = '', partName = '' } = placeOf(partId) ?? {};
      return comparable(`${robotName}\n${partName}`);
    });
    if (place.includes(wanted)) return true;
    const own = [row.trigger_name, withoutSecrets(row.target), row.event_type, row.id];
    return own.some((one) => comparable(one).includes(wanted));
  };
}

function comparable(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** @param all of the organization */
export async function deliveryMessages(
  { db, outbox, placeOf }: Pick<DeliveriesRpcDeps, 'db' | 'outbox' | 'placeOf'>,
  organizationId: string,
  all: readonly Delivery[],
): Promise<MessageInitShape<typeof DeliverySchema>[]> {
  const paused = all.filter(({ state }) => state === 'paused').map(({ target }) => target);
  const reasons = await pauseReasons(db, organizationId, paused);
  return all.map((one) => {
    const obstacle = one.state === 'pending' ? outbox.obstacleOf(one) : undefined;
    const place = placeOf(one.part_id);
    return {
      ...deliveryMessage(one),
      ...(place && { partName: place.partName, machineId: place.robotId, machineName: place.robotName }),
      waitsBecause: waitsBecause(one, obstacle, reasons.get(one.target)),
      ...(one.state === 'pending' && { nextAttemptAt: timestampFromMs(nextAttemptMs(one, obstacle)) }),
    };
  });
}

function deliveryMessage(one: Delivery): MessageInitShape<typeof DeliverySchema> {
  return {
    ...{ id: one.id, partId: one.part_id, triggerName: one.trigger_name, eventType: one.event_type },
    ...{ channel: one.channel, target: withoutSecrets(one.target), application: one.application ?? '' },
    state: states[one.state],
    eventAt: timestampFromMs(one.event_at),
    createdAt: timestampFromMs(one.created_at),
    ...(one.finished_at !== null && { finishedAt: timestampFromMs(one.finished_at) }),
    attempts: one.attempts.map(attemptMessage),
  };
}

function attemptMessage({ attempt, at, duration_ms, outcome, code, error, response }: OutboxAttemptRow) {
  return {
    number: attempt,
    at: timestampFromMs(at),
    durationMs: duration_ms,
    outcome: outcomeWords[outcome],
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
