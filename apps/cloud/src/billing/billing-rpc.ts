/** Usage, tiers and payers in the API. */
import { type BillingService, PaymentMethodType } from '@platform/proto/platform/app/v1/billing';
import type { CloudHandlers } from '../access/principal.ts';
import type { BillingOperationDeps } from './billing-deps.ts';
import { namedPayer, namePayer } from './meter/payers.ts';
import { monthOf } from './month.ts';
import { paymentMethodOf } from './payments/payment-methods.ts';
import { accountAt, billedAs, changeAccount, requireBilledBy } from './prices/accounts.ts';
import { availableTiers } from './prices/available-tiers.ts';
import { monthUsage, rateMonth } from './prices/month-usage.ts';
import { priceListAt } from './prices/price-lists.ts';

export function billingHandlers(deps: BillingOperationDeps): CloudHandlers<typeof BillingService> {
  const { db, tree, access, clock, provider } = deps;
  return {
    async getCurrentMonthUsage({ orgId }, { principal, signal }) {
      access.authorize(principal, 'organization.manage', orgId);
      const nowMs = clock.now();
      const month = monthOf(nowMs);
      const given = await billedAs(db, orgId, month, nowMs);
      await deps.metered(signal);
      const { billed, rated } = await rateMonth(deps, orgId, given, month);
      return monthUsage(month, billed, rated);
    },
    async getOrgBillingInformation({ orgId }, { principal }) {
      access.authorize(principal, 'organization.manage', orgId);
      const nowMs = clock.now();
      const account = await accountAt(db, orgId, nowMs);
      const prices = account && (await priceListAt(db, account.billerId, nowMs));
      const method = await paymentMethodOf(db, provider, orgId);
      return {
        ...{ billingEmail: account?.billingEmail ?? '', paymentProvider: provider.name },
        ...(method !== undefined && {
          type: PaymentMethodType.CARD,
          method: { brand: method.brand, lastFourDigits: method.last_four },
        }),
        ...(account !== undefined && { billingTier: account.tier }),
        ...(prices !== undefined && { currency: prices.list.currency.code }),
      };
    },
    async getAvailableBillingTiers(_request, { principal }) {
      const owned = tree.organizations().filter(({ id }) => access.allows(principal, 'organization.manage', id));
      return {
        tiers: await availableTiers(
          db,
          owned.map(({ id }) => id),
          clock.now(),
        ),
      };
    },
    async updateOrganizationBillingTier({ organizationId, billingTier: tier }, call) {
      const nowMs = clock.now();
      const account = await accountAt(db, organizationId, nowMs);
      // An organization's biller may choose its prices; other callers learn that it exists only if they have access to it.
      if (account === undefined || !access.allows(call.principal, 'organization.manage', account.billerId))
        access.authorize(call.principal, 'organization.manage', organizationId);
      const { billerId, billingEmail } = requireBilledBy(account, organizationId, (id) =>
        access.allows(call.principal, 'organization.manage', id),
      );
      const action = 'BillingService.UpdateOrganizationBillingTier';
      await changeAccount(db, call, action, nowMs, organizationId, { billerId, tier, billingEmail });
      return {};
    },
    async getLocationBillingOrganization({ locationId }, { principal }) {
      const { organizationId } = access.authorize(principal, 'location.manage', locationId);
      return { billingOrganizationId: (await namedPayer(db, locationId)) ?? organizationId };
    },
    async updateLocationBillingOrganization({ locationId, billingOrganizationId: payerId }, call) {
      const { organizationId } = access.authorize(call.principal, 'location.manage', locationId);
      // By default the location's own organization pays; that needs no consent from its owners.
      if (payerId !== organizationId) access.authorize(call.principal, 'organization.manage', payerId);
      const mayPay = new Set([organizationId, ...tree.sharedWith(locationId)]);
      await namePayer(db, call, clock.now(), { id: locationId, organizationId, mayPay }, payerId);
      return {};
    },
  };
}
