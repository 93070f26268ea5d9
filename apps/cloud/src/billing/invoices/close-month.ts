/**
 * Issues the invoices of a month that has ended: for its usage, or, if the organization pays for machines in advance, for machines added
 * later. If a run is killed, the next one continues with the remaining organizations.
 */
import { failedPrecondition } from '@platform/base';
import type { Caller, OwnActor } from '../../access/audit.ts';
import { readTotals } from '../meter/read-usage.ts';
import { type Month, nextHourOf } from '../month.ts';
import { accountsOfBiller, withPrices } from '../prices/accounts.ts';
import { type Rated, rate } from '../prices/rate.ts';
import { paidAdvances, rateLater } from './bill-advance.ts';
import { bill, type CloseDeps, type Customer } from './bill-period.ts';

export interface Closed {
  readonly invoiceIds: readonly string[];
  /** Organizations whose period has already been billed, or that owe nothing for it. */
  readonly others: number;
}

/** @throws failed_precondition if the month has not ended or has not been fully counted */
export async function closeMonth(
  deps: CloseDeps,
  by: Caller | OwnActor,
  billerId: string,
  month: Month,
  signal: AbortSignal,
): Promise<Closed> {
  const { db, clock } = deps;
  if (clock.now() < month.endMs)
    throw failedPrecondition(
      `month: expected one that has ended, found ${month.name}, which ends on ${new Date(month.endMs).toISOString()}`,
    );
  await deps.meteredUntil(month.endMs, signal);
  const accounts = await accountsOfBiller(db, billerId, month.endMs - 1);
  const advances = await paidAdvances(deps, billerId);
  const done = await billedIn(deps, month.name);
  const address = await deps.addressOf(billerId);
  const invoiceIds: string[] = [];
  for (const account of accounts) {
    if (signal.aborted) break;
    if (done.has(account.organizationId)) continue;
    const customer = await withPrices(db, account, month);
    const isLater = customer.rates.advance !== undefined;
    const rated = isLater ? await rateLater(deps, customer, advances, month) : await rateUsage(deps, customer, month);
    if (rated === undefined) continue;
    const id = await bill(deps, by, customer, {
      ...{ kind: 'month', period: month.name, lines: rated.lines, address },
      text: `${isLater ? 'Machines added' : 'Usage'} in ${month.name}`,
    });
    if (id !== undefined) invoiceIds.push(id);
  }
  return { invoiceIds, others: accounts.length - invoiceIds.length };
}

async function rateUsage(deps: CloseDeps, customer: Customer, month: Month): Promise<Rated> {
  const usage = await readTotals(deps, nextHourOf(customer.fromMs), month.endMs, customer.organizationId);
  return rate(usage, customer.rates, customer.list.list.currency, month.hours);
}

async function billedIn({ db }: CloseDeps, period: string): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('billed_periods').select('organization_id').where('period', '=', period).execute();
  return new Set(rows.map(({ organization_id }) => organization_id));
}
