/** Deliveries as results. */
import { type Delivery, type DeliveryAttempt, DeliveryState, type JsonObject } from '@platform/sdk/cloud';
import { type Presenter, presenter, timeOf } from '../../results/presenters.ts';

export const deliveryStates: Readonly<Record<string, DeliveryState>> = {
  pending: DeliveryState.PENDING,
  paused: DeliveryState.PAUSED,
  delivered: DeliveryState.DELIVERED,
  kept: DeliveryState.KEPT,
  failed: DeliveryState.FAILED,
  cancelled: DeliveryState.CANCELLED,
};

export function stateName(state: DeliveryState): string {
  return Object.keys(deliveryStates).find((name) => deliveryStates[name] === state) ?? String(state);
}

export const channels: readonly string[] = ['webhook', 'email', 'push'];

export const attemptResult: Presenter<DeliveryAttempt> = presenter<DeliveryAttempt>({
  number: (one) => one.number,
  at: (one) => timeOf(one.at),
  duration_ms: (one) => one.durationMs,
  outcome: (one) => one.outcome,
  code: (one) => one.code || null,
  error: (one) => one.error || null,
  response: (one) => one.response || null,
});

export const deliveryResult: Presenter<Delivery> = presenter<Delivery>({
  id: (one) => one.id,
  created_at: (one) => timeOf(one.createdAt),
  machine: (one) => one.machineName || null,
  part: (one) => one.partName || null,
  trigger: (one) => one.triggerName,
  event_type: (one) => one.eventType,
  event_at: (one) => timeOf(one.eventAt),
  channel: (one) => one.channel,
  target: (one) => one.target,
  application: (one) => one.application || null,
  state: ({ state }) => stateName(state),
  finished_at: (one) => timeOf(one.finishedAt),
  next_attempt_at: (one) => timeOf(one.nextAttemptAt),
  waits_because: (one) => one.waitsBecause || null,
  part_id: (one) => one.partId,
  machine_id: (one) => one.machineId || null,
  attempts: (one) => one.attempts.map(attemptResult.shape),
});

/** The columns of a table. */
export function deliveryRow(one: Delivery): JsonObject {
  const last = one.attempts.at(-1);
  return {
    ...deliveryResult.shape(one),
    attempts: one.attempts.length,
    answer:
      one.waitsBecause ||
      (last && (last.error || keptText(last) || (last.code === 0 ? last.outcome : String(last.code)))) ||
      null,
  };
}

function keptText({ outcome, response }: DeliveryAttempt): string {
  return outcome === 'kept' ? response : '';
}
