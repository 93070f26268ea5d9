/** Versions of price lists: which one applies when, and how a new one is added. */
import { failedPrecondition, invalidArgument, resourceExhausted } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import type { Database } from '../../metadata/tables.ts';
import { monthOf } from '../month.ts';
import type { BillingTables } from '../store.ts';
import { type PriceList, parsePriceList } from './price-list.ts';

export interface PriceListVersion {
  readonly version: number;
  readonly effectiveMs: number;
  readonly createdMs: number;
  readonly document: string;
}

const maxVersions = 1_000;

/** Newest first. */
export async function priceListVersions(db: Database, organizationId: string): Promise<readonly PriceListVersion[]> {
  const rows = await db
    .selectFrom('price_lists')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('version', 'desc')
    .execute();
  return rows.map(versionOf);
}

/** The list that applies at a time: the newest one in effect. */
export async function priceListAt(
  db: Database,
  organizationId: string,
  ms: number,
): Promise<(PriceListVersion & { readonly list: PriceList }) | undefined> {
  const row = await db
    .selectFrom('price_lists')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('effective_ms', '<=', ms)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && { ...versionOf(row), list: parsePriceList(row.document) };
}

/** @throws failed_precondition */
export async function requirePriceList(
  db: Database,
  organizationId: string,
  ms: number,
): Promise<PriceListVersion & { readonly list: PriceList }> {
  const found = await priceListAt(db, organizationId, ms);
  if (found !== undefined) return found;
  throw failedPrecondition(
    `organization ${organizationId}: expected one with a price list, found none; set it with SetPriceList (platform billing prices set)`,
  );
}

export interface NewPriceList {
  readonly document: string;
  /** Undefined: now for the first list, otherwise the beginning of the next month. */
  readonly effectiveMs: number | undefined;
  /** Tiers on which organizations are billed: the list must contain them. */
  readonly tiersInUse: ReadonlySet<string>;
}

/** @throws invalid_argument; failed_precondition if a tier in use is not in the list */
export async function addPriceList(
  db: Database,
  by: Caller,
  nowMs: number,
  organizationId: string,
  { document, effectiveMs, tiersInUse }: NewPriceList,
): Promise<PriceListVersion> {
  const { tiers, currency } = parsePriceList(document);
  const missing = [...tiersInUse].filter((name) => !tiers.some((tier) => tier.name === name));
  if (missing.length > 0)
    throw failedPrecondition(
      `tiers: expected also ${missing.map((name) => JSON.stringify(name)).join(', ')}, because organizations are billed on them, found only ${tiers.map(({ name }) => JSON.stringify(name)).join(', ')}`,
    );
  return await db.transaction().execute(async (trx) => {
    const [last] = await priceListVersions(trx, organizationId);
    if ((last?.version ?? 0) >= maxVersions)
      throw resourceExhausted(`price lists: expected at most ${maxVersions} versions`);
    if (last !== undefined && parsePriceList(last.document).currency.code !== currency.code)
      throw failedPrecondition(
        `currency: expected ${parsePriceList(last.document).currency.code}, as in the versions before, found ${currency.code}`,
      );
    const atMs = effectiveMs ?? (last === undefined ? nowMs : monthOf(nowMs).endMs);
    if (effectiveMs !== undefined && (atMs < nowMs || monthOf(atMs).startMs !== atMs))
      throw invalidArgument(
        `effective_at: expected the beginning of a month (UTC) that is not in the past, found ${new Date(atMs).toISOString()}`,
      );
    const version = (last?.version ?? 0) + 1;
    const row = { organization_id: organizationId, version, effective_ms: atMs, created_ms: nowMs, document };
    await trx.insertInto('price_lists').values(row).execute();
    const detail = { version, effective: new Date(atMs).toISOString(), document };
    await audit(trx, by, nowMs, 'PriceService.SetPriceList', ['organization', organizationId, organizationId], detail);
    return versionOf(row);
  });
}

function versionOf(row: BillingTables['price_lists']): PriceListVersion {
  return {
    version: row.version,
    effectiveMs: row.effective_ms,
    createdMs: row.created_ms,
    document: row.document,
  };
}
