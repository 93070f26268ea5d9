/**
 * Random orders of equal charges, with and without a key, of lost answers, crashes, outcomes of payments and hours that pass, compared with
 * a model of D44.
 */
import { PlatformError } from '@platform/base';
import { TestCard } from '@platform/proto/platform/billing/v1/billing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TestBilling } from '../testing/open-billing.ts';
import { attach, charge, expectLedgerInOrder, openCharges } from '../testing/open-charges.ts';
import { type Outcome, type PaymentProvider, testProvider } from './provider.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('charge' as const),
      name: fc.constantFrom('a', 'b'),
      isKeyed: fc.constantFrom(false, false, true),
      times: fc.constantFrom(1, 1, 3),
      ends: fc.constantFrom('delivered', 'delivered', 'lost', 'crash'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('outcome' as const),
      which: fc.nat(3),
      kind: fc.constantFrom('succeeded' as const, 'failed' as const),
      isLost: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(minuteMs, 2 * minuteMs - 1, 2 * minuteMs, 60 * minuteMs, dayMs - 1, dayMs),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The last charge of its name. */
interface First {
  readonly invoiceId: string;
  readonly atMs: number;
  readonly answeredMs: number | undefined;
}

interface World {
  readonly on: TestBilling;
  /** By name; keyed ones have their own. */
  readonly firsts: Map<string, First>;
  /** The newest attempt of each invoice. */
  readonly payments: Map<string, { readonly state: 'pending' | 'succeeded' | 'failed'; readonly sinceMs: number }>;
  /** What the provider knows, by attempt. */
  readonly outcomes: Map<string, Outcome>;
  readonly faults: { isLost: boolean; isCrashing: boolean };
}

async function open(): Promise<World> {
  const outcomes: World['outcomes'] = new Map();
  const faults = { isLost: false, isCrashing: false };
  const provider: PaymentProvider = {
    ...testProvider,
    async settle({ id }) {
      if (faults.isLost) throw new Error('connection reset');
      return outcomes.get(id) ?? { kind: 'unknown' };
    },
  };
  const wake = (): void => {
    if (faults.isCrashing) throw new Error('the process crashed');
  };
  const on = await openCharges(provider, { enqueue: async () => {}, wake });
  await attach(on, TestCard.SUCCEEDS);
  return { on, firsts: new Map(), payments: new Map(), outcomes, faults };
}

/** What D44 says about a charge: refused, another one, or the invoice that it returns. */
function expected({ on, firsts, payments }: World, name: string, isKeyed: boolean): 'refused' | 'another' | First {
  const first = firsts.get(name);
  if (first === undefined) return 'another';
  const nowMs = on.clock.now();
  if (isKeyed) return nowMs < first.atMs + dayMs ? first : 'another';
  const payment = payments.get(first.invoiceId);
  if (payment?.state === 'pending') return 'refused';
  if (payment?.state === 'failed' && nowMs < payment.sinceMs + dayMs) return first;
  const answeredMs = first.answeredMs;
  const isRefused = answeredMs === undefined ? nowMs < first.atMs + dayMs : nowMs < answeredMs + 2 * minuteMs;
  return isRefused ? 'refused' : 'another';
}

/** Makes the charge, several times at once, and compares the answers with the model. */
async function makeCharge(
  world: World,
  { name, isKeyed, times, ends }: Extract<Step, { do: 'charge' }>,
): Promise<void> {
  const { on, firsts, payments, faults } = world;
  const key = isKeyed ? `key of ${name}` : name;
  const before = expected(world, key, isKeyed);
  const known = new Set(payments.keys());
  faults.isCrashing = ends === 'crash';
  const metadata: Record<string, string> = isKeyed ? { 'idempotency-key': name } : {};
  const asking = { metadata, isDelivered: ends === 'delivered' };
  const answers = await Promise.allSettled(
    Array.from({ length: times }, () => charge(on, { description: isKeyed ? '' : name }, asking)),
  );
  faults.isCrashing = false;
  const refused = answers.filter(({ status, ...end }) => status === 'rejected' && isRefusal(end));
  // Of simultaneous charges without a key, one is made.
  expect(refused).toHaveLength(isKeyed ? 0 : before === 'refused' ? times : times - 1);
  for (const { reason } of refused as PromiseRejectedResult[])
    if (typeof before === 'object' || before === 'refused')
      expect(reason.message).toContain(`invoice ${firsts.get(key)?.invoiceId}: `);
  const listed = await on.db.selectFrom('invoices').select('id').execute();
  const added = listed.map(({ id }) => id).filter((id) => !known.has(id));
  expect(added).toHaveLength(before === 'another' ? 1 : 0);
  if (before === 'refused') return;
  const invoiceId = before === 'another' ? (added[0] ?? '') : before.invoiceId;
  for (const end of answers) if (end.status === 'fulfilled') expect(end.value.invoiceId).toBe(invoiceId);
  if (isKeyed && before !== 'another') return;
  const nowMs = on.clock.now();
  firsts.set(key, { invoiceId, atMs: nowMs, answeredMs: ends === 'delivered' ? nowMs : undefined });
  payments.set(invoiceId, { state: 'pending', sinceMs: nowMs });
}

function isRefusal(end: object): boolean {
  return 'reason' in end && end.reason instanceof PlatformError && end.reason.code === 'already_exists';
}

/** The provider decides about a pending attempt; its first answer may be lost. */
async function decide(world: World, { which, kind, isLost }: Extract<Step, { do: 'outcome' }>): Promise<void> {
  const { on, payments, outcomes, faults } = world;
  const pending = [...payments].filter(([, { state }]) => state === 'pending');
  const [invoiceId] = pending[which % Math.max(1, pending.length)] ?? [];
  if (invoiceId === undefined) return;
  const { id } = await on.db
    .selectFrom('charges')
    .select('id')
    .where('invoice_id', '=', invoiceId)
    .where('state', '=', 'pending')
    .executeTakeFirstOrThrow();
  outcomes.set(id, kind === 'failed' ? { kind, reason: 'declined' } : { kind });
  for (const lost of isLost ? [true, false] : [false]) {
    faults.isLost = lost;
    await on.db.updateTable('charges').set({ next_ask_ms: 0 }).where('id', '=', id).execute();
    await on.billing.jobs.settle(new AbortController().signal);
  }
  payments.set(invoiceId, { state: kind, sinceMs: on.clock.now() });
}

test('D44 any order of equal charges, keys, lost answers, crashes and outcomes does what the rule says, and pays each invoice once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      const world = await open();
      const { on, payments } = world;
      for (const one of steps) {
        if (one.do === 'charge') await makeCharge(world, one);
        if (one.do === 'outcome') await decide(world, one);
        if (one.do === 'wait') on.clock.setWall(on.clock.now() + one.ms);
      }
      const listed = await on.db.selectFrom('invoices').select(['id', 'state']).execute();
      expect(Object.fromEntries(listed.map(({ id, state }) => [id, state]))).toEqual(
        Object.fromEntries([...payments].map(([id, { state }]) => [id, state === 'succeeded' ? 'paid' : 'open'])),
      );
      const paid = await on.db.selectFrom('charges').select('invoice_id').where('state', '=', 'succeeded').execute();
      expect(new Set(paid.map((row) => row.invoice_id)).size).toBe(paid.length);
      await expectLedgerInOrder(on);
    }),
    { numRuns: 15 },
  );
});
