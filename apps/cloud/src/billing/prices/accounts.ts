/** Who bills an organization, on which tier, and since when. */
import { failedPrecondition, invalidArgument, permissionDenied } from '@platform/base';
import { audit, type Caller, type OwnActor } from '../../access/audit.ts';
import type { Database } from '../../metadata/tables.ts';
import { type Month, monthOf } from '../month.ts';
import type { BillingTables } from '../store.ts';
import type { PriceList, Tier } from './price-list.ts';
import { type PriceListVersion, requirePriceList } from './price-lists.ts';

export interface Account {
  readonly billerId: string;
  readonly tier: string;
  readonly billingEmail: string;
  /** Time since which this biller has billed it, on any tier: earlier usage is not charged. */
  readonly sinceMs: number;
}

/** Undefined: no one bills it at that time. */
export async function accountAt(db: Database, organizationId: string, ms: number): Promise<Account | undefined> {
  const rows = await db
    .selectFrom('billing_accounts')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('since_ms', '<=', ms)
    .orderBy('entry', 'desc')
    .execute();
  return currentOf(rows);
}

/** @param rows of one organization, newest first */
function currentOf(rows: readonly BillingTables['billing_accounts'][]): Account | undefined {
  const [row] = rows;
  if (row === undefined || row.biller_id === null) return undefined;
  const end = rows.findIndex(({ biller_id }) => biller_id !== row.biller_id);
  const oldest = rows.slice(0, end === -1 ? undefined : end);
  return {
    ...{ billerId: row.biller_id, tier: row.tier, billingEmail: row.billing_email },
    sinceMs: Math.min(...oldest.map(({ since_ms }) => since_ms)),
  };
}

/** The organizations that an organization bills at that time, by id. */
export async function accountsOfBiller(
  db: Database,
  billerId: string,
  ms: number,
): Promise<readonly (Account & { readonly organizationId: string })[]> {
  const rows = await db
    .selectFrom('billing_accounts')
    .selectAll()
    .where('organization_id', 'in', (where) =>
      where
        .selectFrom('billing_accounts as billed')
        .select('billed.organization_id')
        .where('billed.biller_id', '=', billerId),
    )
    .where('since_ms', '<=', ms)
    .orderBy('entry', 'desc')
    .execute();
  return [...Map.groupBy(rows, ({ organization_id }) => organization_id)]
    .flatMap(([organizationId, entries]) => {
      const account = currentOf(entries);
      return account?.billerId === billerId ? [{ ...account, organizationId }] : [];
    })
    .toSorted((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
}

export interface AccountChange {
  /** Null: no one. */
  readonly billerId: string | null;
  readonly tier: string;
  readonly billingEmail: string;
}

/**
 * Records who bills an organization: from now on if no one did, otherwise from the next month. Audited.
 *
 * @param action for the audit trail
 * @throws failed_precondition if the biller has no price list; invalid_argument if the list does not contain the tier
 */
export async function changeAccount(
  db: Database,
  by: Caller | OwnActor,
  action: string,
  nowMs: number,
  organizationId: string,
  change: AccountChange,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const last = await trx
      .selectFrom('billing_accounts')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('entry', 'desc')
      .limit(1)
      .executeTakeFirst();
    const { billerId, tier, billingEmail } = change;
    if (billerId !== null) requireTier((await requirePriceList(trx, billerId, nowMs)).list.tiers, tier, billerId);
    // The prices of a month that has begun do not change, unless no one has billed the organization so far.
    const sinceMs =
      last === undefined || last.biller_id === null
        ? nowMs
        : last.biller_id === billerId && last.tier === tier
          ? Math.max(last.since_ms, nowMs)
          : monthOf(nowMs).endMs;
    const row = { since_ms: sinceMs, biller_id: billerId, tier, billing_email: billingEmail, created_ms: nowMs };
    await trx
      .insertInto('billing_accounts')
      .values({ organization_id: organizationId, entry: (last?.entry ?? 0) + 1, ...row })
      .execute();
    const detail = { billerId, tier, billingEmail, since: new Date(sinceMs).toISOString() };
    await audit(trx, by, nowMs, action, ['organization', organizationId, organizationId], detail);
  });
}

/** @throws invalid_argument */
export function requireTier(tiers: readonly Tier[], name: string, billerId: string): Tier {
  const tier = tiers.find((one) => one.name === name);
  if (tier !== undefined) return tier;
  throw invalidArgument(
    `billing_tier: expected one of ${tiers.map((one) => one.name).join(', ')} (the price list of organization ${billerId}), found ${JSON.stringify(name.slice(0, 80))}`,
  );
}

export interface BilledAs extends Account {
  readonly list: PriceListVersion & { readonly list: PriceList };
  readonly rates: Tier;
  /** Usage of the month is charged from this time. */
  readonly fromMs: number;
}

/** How an organization is billed for a month; undefined: no one billed it at the end of that month, or until now. */
export async function billedAs(
  db: Database,
  organizationId: string,
  month: Month,
  nowMs: number,
): Promise<BilledAs | undefined> {
  const account = await accountAt(db, organizationId, Math.min(nowMs, month.endMs - 1));
  return account && (await withPrices(db, account, month));
}

/** A month has the prices that applied when it began, or when billing began. */
export async function withPrices<A extends Account>(
  db: Database,
  account: A,
  month: Month,
): Promise<A & Omit<BilledAs, keyof Account>> {
  const fromMs = Math.max(month.startMs, account.sinceMs);
  const list = await requirePriceList(db, account.billerId, fromMs);
  return { ...account, list, rates: requireTier(list.list.tiers, account.tier, account.billerId), fromMs };
}

/** @throws failed_precondition that states how the organization is billed instead (D28) */
export function requireInArrears(billed: BilledAs | undefined, organizationId: string): BilledAs {
  if (billed !== undefined && billed.rates.advance === undefined) return billed;
  const found =
    billed === undefined
      ? 'that no one bills it'
      : `that it is billed ${billed.rates.advance === 'year' ? 'annually' : 'monthly'}, in advance, on the tier ${JSON.stringify(billed.tier)}`;
  throw failedPrecondition(
    `organization ${organizationId}: expected one that is billed monthly in arrears, found ${found}`,
  );
}

/** @throws failed_precondition if no one bills it; permission_denied if someone else does */
export function requireBilledBy(
  account: Account | undefined,
  organizationId: string,
  isOwner: (billerId: string) => boolean,
): Account {
  if (account === undefined)
    throw failedPrecondition(
      `organization ${organizationId}: expected one that is billed, found one without a biller; the host administrator assigns one (platform admin billing assign)`,
    );
  if (isOwner(account.billerId)) return account;
  throw permissionDenied(
    `organization ${organizationId}: expected an owner of the organization that bills it, found an owner of the billed one`,
  );
}
