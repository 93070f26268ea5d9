import { expect, test } from 'vitest';
import { openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import { defaultStore } from '../../metadata/testing/test-store.ts';
import { requireInvoice } from './states.ts';
import { invoicesSummary } from './summary.ts';

test('D33 an invoice that is paid, or a charge that is removed, in the database itself is DATA_LOSS and named', async () => {
  const { db, rows, alterRows, organizationId } = await openFirstAccount();
  await db
    .insertInto('invoices')
    .values({
      ...{ id: 'i', biller_id: organizationId, organization_id: organizationId, sequence: 1, number: 'INV-1' },
      ...{ kind: 'charge', is_test: 0, currency: 'EUR', subtotal: 5, tax: 0, total: 5, document: '{}', period: '' },
      ...{ credits_id: null, issued_ms: 1, due_ms: 2, state: 'open', paid: 0, paid_ms: null, failure: '' },
      ...{ failure_ms: null, dunning_step: 0, dunned_ms: 0 },
    })
    .execute();
  await db
    .insertInto('charges')
    .values({
      ...{ id: 'c', invoice_id: 'i', provider: 'p', method: '{}', state: 'failed', minor: 5, created_ms: 1 },
      ...{ finished_ms: 2, failure: '', next_ask_ms: 0, is_quiet: 0, reference: '' },
    })
    .execute();
  expect((await invoicesSummary(db, organizationId)).invoices).toHaveLength(1);
  expect(await rows.look()).toEqual([]);

  await alterRows("update invoices set state = 'paid', paid = 5, paid_ms = 3; delete from charges");
  await expect(invoicesSummary(db, organizationId)).rejects.toMatchObject({
    code: 'data_loss',
    message: expect.stringContaining('invoice i: its row in invoices was altered'),
  });
  await expect(requireInvoice(db, 'i', { organizationId })).rejects.toMatchObject({ code: 'data_loss' });
  expect((await rows.look()).join('; ')).toMatch(/invoice i.*charges of i: expected 1 rows, found 0/);
});

test('D33 lists of invoices refuse when one is missing, and so does its own request', async () => {
  const { db, alterRows, organizationId } = await openFirstAccount();
  for (const sequence of [1, 2])
    await db
      .insertInto('invoices')
      .values({
        ...{ id: `i${sequence}`, biller_id: organizationId, organization_id: organizationId, sequence },
        ...{ number: `INV-${sequence}`, kind: 'charge', is_test: 0, currency: 'EUR', subtotal: 5, tax: 0, total: 5 },
        ...{ document: '{}', period: '', credits_id: null, issued_ms: 1, due_ms: 2, state: 'open', paid: 0 },
        ...{ paid_ms: null, failure: '', failure_ms: null, dunning_step: 0, dunned_ms: 0 },
      })
      .execute();
  expect((await invoicesSummary(db, organizationId)).invoices).toHaveLength(2);
  const guarded = defaultStore === 'sqlite' ? 'invoices_no_delete' : 'invoices_no_delete on invoices';
  await alterRows(`drop trigger ${guarded}; delete from invoices where id = 'i2'`);
  const refused = {
    code: 'data_loss',
    message: expect.stringContaining(`invoices of ${organizationId}: expected 2 rows, found 1`),
  };
  await expect(invoicesSummary(db, organizationId)).rejects.toMatchObject(refused);
  await expect(requireInvoice(db, 'i2', { organizationId })).rejects.toMatchObject(refused);
  expect(await requireInvoice(db, 'i1', { organizationId })).toMatchObject({ id: 'i1' });
});
