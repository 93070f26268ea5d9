/**
 * The ledger: every invoice, credit note and payment as lines that sum to 0. Nothing is ever changed; mistakes are corrected by further
 * lines.
 *
 * | event | debit | credit |
 * |---|---|---|
 * | invoice | receivable: total | revenue: subtotal; tax: tax |
 * | credit note | revenue: subtotal; tax: tax | receivable: total |
 * | payment | cash | receivable |
 */
import { createHash } from 'node:crypto';
import { newId, PlatformError } from '@platform/base';
import type { DatabaseTransaction } from '../../metadata/tables.ts';
import type { BillingTables } from '../store.ts';

export type LedgerLine = BillingTables['ledger_lines'];

export interface Posting {
  readonly billerId: string;
  readonly organizationId: string;
  readonly invoiceId: string;
  readonly currency: string;
  readonly atMs: number;
  readonly text: string;
  /** Debits are positive; the sum is 0. */
  readonly amounts: readonly (readonly [LedgerLine['account'], bigint])[];
}

/** `lockBiller` must have been called in the same transaction. */
export async function post(trx: DatabaseTransaction, posting: Posting): Promise<void> {
  const { billerId, organizationId, invoiceId, currency, atMs, text } = posting;
  const amounts = posting.amounts.filter(([, minor]) => minor !== 0n);
  if (amounts.reduce((sum, [, minor]) => sum + minor, 0n) !== 0n)
    throw new PlatformError('internal', `ledger: expected amounts that sum to 0 (${text})`);
  const last = await trx
    .selectFrom('ledger_lines')
    .select(['line', 'hash'])
    .where('biller_id', '=', billerId)
    .orderBy('line', 'desc')
    .limit(1)
    .executeTakeFirst();
  const transactionId = newId();
  let [line, hash] = [last?.line ?? 0, last?.hash ?? ''];
  const rows: LedgerLine[] = [];
  for (const [account, minor] of amounts) {
    line += 1;
    const row = {
      ...{ biller_id: billerId, line, transaction_id: transactionId, account, organization_id: organizationId },
      ...{ invoice_id: invoiceId, currency, minor: Number(minor), at_ms: atMs, text },
    };
    hash = hashOf(hash, row);
    rows.push({ ...row, hash });
  }
  if (rows.length > 0) await trx.insertInto('ledger_lines').values(rows).execute();
}

/** Hash of a line that follows one with the hash `before`. */
export function hashOf(before: string, line: Omit<LedgerLine, 'hash'>): string {
  const values = [
    ...[line.biller_id, line.line, line.transaction_id, line.account, line.organization_id, line.invoice_id],
    ...[line.currency, line.minor, line.at_ms, line.text],
  ];
  return createHash('sha256')
    .update(JSON.stringify([before, ...values]))
    .digest('hex');
}

/** Until the transaction ends, no other one issues numbers or writes to this biller's ledger. */
export async function lockBiller(trx: DatabaseTransaction, billerId: string): Promise<void> {
  await trx
    .insertInto('invoice_numbers')
    .values({ biller_id: billerId, last: 0 })
    .onConflict((conflict) =>
      conflict.column('biller_id').doUpdateSet(({ ref }) => ({ last: ref('invoice_numbers.last') })),
    )
    .execute();
}
