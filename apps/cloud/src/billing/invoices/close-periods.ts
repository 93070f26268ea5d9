/** The job that bills what has become due for every biller: months that have ended, and years that have begun. */
import type { OwnActor } from '../../access/audit.ts';
import { type Month, monthOf } from '../month.ts';
import { billAdvance } from './bill-advance.ts';
import type { CloseDeps } from './bill-period.ts';
import { closeMonth } from './close-month.ts';

const actor: OwnActor = { kind: 'platform', name: 'billing' };
/** By then, uploads accepted in the last moment of a month are in the log. */
const graceMs = 10 * 60_000;
/** If the cloud was down for longer, older months must be closed by hand. */
const maxMonths = 24;

/** Always false: one pass is enough until the next hour. */
export async function closePeriods(deps: CloseDeps, closed: Set<string>, signal: AbortSignal): Promise<boolean> {
  const { db, clock } = deps;
  const billers = await db
    .selectFrom('billing_accounts')
    .select(({ fn }) => ['biller_id', fn.min('since_ms').as('since_ms')])
    .where('biller_id', 'is not', null)
    .groupBy('biller_id')
    .execute();
  for (const { biller_id: billerId, since_ms } of billers) {
    if (billerId === null) continue;
    // First, because the price of a month depends on what was paid for it in advance.
    await billAdvance(deps, actor, billerId, signal);
    for (const month of endedMonths(Number(since_ms), clock.now() - graceMs)) {
      if (signal.aborted) return false;
      // Known to be complete; forgotten at a restart, after which the table shows it again.
      const key = `${billerId} ${month.name}`;
      if (closed.has(key)) continue;
      await closeMonth(deps, actor, billerId, month, signal);
      closed.add(key);
    }
  }
  return false;
}

/** Oldest first. */
export function endedMonths(sinceMs: number, nowMs: number): Month[] {
  const months: Month[] = [];
  for (let end = monthOf(nowMs).startMs; end > sinceMs && months.length < maxMonths; ) {
    const month = monthOf(end - 1);
    months.unshift(month);
    end = month.startMs;
  }
  return months;
}
