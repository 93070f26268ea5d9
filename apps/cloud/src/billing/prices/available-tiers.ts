/** Names of the tiers that organizations can have. */
import type { Database } from '../../metadata/tables.ts';
import { accountAt } from './accounts.ts';
import { priceListAt } from './price-lists.ts';

/** Tiers of these organizations' billers, and of these organizations themselves, without duplicates, in the order of the lists. */
export async function availableTiers(
  db: Database,
  organizationIds: readonly string[],
  nowMs: number,
): Promise<string[]> {
  const billers = new Set(organizationIds);
  for (const id of organizationIds) {
    const account = await accountAt(db, id, nowMs);
    if (account !== undefined) billers.add(account.billerId);
  }
  const names = new Set<string>();
  for (const id of billers)
    for (const { name } of (await priceListAt(db, id, nowMs))?.list.tiers ?? []) names.add(name);
  return [...names];
}
