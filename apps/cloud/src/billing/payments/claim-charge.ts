/**
 * Finds the earlier charge that a request repeats, or records that it is the first (D44). The row of a request is taken by one call at a
 * time: whoever inserts it or replaces its holder. A simultaneous call that finds another holder decides again.
 */
import { alreadyExists, invalidArgument, newId, type PlatformError } from '@platform/base';
import { requireRight } from '../../metadata/row-checks/require-right.ts';
import type { DatabaseTransaction } from '../../metadata/tables.ts';
import type { InvoiceRow } from '../invoices/issue-invoice.ts';
import { requireInvoice } from '../invoices/states.ts';
import { type BillingTables, chargeRequests, charges } from '../store.ts';
import { type ChargeRequest, keyHeader } from './charge-request.ts';
import { keyForMs, type Repeated, repeatedCharge } from './repeated-charge.ts';
import type { ChargeRow } from './settle-charge.ts';

type RequestRow = BillingTables['charge_requests'];

/** `another`: a charge of its own. `again`: this invoice is to be paid. `same`: the answer of the first one. */
export type Claim =
  | { readonly is: 'another'; readonly holder: string }
  | { readonly is: 'again'; readonly holder: string; readonly invoice: InvoiceRow }
  | { readonly is: 'same'; readonly invoice: InvoiceRow; readonly attempt: ChargeRow | undefined };

/**
 * @param invoiceId of the invoice that a charge of its own gets
 * @throws already_exists for an equal charge that is refused; invalid_argument if the key was used for other content
 */
export async function claimCharge(
  trx: DatabaseTransaction,
  organizationId: string,
  { key, request, isDerived }: ChargeRequest,
  invoiceId: string,
  nowMs: number,
): Promise<Claim> {
  const holder = newId();
  const mine = { request, invoice_id: invoiceId, created_ms: nowMs, answered_ms: null, holder };
  const added = await trx
    .insertInto('charge_requests')
    .values({ organization_id: organizationId, key, ...mine })
    .onConflict((conflict) => conflict.columns(['organization_id', 'key']).doNothing())
    .returning('key')
    .executeTakeFirst();
  if (added !== undefined) return { is: 'another', holder };
  for (;;) {
    const first = await trx
      .selectFrom('charge_requests')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('key', '=', key)
      .executeTakeFirstOrThrow();
    requireRight(chargeRequests, [first]);
    if (!isDerived && nowMs < first.created_ms + keyForMs) return await sameAnswer(trx, first, request);
    const unpaid = isDerived ? await unpaidOf(trx, first, nowMs) : undefined;
    const taken = await trx
      .updateTable('charge_requests')
      .set(unpaid === undefined ? mine : { ...mine, invoice_id: unpaid.id })
      .where('organization_id', '=', organizationId)
      .where('key', '=', key)
      .where('holder', '=', first.holder)
      .returning('key')
      .executeTakeFirst();
    if (taken !== undefined)
      return unpaid === undefined ? { is: 'another', holder } : { is: 'again', holder, invoice: unpaid };
  }
}

async function sameAnswer(trx: DatabaseTransaction, first: RequestRow, request: string): Promise<Claim> {
  if (first.request !== request)
    throw invalidArgument(
      `${keyHeader}: expected a new key, found one of a request with different content in the last 24 hours`,
    );
  return { is: 'same', ...(await chargeOfRequest(trx, first)) };
}

/** The invoice that is to be paid again; undefined: this is a charge of its own. @throws already_exists if it is refused */
async function unpaidOf(trx: DatabaseTransaction, first: RequestRow, nowMs: number): Promise<InvoiceRow | undefined> {
  const { invoice, attempt } = await chargeOfRequest(trx, first);
  const earlier = { createdMs: first.created_ms, answeredMs: first.answered_ms, invoice, attempt };
  const repeated = repeatedCharge(earlier, nowMs);
  if (repeated.is === 'refused') throw refusal(invoice, attempt, first, repeated);
  return repeated.is === 'again' ? invoice : undefined;
}

/** The invoice, and the attempt to pay it that is pending or has succeeded, otherwise the last one. */
async function chargeOfRequest(
  trx: DatabaseTransaction,
  { invoice_id: id }: RequestRow,
): Promise<{ readonly invoice: InvoiceRow; readonly attempt: ChargeRow | undefined }> {
  const invoice = await requireInvoice(trx, id, {});
  const attempts = await trx
    .selectFrom('charges')
    .selectAll()
    .where('invoice_id', '=', id)
    .orderBy('finished_ms', 'desc')
    .execute();
  requireRight(charges, attempts);
  return { invoice, attempt: attempts.find(({ state }) => state !== 'failed') ?? attempts[0] };
}

function refusal(
  { id, number, state }: InvoiceRow,
  attempt: ChargeRow | undefined,
  { created_ms: createdMs, answered_ms: answeredMs }: RequestRow,
  { untilMs }: Extract<Repeated, { is: 'refused' }>,
): PlatformError {
  const found = attempt?.state === 'pending' ? `${state}, its payment is in progress` : state;
  const answer = answeredMs === null ? '; its answer may not have arrived' : '';
  const later = untilMs === undefined ? 'once the payment is confirmed' : `from ${new Date(untilMs).toISOString()} on`;
  return alreadyExists(
    `invoice ${id}: expected no equal charge, found this one (${number}, ${new Date(createdMs).toISOString()}, ${found})${answer}. To make another charge, give it another description or an ${keyHeader}; an equal one is possible ${later}`,
  );
}
