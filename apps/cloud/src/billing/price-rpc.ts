/** Price lists, usage by the hour, and simulated invoices in the API. */
import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { failedPrecondition, invalidArgument } from '@platform/base';
import type { PriceService } from '@platform/proto/platform/billing/v1/billing';
import type { CloudHandlers } from '../access/principal.ts';
import type { BillingOperationDeps } from './billing-deps.ts';
import { readHours } from './meter/read-usage.ts';
import { textOfMinor } from './money/wire-amount.ts';
import { hourOf, monthNamed, monthOf } from './month.ts';
import { accountsOfBiller, billedAs } from './prices/accounts.ts';
import { withFragmentTiers } from './prices/fragment-tiers.ts';
import { rateMonth } from './prices/month-usage.ts';
import { addPriceList, type PriceListVersion, priceListVersions } from './prices/price-lists.ts';

/** A year and a day. */
const maxUsageRangeMs = 367 * 24 * 3_600_000;

export function priceHandlers(deps: BillingOperationDeps): CloudHandlers<typeof PriceService> {
  const { db, access, clock } = deps;
  return {
    async listPriceLists({ organizationId }, { principal }) {
      access.authorize(principal, 'organization.manage', organizationId);
      return { priceLists: (await priceListVersions(db, organizationId)).map(messageOf) };
    },
    async setPriceList({ organizationId, document, effectiveAt }, call) {
      access.authorize(call.principal, 'organization.manage', organizationId);
      if (!(await deps.billsOthers(organizationId)))
        throw failedPrecondition(
          `organization ${organizationId}: expected one whose billing service is enabled, found it disabled; call EnableBillingService (platform billing service enable) first`,
        );
      const nowMs = clock.now();
      const accounts = await accountsOfBiller(db, organizationId, Number.MAX_SAFE_INTEGER);
      const added = await addPriceList(db, call, nowMs, organizationId, {
        document: await withFragmentTiers(document, (...asked) => deps.fragmentOf(organizationId, ...asked)),
        effectiveMs: effectiveAt && timestampMs(effectiveAt),
        tiersInUse: new Set(accounts.map(({ tier }) => tier)),
      });
      return { priceList: messageOf(added) };
    },
    async listUsage({ organizationId, start, end }, { principal, signal }) {
      access.authorize(principal, 'organization.manage', organizationId);
      const month = monthOf(clock.now());
      const startMs = start === undefined ? month.startMs : hourOf(timestampMs(start) - 1) + 3_600_000;
      const endMs = end === undefined ? month.endMs : timestampMs(end);
      if (endMs < startMs || endMs - startMs > maxUsageRangeMs)
        throw invalidArgument('ListUsage: end: expected a time at most 367 days after start, found another one');
      await deps.metered(signal);
      const records = await readHours(deps, organizationId, startMs, endMs);
      return {
        records: records.map(({ hour, type, quantity }) => ({
          ...{ hour: timestampFromMs(hour), type, quantity: BigInt(quantity) },
        })),
      };
    },
    async simulateInvoice({ organizationId, month: name }, { principal, signal }) {
      access.authorize(principal, 'organization.manage', organizationId);
      const nowMs = clock.now();
      const month = name === '' ? monthOf(nowMs) : monthNamed(name);
      const given = await billedAs(db, organizationId, month, nowMs);
      await deps.metered(signal);
      const { billed, rated } = await rateMonth(deps, organizationId, given, month);
      const { list, version } = billed.list;
      return {
        currency: list.currency.code,
        tierName: billed.tier,
        priceListVersion: version,
        subtotal: textOfMinor(rated.subtotal, list.currency),
        lines: rated.lines.map(({ text, type, quantity, unit, unitPrice, minor }) => ({
          ...{ text, type, quantity, unit, unitPrice, amount: textOfMinor(minor, list.currency) },
        })),
      };
    },
  };
}

function messageOf({ version, effectiveMs, createdMs, document }: PriceListVersion): {
  version: number;
  effectiveAt: Timestamp;
  createdAt: Timestamp;
  document: string;
} {
  return {
    ...{ version, document },
    effectiveAt: timestampFromMs(effectiveMs),
    createdAt: timestampFromMs(createdMs),
  };
}
