/** Invariants of invoices that hold after any sequence of charges, closed months, payments and credit notes, each of them repeated. */
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkLedger } from '../ledger/check-ledger.ts';
import { monthOf } from '../month.ts';
import { recordPayment } from '../payments/record-payment.ts';
import { changeAccount } from '../prices/accounts.ts';
import { billing, invoices, openBilling, prices, type TestBilling } from '../testing/open-billing.ts';
import type { InvoiceDocument } from './issue-invoice.ts';

const admin = { kind: 'admin', name: 'root' } as const;
const { signal } = new AbortController();

async function open(): Promise<TestBilling> {
  const on = await openBilling();
  const tier = { name: 'standard', in_arrears: true, per_machine: '9.99', discount_percent: '12.5', credit: '0.07' };
  const usage = { TABULAR_DATA_UPLOAD: { steps: [{ up_to: '3', price: '0.155' }, { price: '0.1049' }] } };
  const document = JSON.stringify({ currency: 'USD', tax_percent: '7.7', tiers: [{ ...tier, usage }] });
  await on.ask(on.owners.biller, prices.setPriceList, { organizationId: on.billerId, document });
  const change = { billerId: on.billerId, tier: 'standard', billingEmail: 'bills@example.com' };
  await changeAccount(on.db, admin, 'admin.billing.assign', on.clock.now(), on.customerId, change);
  return on;
}

const times = fc.integer({ min: 1, max: 3 });
const cents = fc.integer({ min: 1, max: 10_000_000 });
const step = fc.oneof(
  fc.record({ do: fc.constant('charge' as const), times, subtotal: cents, tax: fc.nat(1_000_000) }),
  fc.record({ do: fc.constant('month' as const), times, machineHours: fc.nat(5_000), bytes: fc.nat(2 ** 31) }),
  fc.record({ do: fc.constant('pay' as const), times, which: fc.nat(20), percent: fc.integer({ min: 1, max: 100 }) }),
  fc.record({ do: fc.constant('cancel' as const), times, which: fc.nat(20) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Amounts owed, as a person would record them: minor units by invoice, without cancelled ones. */
type Owed = Map<string, { readonly total: number; paid: number }>;

async function take(on: TestBilling, one: Step, owed: Owed, nth: number): Promise<void> {
  const known = [...owed.keys()];
  if (one.do === 'charge') {
    const { subtotal, tax } = one;
    const request = { orgIdToCharge: on.customerId, subtotal: subtotal / 100, tax: tax / 100 };
    const key = { 'idempotency-key': `k${nth}` };
    const answers = await Promise.all(
      Array.from({ length: one.times }, () => on.ask(on.owners.customer, billing.chargeOrganization, request, key)),
    );
    const ids = new Set(answers.map(({ invoiceId }) => invoiceId));
    expect(ids.size).toBe(1);
    for (const id of ids) owed.set(id, { total: subtotal + tax, paid: 0 });
  }
  if (one.do === 'month') {
    const { endMs } = monthOf(on.clock.now());
    const at = { organization_id: on.customerId, hour: endMs - 3_600_000 };
    const rows = [
      { ...at, type: UsageCostType.PER_MACHINE, quantity: one.machineHours },
      { ...at, type: UsageCostType.TABULAR_DATA_UPLOAD, quantity: one.bytes },
    ];
    await on.db.insertInto('usage_hours').values(rows).execute();
    on.clock.setWall(endMs + 3_600_000);
    while (await on.billing.jobs.sample());
    for (let time = 0; time < one.times; time++) await on.billing.jobs.close(signal);
    const all = on.db.selectFrom('invoices').selectAll().where('kind', '=', 'month');
    const issued = await all.where('state', '!=', 'void').execute();
    for (const { id, total } of issued) if (!known.includes(id) && total > 0) owed.set(id, { total, paid: 0 });
  }
  if (known.length === 0) return;
  const invoiceId = known[('which' in one ? one.which : 0) % known.length] as string;
  const of = owed.get(invoiceId) as { total: number; paid: number };
  if (one.do === 'pay' && of.paid < of.total) {
    const part = Math.ceil(((of.total - of.paid) * one.percent) / 100);
    const payment = { invoiceId, amount: (part / 100).toFixed(2), reference: `r${nth}` };
    const deps = { db: on.db, clock: on.clock, mails: undefined };
    for (let time = 0; time < one.times; time++) await recordPayment(deps, admin, payment);
    of.paid += part;
  }
  if (one.do === 'cancel' && of.paid === 0) {
    const request = { organizationId: on.billerId, invoiceId, reason: 'a mistake' };
    await on.ask(on.owners.biller, invoices.voidInvoice, request);
    for (let time = 1; time < one.times; time++)
      await expect(on.ask(on.owners.biller, invoices.voidInvoice, request)).rejects.toMatchObject({
        code: 'failed_precondition',
      });
    owed.delete(invoiceId);
  }
}

test('lines and tax add up to the total, the balance is open minus paid amounts, and n identical calls count as one', async () => {
  const on = await open();
  const owed: Owed = new Map();
  let nth = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      for (const one of steps) await take(on, one, owed, nth++);
      const rows = await on.db.selectFrom('invoices').selectAll().execute();
      for (const { document, subtotal, tax, total } of rows) {
        const { lines }: InvoiceDocument = JSON.parse(document);
        expect(lines.reduce((sum, { minor }) => sum + minor, 0)).toBe(subtotal);
        expect(subtotal + tax).toBe(total);
      }
      const open = [...owed.values()].reduce((sum, { total, paid }) => sum + total - paid, 0);
      const summary = await on.ask(on.owners.customer, billing.getInvoicesSummary, { orgId: on.customerId });
      expect(summary.outstandingBalance).toBe(open / 100);
      const charged = rows.filter(({ state, kind, total }) => state !== 'void' && kind !== 'credit_note' && total > 0);
      const paid = (pairs: Iterable<readonly [string, number]>) => Object.fromEntries(pairs);
      expect(paid(charged.map((one) => [one.id, one.paid]))).toEqual(
        paid([...owed].map(([id, one]) => [id, one.paid])),
      );
      expect((await checkLedger(on.db)).problems).toEqual([]);
    }),
    // Without shrinking: the store keeps its state from one sequence to the next.
    { numRuns: 25, endOnFailure: true },
  );
});
