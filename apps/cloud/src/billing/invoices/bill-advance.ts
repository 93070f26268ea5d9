/**
 * Issues the invoices of months and years that have begun, for organizations that are billed in advance: for the machines that exist at
 * that time. Machines added later are charged by the hour once their month has ended (close-month.ts).
 *
 * Each period is an entry of `billed_periods`: `advance:YYYY-MM` for a month, `year:YYYY-MM` for the twelve months from that one. The next
 * one begins when it ends, or in the first later month in which the organization is on such a tier.
 */
import { dayMs, hourMs } from '@platform/base';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import type { OwnActor } from '../../access/audit.ts';
import { hoursOf } from '../meter/read-usage.ts';
import { type Month, monthNamed, monthOf, nextHourOf } from '../month.ts';
import { accountAt, accountsOfBiller, withPrices } from '../prices/accounts.ts';
import { type Advance, advanceLines, laterLines, monthsOf } from '../prices/advance.ts';
import type { Tier } from '../prices/price-list.ts';
import type { Rated } from '../prices/rate.ts';
import { bill, type CloseDeps, type Customer } from './bill-period.ts';

type Advances = ReadonlyMap<string, readonly Advance[]>;

/** Periods that began longer ago and were never billed are not billed any more. */
const maxMissedMs = 732 * dayMs;

/** What an organization's customers were billed in advance, oldest first. */
export async function paidAdvances({ db }: Pick<CloseDeps, 'db'>, billerId: string): Promise<Advances> {
  const rows = await db
    .selectFrom('billed_periods')
    .select(['organization_id', 'period'])
    .where('biller_id', '=', billerId)
    .where((eb) => eb.or([eb('period', 'like', 'advance:%'), eb('period', 'like', 'year:%')]))
    .execute();
  const advances = rows.map(({ organization_id, period }) => {
    const [kind, name = ''] = period.split(':');
    return {
      organization_id,
      period: kind === 'year' ? ('year' as const) : ('month' as const),
      month: monthNamed(name),
    };
  });
  return Map.groupBy(
    advances.toSorted((a, b) => a.month.startMs - b.month.startMs),
    (one) => one.organization_id,
  );
}

export async function billAdvance(deps: CloseDeps, by: OwnActor, billerId: string, signal: AbortSignal): Promise<void> {
  const { db, clock } = deps;
  const nowMs = clock.now();
  const advances = await paidAdvances(deps, billerId);
  const address = await deps.addressOf(billerId);
  for (const { organizationId, sinceMs } of await accountsOfBiller(db, billerId, nowMs)) {
    const last = advances.get(organizationId)?.at(-1);
    let month = monthOf(Math.max(sinceMs, nowMs - maxMissedMs, last === undefined ? 0 : endOf(last)));
    while (month.startMs <= nowMs && !signal.aborted) {
      const account = await accountAt(db, organizationId, Math.max(month.startMs, sinceMs));
      if (account === undefined) break;
      const customer = { ...(await withPrices(db, account, month)), organizationId };
      const { advance: period } = customer.rates;
      let next = month.endMs;
      if (period !== undefined) {
        const machines = await machinesAt(deps, customer, customer.fromMs);
        // They will be counted within minutes.
        if (machines === undefined) break;
        const hours = BigInt((month.endMs - nextHourOf(customer.fromMs)) / hourMs);
        const { lines } = advanceLines(customer.rates, customer.list.list.currency, machines, hours, month);
        const [kind, name, text] =
          period === 'year' ? (['year', 'year', 'Year from'] as const) : (['month', 'advance', 'In advance:'] as const);
        const given = { kind, period: `${name}:${month.name}`, text: `${text} ${month.name}`, lines, address };
        await bill(deps, by, customer, given);
        next = endOf({ period, month });
      }
      month = monthOf(next);
    }
  }
}

function endOf(advance: Advance): number {
  return monthsOf(advance).at(-1)?.endMs ?? 0;
}

function chargesMachines({ usage, perMachineYear }: Tier): boolean {
  return usage.size > 0 || perMachineYear > 0n;
}

/** Number of machines in the first whole hour of a period; undefined: not counted yet. */
async function machinesAt({ db }: CloseDeps, customer: Customer, fromMs: number): Promise<bigint | undefined> {
  if (!chargesMachines(customer.rates)) return 0n;
  const hour = nextHourOf(fromMs);
  const sampled = await db.selectFrom('usage_samples').select('hour').where('id', '=', 1).executeTakeFirst();
  if (sampled === undefined || sampled.hour < hour) return undefined;
  const [machines] = await machineHours(db, customer.organizationId, hour, hour + hourMs);
  return BigInt(machines ?? 0);
}

async function machineHours(
  db: CloseDeps['db'],
  organizationId: string,
  startMs: number,
  endMs: number,
): Promise<number[]> {
  const hours = await hoursOf(db, organizationId, startMs, endMs);
  return hours.filter(({ type }) => type === UsageCostType.PER_MACHINE).map(({ quantity }) => quantity);
}

/** Cost of machines added after a period was paid in advance; undefined: nothing, or the period has not been billed yet. */
export async function rateLater(
  deps: CloseDeps,
  customer: Customer,
  advances: Advances,
  month: Month,
): Promise<Rated | undefined> {
  const { organizationId, rates, list, fromMs, sinceMs } = customer;
  const paid = advances.get(organizationId)?.findLast((one) => one.month.startMs <= month.startMs);
  if (paid === undefined || endOf(paid) <= month.startMs || !chargesMachines(rates)) return undefined;
  const included = await machinesAt(deps, customer, Math.max(paid.month.startMs, sinceMs));
  if (included === undefined) return undefined;
  const hours = await machineHours(deps.db, organizationId, nextHourOf(fromMs), month.endMs);
  const later = hours.reduce((sum, machines) => sum + Math.max(0, machines - Number(included)), 0);
  return laterLines(rates, list.list.currency, BigInt(later), { paid, month });
}
