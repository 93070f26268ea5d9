/** The invoices of an organization and its balance. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { GetInvoicesSummaryResponseSchema } from '@platform/proto/platform/app/v1/billing';
import { requireCompleteSet } from '../../metadata/row-checks/require-complete.ts';
import { requireRight } from '../../metadata/row-checks/require-right.ts';
import type { Database } from '../../metadata/tables.ts';
import { currencyOf } from '../money/currency.ts';
import { wireOfMinor } from '../money/wire-amount.ts';
import { invoices } from '../store.ts';
import { isUnpaid } from './dunning.ts';

/** The words for the state of an invoice. docs/specs/states.md says what makes each true. */
export const invoiceStates = ['open', 'unpaid', 'paid', 'void'] as const;

/** Newest first. The balance is in the currency of the newest invoice; amounts of other currencies are not added to it. */
export async function invoicesSummary(
  db: Database,
  organizationId: string,
): Promise<MessageInitShape<typeof GetInvoicesSummaryResponseSchema>> {
  const rows = await db
    .selectFrom('invoices')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('issued_ms', 'desc')
    .orderBy('sequence', 'desc')
    .execute();
  requireRight(invoices, rows);
  await requireCompleteSet(db, invoices, organizationId);
  const [newest] = rows;
  if (newest === undefined) return { outstandingBalance: 0, invoices: [] };
  const owed = rows
    .filter(({ state, currency }) => state === 'open' && currency === newest.currency)
    .reduce((sum, { total, paid }) => sum + BigInt(total - paid), 0n);
  return {
    outstandingBalance: wireOfMinor(owed, currencyOf(newest.currency, 'currency')),
    currency: newest.currency,
    invoices: rows.map((row) => ({
      id: row.id,
      invoiceDate: timestampFromMs(row.issued_ms),
      invoiceAmount: wireOfMinor(BigInt(row.total), currencyOf(row.currency, 'currency')),
      currency: row.currency,
      status: (isUnpaid(row) ? 'unpaid' : row.state) satisfies (typeof invoiceStates)[number],
      dueDate: timestampFromMs(row.due_ms),
      ...(row.paid_ms !== null && { paidDate: timestampFromMs(row.paid_ms) }),
      lastPaymentFailureReason: row.failure,
      ...(row.failure_ms !== null && { lastPaymentFailureAt: timestampFromMs(row.failure_ms) }),
    })),
  };
}
