/**
 * Charges under faults, in process: random orders of calls, repeats, crashes of the store between two statements and after a commit, lost
 * answers, and confirmations that are repeated, late or reordered. `npm run fault -- billing` runs 10,000 of them.
 */
import { PlatformError, silentLog } from '@platform/base';
import { TestCard } from '@platform/proto/platform/billing/v1/billing';
import { faultProgress, reportFault, rollingSeed } from '@platform/testkit';
import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { callOf } from '../../access/testing/call-of.ts';
import { defaultStore } from '../../metadata/testing/test-store.ts';
import { createMail } from '../../outbox/email/mail.ts';
import { type Billing, createBilling } from '../feature.ts';
import { createInvoiceMails } from '../invoices/mails.ts';
import { checkLedger } from '../ledger/check-ledger.ts';
import { changeAccount } from '../prices/accounts.ts';
import { openBilling, prices, type TestBilling } from '../testing/open-billing.ts';
import { type Charge, type Outcome, type PaymentProvider, testProvider } from './provider.ts';

// Others at each run; fewer on the slower store, which runs the same code.
const runs = Number(process.env['FAULT_INTERLEAVINGS'] ?? (defaultStore === 'postgres' ? 25 : 100));
const seed = rollingSeed();
const { signal } = new AbortController();
const minuteMs = 60_000;

interface Faults {
  /** Statements until the store crashes; negative: no crash. */
  statements: number;
  /** The next commit succeeds, and the process crashes before it reports this. */
  afterCommit: boolean;
  /** Answers of the provider are lost in transit. */
  isLost: boolean;
  crashes: number;
  lost: number;
}

interface World {
  readonly on: TestBilling;
  readonly billing: Billing;
  readonly faults: Faults;
  /** What the provider knows by the id of the attempt, in the order in which it learned of the attempts. */
  readonly known: Map<string, Outcome>;
}

/** Numbers from 0 to below `limit`; the same seed gives the same numbers. */
function numbers(from: number): (limit: number) => number {
  let state = from | 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

async function open(): Promise<World> {
  const on = await openBilling();
  const tiers = [{ name: 'standard', in_arrears: true, per_machine: '10' }];
  const document = JSON.stringify({ currency: 'USD', payment_days: 30, tiers });
  await on.ask(on.owners.biller, prices.setPriceList, { organizationId: on.billerId, document });
  const change = { billerId: on.billerId, tier: 'standard', billingEmail: 'bills@example.com' };
  const admin = { kind: 'admin', name: 'root' } as const;
  await changeAccount(on.db, admin, 'admin.billing.assign', on.clock.now(), on.customerId, change);
  const faults: Faults = { statements: -1, afterCommit: false, isLost: false, crashes: 0, lost: 0 };
  const known = new Map<string, Outcome>();
  const crash = (): never => {
    faults.crashes++;
    throw new Error('the process crashed');
  };
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      if (faults.statements === 0) {
        faults.statements = -1;
        crash();
      }
      faults.statements--;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const provider: PaymentProvider = {
    ...testProvider,
    async settle({ id }: Charge) {
      if (!known.has(id)) known.set(id, { kind: 'unknown' });
      if (faults.isLost) {
        faults.lost++;
        throw new Error('connection reset');
      }
      return known.get(id) ?? { kind: 'unknown' };
    },
  };
  const wake = (): void => {
    if (!faults.afterCommit) return;
    faults.afterCommit = false;
    crash();
  };
  const instanceKey = { encrypt: (text: string) => Buffer.from(text) };
  const billing = createBilling({
    ...{ db: on.db.withPlugin(plugin), tree: on.tree, access: on.access, clock: on.clock, log: silentLog },
    ...{ stored: [], counted: [], provider, ingestLog: on.log as never, billsOthers: async () => true },
    returnUrlOf: () => '',
    mails: createInvoiceMails(createMail({ outbox: { wake }, instanceKey, clock: on.clock })),
    nameOf: () => ({ name: 'The biller', supportEmail: '' }),
  });
  const call = callOf(on.owners.customer) as never;
  const card = { organizationId: on.customerId, card: TestCard.SUCCEEDS, confirmAfterSeconds: 0 };
  await billing.invoiceHandlers.attachTestCard?.(card as never, call);
  return { on, billing, faults, known };
}

/** The answer is lost, so that the caller repeats the charge. */
async function charge({ on, billing }: World, description: string): Promise<void> {
  const request = {
    ...{ orgIdToCharge: on.customerId, subtotal: 10, tax: 1.9, description, disableConfirmationEmail: false },
  };
  const call = callOf(on.owners.customer, {}, false);
  try {
    await billing.handlers.chargeOrganization?.(request as never, call as never);
  } catch (caught) {
    // It was paid, or is being paid.
    if (!(caught instanceof PlatformError) || caught.code !== 'already_exists') throw caught;
  }
}

/** Hides errors: the caller of a process that crashes learns nothing. */
async function perhaps(step: Promise<unknown>): Promise<void> {
  await step.catch((caught: Error) => {
    if (caught.message !== 'the process crashed') throw caught;
  });
}

async function settle({ on, billing }: World, minutes: number): Promise<void> {
  on.clock.setWall(on.clock.now() + minutes * minuteMs);
  while (await billing.jobs.settle(signal));
}

/** One interleaving: 4 to 15 steps over two requests. */
async function interleave(world: World, names: readonly string[], next: (limit: number) => number): Promise<void> {
  const { faults, known } = world;
  const before = known.size;
  const steps = 4 + next(12);
  for (let step = 0; step < steps; step++) {
    const name = names[next(names.length)] ?? '';
    faults.statements = next(3) === 0 ? next(20) : -1;
    faults.afterCommit = next(8) === 0;
    faults.isLost = next(5) === 0;
    const kind = next(5);
    if (kind === 0) await perhaps(charge(world, name));
    if (kind === 1) await Promise.all([perhaps(charge(world, name)), perhaps(charge(world, name))]);
    if (kind === 2) {
      const made = [...known.keys()].slice(before);
      const id = made[next(Math.max(1, made.length))];
      if (id !== undefined && known.get(id)?.kind === 'unknown')
        known.set(id, next(3) === 0 ? { kind: 'failed', reason: 'declined' } : { kind: 'succeeded' });
    }
    if (kind === 3) await perhaps(settle(world, next(10) === 0 ? 120 : next(10)));
    if (kind === 4) await Promise.all([perhaps(settle(world, next(10))), perhaps(settle(world, 0))]);
  }
  Object.assign(faults, { statements: -1, afterCommit: false, isLost: false });
}

/** From here on without faults: each request is repeated until its invoice is paid, within the 24 hours in which it is the same one. */
async function payAll(world: World, names: readonly string[]): Promise<void> {
  for (let open = 1; open > 0; open = await countOpen(world)) {
    for (const name of names) await charge(world, name);
    await settle(world, 120);
    for (const [id, { kind }] of world.known) if (kind === 'unknown') world.known.set(id, { kind: 'succeeded' });
    await settle(world, 120);
  }
}

async function countOpen({ on }: World): Promise<number> {
  return (await on.db.selectFrom('invoices').select('id').where('state', '=', 'open').execute()).length;
}

test('any order of calls, crashes and lost, late, repeated or reordered answers charges each invoice once', async () => {
  const world = await open();
  const { on, faults, known } = world;
  const next = numbers(seed);
  const names: string[] = [];
  for (let run = 0; run < runs; run++) {
    const own = [`a${run}`, `b${run}`];
    names.push(...own);
    await interleave(world, own, next);
    await payAll(world, own);
    faultProgress('interleavings', run + 1, runs);
  }
  const listed = await on.db.selectFrom('invoices').select(['id', 'state', 'paid', 'total']).execute();
  expect(listed).toHaveLength(names.length);
  for (const one of listed) expect(one).toMatchObject({ state: 'paid', paid: 1_190, total: 1_190 });
  const charges = await on.db.selectFrom('charges').select(['id', 'invoice_id', 'state']).execute();
  for (const { id, state } of charges) expect(known.get(id)?.kind, id).toBe(state);
  const succeeded = charges.filter(({ state }) => state === 'succeeded');
  expect(succeeded).toHaveLength(names.length);
  expect(new Set(succeeded.map(({ invoice_id }) => invoice_id)).size).toBe(names.length);
  // The provider's receipts equal the booked payments.
  expect([...known.values()].filter(({ kind }) => kind === 'succeeded')).toHaveLength(names.length);
  const mails = await on.db.selectFrom('outbox_messages').select(['id', 'sealed']).execute();
  const subjects = mails.map(({ sealed }) => JSON.parse(Buffer.from(sealed ?? []).toString()).subject as string);
  const received = subjects.filter((subject) => subject.includes('Payment received'));
  expect(received).toHaveLength(names.length);
  expect(new Set(received).size).toBe(names.length);
  expect((await checkLedger(on.db)).problems).toEqual([]);
  reportFault('interleavings', {
    ...{ runs, invoices: listed.length, attempts: charges.length, declined: charges.length - succeeded.length },
    ...{ crashes: faults.crashes, lost_answers: faults.lost, mails: mails.length, charged_twice: 0, mailed_twice: 0 },
  });
}, 3_600_000);
