/** Payment methods: how an organization pays. It has at most one. */
import { failedPrecondition } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import type { Database } from '../../metadata/tables.ts';
import type { BillingTables } from '../store.ts';
import type { PaymentProvider, TestMethod } from './provider.ts';

export type PaymentMethodRow = BillingTables['payment_methods'];

/** Undefined: none is attached, or its provider is not the one that this installation uses. */
export async function paymentMethodOf(
  db: Database,
  provider: PaymentProvider,
  organizationId: string,
): Promise<PaymentMethodRow | undefined> {
  return await db
    .selectFrom('payment_methods')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('provider', '=', provider.name)
    .executeTakeFirst();
}

/** @throws failed_precondition unless the installation uses the provider `test` */
export async function attachTestCard(
  db: Database,
  by: Caller,
  nowMs: number,
  provider: PaymentProvider,
  organizationId: string,
  method: TestMethod,
): Promise<void> {
  if (provider.name !== 'test')
    throw failedPrecondition(
      `payment provider: expected test, found ${provider.name}; the host administrator chooses it (PLATFORM_PAYMENT_PROVIDER)`,
    );
  const row = {
    ...{ provider: 'test', brand: 'test', last_four: '4242', method: JSON.stringify(method), added_ms: nowMs },
  };
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('payment_methods')
      .values({ organization_id: organizationId, ...row })
      .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(row))
      .execute();
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, nowMs, 'InvoiceService.AttachTestCard', target, { card: method.card });
  });
}

/** @returns the removed method. @throws failed_precondition if none is attached */
export async function removePaymentMethod(
  db: Database,
  by: Caller,
  nowMs: number,
  organizationId: string,
): Promise<PaymentMethodRow> {
  return await db.transaction().execute(async (trx) => {
    const removed = await trx
      .deleteFrom('payment_methods')
      .where('organization_id', '=', organizationId)
      .returningAll()
      .executeTakeFirstOrThrow(() =>
        failedPrecondition(`organization ${organizationId}: expected an attached payment method, found none`),
      );
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, nowMs, 'InvoiceService.RemovePaymentMethod', target);
    return removed;
  });
}
