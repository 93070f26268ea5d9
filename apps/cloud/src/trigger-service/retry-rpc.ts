/** TriggerService: sends deliveries again. */
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type Clock, failedPrecondition } from '@platform/base';
import { DeliveryState, type TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { type AuditTarget, audit } from '../access/audit.ts';
import type { CloudHandlers } from '../access/principal.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { PartTriggers } from '../machines/configuration/triggers-of.ts';
import type { Database } from '../metadata/tables.ts';
import type { DeliveryRow } from '../outbox/deliveries/list-deliveries.ts';
import {
  deliveriesBetween,
  makeDeliveryDue,
  type RetriedDelivery,
  retryDeliveries,
} from '../outbox/deliveries/retry-deliveries.ts';
import { sealedAuthorization } from '../outbox/enqueue.ts';
import type { Outbox } from '../outbox/feature.ts';
import { describeTriggers } from '../triggers/describe-triggers.ts';
import type { Notification } from '../triggers/trigger.ts';
import { type DeliveriesRpcDeps, deliveryMessages, filterOf, visibleDelivery } from './deliveries-rpc.ts';
import { refused } from './request-fields.ts';
import { ownedScope } from './scope.ts';

export interface RetryRpcDeps extends DeliveriesRpcDeps {
  readonly db: Database;
  readonly instanceKey: Pick<InstanceKey, 'encrypt'>;
  /** Undefined: the part does not exist. */
  readonly configOf: (partId: string) => Promise<PartTriggers | undefined>;
  readonly outbox: Pick<Outbox, 'wake' | 'obstacleOf'>;
  readonly clock: Pick<Clock, 'now'>;
}

const defaultReplayed = 1_000;
const maxReplayed = 10_000;
const replayable: ReadonlySet<DeliveryState> = new Set([
  DeliveryState.FAILED,
  DeliveryState.KEPT,
  DeliveryState.DELIVERED,
]);

export function retryHandlers(deps: RetryRpcDeps): CloudHandlers<typeof TriggerService> {
  const { db, access, outbox, clock } = deps;
  return {
    async retryDelivery({ id }, call) {
      const delivery = await visibleDelivery(deps, call.principal, id);
      const { part_id: partId, organization_id: organizationId, state } = delivery;
      if (access.lineageOf('part', partId) === undefined)
        access.authorize(call.principal, 'organization.manage', organizationId);
      else access.authorize(call.principal, 'part.manage', partId);
      if (state === 'paused' || state === 'cancelled')
        throw failedPrecondition(
          `delivery ${id}: expected one that is delivered, kept, failed or pending, found it ${state}${state === 'paused' ? ': it is sent when its target is resumed' : ''}`,
        );
      const retried = await withAuthorization(deps, [delivery]);
      const nowMs = clock.now();
      await db.transaction().execute(async (trx) => {
        if (state === 'pending') await makeDeliveryDue(trx, id, nowMs);
        else await retryDeliveries(trx, retried, nowMs);
        await audit(trx, call, nowMs, 'TriggerService.RetryDelivery', ['delivery', id, organizationId], { partId });
      });
      outbox.wake();
      const [shown] = await deliveryMessages(deps, organizationId, [await visibleDelivery(deps, call.principal, id)]);
      return shown === undefined ? {} : { delivery: shown };
    },
    async replayDeliveries(request, call) {
      const scope = ownedScope(deps, call.principal, request.scope, 'ReplayDeliveries');
      const limit = Math.min(request.maxDeliveries || defaultReplayed, maxReplayed);
      const { start } = request;
      if (start === undefined) throw refused('ReplayDeliveries', 'start', 'the beginning of the time range', 'nothing');
      const index = request.states.findIndex((one) => !replayable.has(one));
      if (index >= 0)
        throw refused(
          'ReplayDeliveries',
          `states[${index}]`,
          'DELIVERY_STATE_FAILED, DELIVERY_STATE_KEPT or DELIVERY_STATE_DELIVERED',
          String(request.states[index]),
        );
      const states = request.states.length === 0 ? [DeliveryState.FAILED] : request.states;
      const nowMs = clock.now();
      const filter = { endMs: nowMs, ...filterOf({ ...request, states }, 'ReplayDeliveries'), ...scope };
      const found = await deliveriesBetween(db, filter, limit + 1);
      if (request.dryRun) return { deliveries: found.length };
      if (found.length > limit)
        throw failedPrecondition(
          `ReplayDeliveries: expected at most ${limit} deliveries, found more; name a shorter time range, or more as max_deliveries (at most ${maxReplayed})`,
        );
      const retried = await withAuthorization(deps, found);
      await db.transaction().execute(async (trx) => {
        await retryDeliveries(trx, retried, nowMs);
        await audit(
          trx,
          call,
          nowMs,
          'TriggerService.ReplayDeliveries',
          targetOf(request.scope, scope.organizationId),
          {
            deliveries: found.length,
            states: filter.states ?? [],
            ...{ start: isoOf(timestampMs(start)), end: isoOf(filter.endMs) },
            ...(filter.triggerName !== undefined && { trigger: filter.triggerName }),
            ...(filter.channels && { channels: filter.channels }),
          },
        );
      });
      outbox.wake();
      return { deliveries: found.length };
    },
  };
}

/**
 * Finished messages no longer have the user name and password of their target: those currently in the trigger are used. If the trigger has
 * no notification to this target, none are sent, and the target decides.
 */
async function withAuthorization(
  { configOf, instanceKey }: RetryRpcDeps,
  deliveries: readonly DeliveryRow[],
): Promise<RetriedDelivery[]> {
  const notifications = new Map<string, readonly (Notification & { readonly trigger: string })[]>();
  const sealed = new Map<Notification, Uint8Array | null>();
  const retried: RetriedDelivery[] = [];
  for (const { id, part_id: partId, trigger_name: trigger, channel, target } of deliveries) {
    let ofPart = notifications.get(partId);
    if (ofPart === undefined) {
      const config = await configOf(partId);
      ofPart = (config === undefined ? [] : describeTriggers(config)).flatMap((one) =>
        one.notifications.map((notification) => ({ ...notification, trigger: one.name })),
      );
      notifications.set(partId, ofPart);
    }
    const found = ofPart.find((one) => one.trigger === trigger && one.type === channel && one.value === target);
    if (found !== undefined && !sealed.has(found)) sealed.set(found, sealedAuthorization(found.basicAuth, instanceKey));
    retried.push({ id, sealed: (found && sealed.get(found)) ?? null });
  }
  return retried;
}

type Asked = Parameters<typeof ownedScope>[2];

function targetOf(asked: Asked, organizationId: string): AuditTarget {
  const kind = {
    organizationId: 'organization',
    locationId: 'location',
    machineId: 'machine',
    partId: 'part',
  } as const;
  return asked.case === undefined
    ? ['organization', organizationId, organizationId]
    : [kind[asked.case], asked.value, organizationId];
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
