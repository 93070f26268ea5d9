/** Reminds an organization of open invoices. */
import { dayMs, failedPrecondition } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { currencyOf } from '../money/currency.ts';
import { textOfMinor } from '../money/wire-amount.ts';
import type { ChargeDeps } from '../payments/charge-organization.ts';
import { accountAt } from '../prices/accounts.ts';

/**
 * Sends at most one mail per customer and day (UTC).
 *
 * @throws failed_precondition if the biller does not bill the customer, which does not reveal whether it exists; also if nothing is owed,
 * or there is no address
 */
export async function sendPaymentRequired(
  { db, mails, clock, nameOf }: ChargeDeps,
  by: Caller,
  billerId: string,
  customerId: string,
): Promise<void> {
  const nowMs = clock.now();
  const account = await accountAt(db, customerId, nowMs);
  if (account?.billerId !== billerId)
    throw failedPrecondition(
      `customer_org_id: expected an organization that organization ${billerId} bills, found another one`,
    );
  const open = await db
    .selectFrom('invoices')
    .select(['number', 'total', 'paid', 'currency', 'due_ms'])
    .where('organization_id', '=', customerId)
    .where('biller_id', '=', billerId)
    .where('state', '=', 'open')
    .orderBy('issued_ms')
    .execute();
  if (open.length === 0 || account.billingEmail === '')
    throw failedPrecondition(
      `organization ${customerId}: expected open invoices and an address for mails about them, found ${open.length} open invoices and ${account.billingEmail === '' ? 'no address' : 'an address'}`,
    );
  const { name, supportEmail } = nameOf(billerId);
  await db.transaction().execute(async (trx) => {
    await mails.enqueue(trx, {
      ...{ to: account.billingEmail, organizationId: customerId },
      cause: ['payment required', customerId, billerId, String(Math.floor(nowMs / dayMs))],
      subject: `Payment required: ${name}`,
      text: [
        'These invoices are unpaid:',
        '',
        ...open.map((one) => {
          const owed = textOfMinor(BigInt(one.total - one.paid), currencyOf(one.currency, 'currency'));
          return `${one.number}: ${owed} ${one.currency}, due on ${new Date(one.due_ms).toISOString().slice(0, 10)}`;
        }),
        ...['', name],
        ...(supportEmail === '' ? [] : [supportEmail]),
      ].join('\n'),
    });
    const target = ['organization', customerId, billerId] as const;
    await audit(trx, by, nowMs, 'BillingService.SendPaymentRequiredEmail', target, { invoices: open.length });
  });
  mails.wake();
}
