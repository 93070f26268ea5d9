/** What happens to the notifications of a trigger at each of its targets, and the state of the trigger that follows from it (D45). */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { TargetState, type TriggerNotificationSchema, TriggerState } from '@platform/proto/platform/app/v1/triggers';
import { pausedTargets } from '../outbox/deliveries/paused-targets.ts';
import { allMachineOwners } from '../outbox/enqueue.ts';
import type { OutboxDatabase, OutboxTargetRow } from '../outbox/store.ts';
import { targetsOf } from '../outbox/target-states.ts';
import type { DescribedTrigger } from '../triggers/describe-triggers.ts';
import type { Notification } from '../triggers/trigger.ts';

export interface TargetStatesDeps {
  readonly db: OutboxDatabase;
  /** Why a webhook of the organization to this URL would be refused now; undefined: it would not, as far as is known. */
  readonly targetRefusal: (url: string, organizationId: string) => Promise<string | undefined>;
  /** Why notifications of this kind end in the test inbox; undefined: they are sent. */
  readonly keptBecause: (
    organizationId: string,
    notification: Pick<Notification, 'type' | 'application'>,
  ) => Promise<string | undefined>;
}

/** One target, as on the wire. */
export interface DescribedTarget {
  readonly state: TargetState;
  readonly reason: string;
  readonly last?: OutboxTargetRow;
  readonly deliveredAtMs?: number;
}

/** A request looks up the names of at most this many different targets. */
const maxLookups = 100;

/** The worst first. */
const order = [TargetState.REFUSED, TargetState.FAILING, TargetState.PAUSED, TargetState.KEPT] as const;
const statesOfRows = {
  delivered: TargetState.DELIVERED,
  kept: TargetState.KEPT,
  failing: TargetState.FAILING,
  refused: TargetState.REFUSED,
} as const;
const triggerStates: Readonly<Partial<Record<TargetState, TriggerState>>> = {
  [TargetState.REFUSED]: TriggerState.REFUSED,
  [TargetState.FAILING]: TriggerState.FAILING,
  [TargetState.PAUSED]: TriggerState.PAUSED,
  [TargetState.KEPT]: TriggerState.KEPT,
};

/** For the triggers of one organization during one request, which asks for nothing twice. */
export function createTargetStates(
  deps: TargetStatesDeps,
  organizationId: string,
): (partId: string, triggers: readonly DescribedTrigger[]) => Promise<readonly DescribedTarget[][]> {
  const refusals = new Map<string, Promise<string | undefined>>();
  const kept = new Map<string, Promise<string | undefined>>();
  let paused: Promise<ReadonlyMap<string, string>> | undefined;

  const refusalOf = async ({ type, value }: Notification): Promise<string | undefined> => {
    if (type !== 'webhook') return undefined;
    if (!refusals.has(value) && refusals.size < maxLookups)
      refusals.set(value, deps.targetRefusal(value, organizationId));
    return await refusals.get(value);
  };
  const keptBecause = async (notification: Notification): Promise<string | undefined> => {
    const key = `${notification.type} ${notification.application ?? ''}`;
    if (!kept.has(key)) kept.set(key, deps.keptBecause(organizationId, notification));
    return await kept.get(key);
  };
  const pauseOf = async ({ value }: Notification): Promise<string | undefined> => {
    paused ??= pausedTargets(deps.db, organizationId).then(
      (all) => new Map(all.map(({ target, reason }) => [target, reason])),
    );
    return (await paused).get(value);
  };

  const describe = async (notification: Notification, rows: readonly OutboxTargetRow[]): Promise<DescribedTarget> => {
    const last = worstOfLast(rows);
    const deliveredAtMs = Math.max(0, ...rows.map(({ delivered_at }) => delivered_at ?? 0));
    const seen = { ...(last && { last }), ...(deliveredAtMs > 0 && { deliveredAtMs }) };
    const refusal = await refusalOf(notification);
    if (refusal !== undefined) return { state: TargetState.REFUSED, reason: refusal, ...seen };
    const pause = await pauseOf(notification);
    if (pause !== undefined) return { state: TargetState.PAUSED, reason: pause, ...seen };
    const state = last === undefined ? TargetState.UNSPECIFIED : statesOfRows[last.state];
    const isBad = state === TargetState.REFUSED || state === TargetState.FAILING;
    const keeps = isBad ? undefined : await keptBecause(notification);
    if (keeps !== undefined) return { state: TargetState.KEPT, reason: keeps, ...seen };
    // What was kept earlier would be sent now.
    if (state === TargetState.KEPT) return { state: TargetState.UNSPECIFIED, reason: '', ...seen };
    return { state, reason: last?.reason ?? '', ...seen };
  };

  /** For each notification of each trigger of the part. */
  return async (partId: string, triggers: readonly DescribedTrigger[]): Promise<readonly DescribedTarget[][]> => {
    const rows = await targetsOf(deps.db, partId);
    return await Promise.all(
      triggers.map(({ name, notifications }) => {
        const own = rows.filter((row) => row.trigger_name === name);
        return Promise.all(
          notifications.map((notification) => describe(notification, rowsFor(notification, notifications, own))),
        );
      }),
    );
  };
}

/** The state of a trigger that can fire: that of the target for which it is worst. */
export function stateWith(targets: readonly DescribedTarget[]): TriggerState {
  const worst = order.find((state) => targets.some((one) => one.state === state));
  return (worst !== undefined && triggerStates[worst]) || TriggerState.WORKING;
}

/** Its fields of TriggerNotification. */
export function targetFields({
  state,
  reason,
  last,
  deliveredAtMs,
}: DescribedTarget): MessageInitShape<typeof TriggerNotificationSchema> {
  return {
    state,
    reason,
    ...(last && { lastAttemptAt: timestampFromMs(last.at), lastDeliveryId: last.message_id }),
    ...(deliveredAtMs !== undefined && { lastDeliveredAt: timestampFromMs(deliveredAtMs) }),
  };
}

/** `all_machine_owners` stands for every address that no other notification names. */
function rowsFor(
  { type, value }: Notification,
  all: readonly Notification[],
  rows: readonly OutboxTargetRow[],
): OutboxTargetRow[] {
  const ofType = rows.filter(({ channel }) => channel === type);
  if (value !== allMachineOwners) return ofType.filter(({ target }) => target === value);
  const named = new Set(all.filter((one) => one.type === type && one.value !== value).map((one) => one.value));
  return ofType.filter(({ target }) => !named.has(target));
}

/** Of the messages of the last event, which may be one for each owner. */
function worstOfLast(rows: readonly OutboxTargetRow[]): OutboxTargetRow | undefined {
  const newest = Math.max(...rows.map(({ message_at }) => message_at));
  const last = rows.filter(({ message_at }) => message_at === newest);
  const worst = order.find((state) => last.some((one) => statesOfRows[one.state] === state));
  return last.find((one) => worst === undefined || statesOfRows[one.state] === worst);
}
