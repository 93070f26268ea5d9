/** Deliveries in the palette. */
import type { Delivery } from '@platform/proto/platform/app/v1/triggers';
import { deliveryLook } from '../triggers/looks.ts';
import { dateOf, fullTime } from '../ui/time.ts';
import type { Named } from './find-named.ts';

/** Of one trigger of one machine: a noisy one must not hide the others. */
const mostOfOne = 3;

/** @param deliveries the newest first */
export function foundDeliveries(deliveries: readonly Delivery[]): readonly Named[] {
  const alike = Map.groupBy(deliveries, ({ machineId, triggerName }) => JSON.stringify([machineId, triggerName]));
  const shown = new Set([...alike.values()].flatMap((some) => some.slice(0, mostOfOne)));
  return deliveries.filter((one) => shown.has(one)).map(namedOf);
}

function namedOf({ id, triggerName, machineName, target, state, eventAt }: Delivery): Named {
  const what = `${triggerName || 'message'} of ${machineName || 'a deleted machine'}`;
  return {
    kind: 'delivery',
    name: `${what}, ${deliveryLook(state).word.toLowerCase()}, ${fullTime(dateOf(eventAt))}, to ${target}`,
    path: `deliveries?id=${encodeURIComponent(id)}`,
  };
}
