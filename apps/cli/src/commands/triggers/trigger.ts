/** Triggers as results. */
import { type JsonObject, type Trigger, TriggerState } from '@platform/sdk/cloud';
import { type Presenter, presenter, timeOf } from '../../results/presenters.ts';

export const triggerStates: Readonly<Record<string, TriggerState>> = {
  working: TriggerState.WORKING,
  disabled: TriggerState.DISABLED,
  broken: TriggerState.BROKEN,
};

export const triggerResult: Presenter<Trigger> = presenter<Trigger>({
  name: (one) => one.name || null,
  part: (one) => `${one.machineName}/${one.partName}`,
  event_type: (one) => one.eventType || null,
  state: (one) => Object.keys(triggerStates).find((name) => triggerStates[name] === one.state) ?? String(one.state),
  last_fired_at: (one) => timeOf(one.lastFiredAt),
  problems: (one) => one.problems.map(({ severity, path, message }) => ({ severity, path, message })),
  event: (one) => one.event ?? null,
  notifications: (one) => one.notifications.map(notificationOf),
  path: (one) => one.path,
  part_id: (one) => one.partId,
  machine_id: (one) => one.machineId,
});

function notificationOf(one: Trigger['notifications'][number]): JsonObject {
  return {
    channel: one.channel,
    target: one.target,
    interval_seconds: one.intervalSeconds,
    application: one.application || null,
    has_basic_auth: one.hasBasicAuth,
  };
}

/** The columns of a table. */
export function triggerRow(one: Trigger): JsonObject {
  return {
    ...triggerResult.shape(one),
    targets: one.notifications.map(({ channel, target }) => `${channel} ${target}`).join(', '),
    problem: one.problems[0]?.message ?? null,
  };
}
