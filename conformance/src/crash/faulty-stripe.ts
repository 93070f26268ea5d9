/** A faulty Stripe: answers are lost, late or errors, and events are lost, late, repeated and reordered. */
import { type FakeStripe, startFakeStripe } from '@platform/testkit';
import { pauseMs } from './cloud-under-load.ts';

export interface StripeUnderFire extends AsyncDisposable {
  readonly far: FakeStripe;
  /** Settings for the cloud. */
  readonly env: Readonly<Record<string, string>>;
  /** Starts to decide about payments, and to send events to the cloud. */
  start(cloudUrl: string): void;
}

/** The cloud checks each event with Stripe before it accepts it; one after the other, many events would take minutes. */
const sendersAtOnce = 8;

/** @param random a number in [from, to) */
export async function startStripeUnderFire(random: (from: number, to: number) => number): Promise<StripeUnderFire> {
  const far = await startFakeStripe();
  const chance = (percent: number): boolean => random(0, 100) < percent;
  far.faults = async () => {
    if (chance(10)) await pauseMs(random(0, 500));
    if (chance(70)) return 'none';
    return (['lost-request', 'lost-answer', 'failed-answer'] as const)[Math.floor(random(0, 3))] ?? 'none';
  };
  let isOver = false;
  let running: Promise<unknown> | undefined;
  // Like Stripe, sends events again that were not accepted.
  const lost: ReturnType<FakeStripe['takeEvents']> = [];
  const decide = async (): Promise<void> => {
    while (!isOver) {
      await pauseMs(random(20, 200));
      for (const { id, status } of far.payments.values())
        if (status === 'processing' && chance(30)) far.confirm(id, true);
    }
  };
  const send = async (url: string): Promise<void> => {
    while (!isOver) {
      await pauseMs(random(20, 200));
      const waiting = [...lost.splice(0), ...far.takeEvents()].toSorted(() => random(-1, 1));
      // While the cloud is down, the first attempts of a round show it.
      let isDown = false;
      const sendNext = async (): Promise<void> => {
        for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) {
          let isTaken = false;
          for (let times = chance(20) ? 2 : 1; times > 0 && !isDown && !isOver; times--) {
            if (chance(20)) continue;
            const answer = await answerTo(url, event);
            isTaken ||= answer === 'taken';
            isDown ||= answer === 'none';
          }
          // Once, however often it was sent: those that were sent twice would otherwise multiply while the cloud is down.
          if (!isTaken) lost.push(event);
        }
      };
      await Promise.all(Array.from({ length: sendersAtOnce }, sendNext));
    }
  };
  return {
    far,
    env: {
      ...{ PLATFORM_PAYMENT_PROVIDER: 'stripe', PLATFORM_STRIPE_API_URL: far.url },
      ...{ PLATFORM_STRIPE_SECRET_KEY: far.secretKey, PLATFORM_STRIPE_WEBHOOK_SECRET: far.webhookSecret },
    },
    start(url) {
      running = Promise.all([decide(), send(url)]);
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await running;
      await far[Symbol.asyncDispose]();
    },
  };
}

/** @returns `none` if the cloud is down or being killed */
function answerTo(
  url: string,
  { body, signature }: { readonly body: string; readonly signature: string },
): Promise<'taken' | 'refused' | 'none'> {
  return fetch(`${url}/webhooks/stripe`, { method: 'POST', body, headers: { 'stripe-signature': signature } }).then(
    async (response) => {
      await response.text();
      return response.ok ? 'taken' : 'refused';
    },
    () => 'none',
  );
}
