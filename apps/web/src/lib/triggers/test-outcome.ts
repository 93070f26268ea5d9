/** What a test of a trigger came to, in a sentence for each of its deliveries. */
import { type Delivery, DeliveryState } from '@platform/proto/platform/app/v1/triggers';

export interface Outcome {
  readonly isGood: boolean;
  readonly text: string;
}

export function outcomesOf(deliveries: readonly Delivery[]): readonly Outcome[] {
  if (deliveries.length === 0) return [{ isGood: false, text: 'Nothing was sent: nobody is to be notified.' }];
  return deliveries.map((one) => ({ isGood: one.state === DeliveryState.DELIVERED, text: sentenceOf(one) }));
}

function sentenceOf({ state, channel, target, attempts, waitsBecause }: Delivery): string {
  const to = `The test ${channel} to ${target}`;
  const last = attempts.at(-1);
  const why = last?.error || (last?.code ? `the answer was ${last.code}` : '');
  switch (state) {
    case DeliveryState.DELIVERED:
      return `${to} was delivered${last?.code ? `, with ${last.code}` : ''}, in ${last?.durationMs ?? 0} ms.`;
    case DeliveryState.KEPT:
      // Keeping is no error: the response says why.
      return last?.response
        ? `${to} reached nobody: ${last.response}`
        : `${to} was kept in the test inbox; nobody got it.`;
    case DeliveryState.FAILED:
      return `${to} failed: ${why || 'no attempts are left'}`;
    case DeliveryState.PAUSED:
      return `${to} waits: ${waitsBecause || 'its target is paused'}`;
    default:
      return last === undefined
        ? `${to} has had no answer yet${waitsBecause ? `: ${waitsBecause}` : ''}.`
        : `${to} was not delivered, and is tried again: ${why}`;
  }
}
