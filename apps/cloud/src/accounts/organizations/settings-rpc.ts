/** Logo, support e-mail, billing service and metadata in the API. */

import type { AppService } from '@platform/proto/platform/app/v1/app';
import { audit, type Caller } from '../../access/audit.ts';
import { type CloudHandlers, notVisible } from '../../access/principal.ts';
import { checkedEmail } from '../../text-rules/checked-email.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { readMetadata, writeMetadata } from '../metadata.ts';
import {
  disableBillingService,
  enableBillingService,
  readBillingAddress,
  updateBillingService,
} from './billing-service.ts';
import { logoUrl, setLogo } from './logo.ts';

export function settingsHandlers(deps: AccountsDeps): CloudHandlers<typeof AppService> {
  const { tree, access } = deps;
  return {
    async organizationSetLogo(request, call) {
      access.authorize(call.principal, 'organization.manage', request.orgId);
      await setLogo(deps, call, request.orgId, request.logo);
    },
    async organizationGetLogo(request, { principal }) {
      access.authorize(principal, 'organization.see', request.orgId);
      return { url: await logoUrl(deps, request.orgId) };
    },
    async organizationSetSupportEmail(request, call) {
      access.authorize(call.principal, 'organization.manage', request.orgId);
      await setSupportEmail(deps, call, request.orgId, request.email);
    },
    organizationGetSupportEmail(request, { principal }) {
      access.authorize(principal, 'organization.see', request.orgId);
      return { email: tree.organization(request.orgId)?.support_email ?? '' };
    },
    async enableBillingService(request, call) {
      access.authorize(call.principal, 'organization.manage', request.orgId);
      await enableBillingService(deps, call, request.orgId, request.billingAddress);
    },
    async updateBillingService(request, call) {
      access.authorize(call.principal, 'organization.manage', request.orgId);
      await updateBillingService(deps, call, request.orgId, request.billingAddress);
    },
    async disableBillingService(request, call) {
      access.authorize(call.principal, 'organization.manage', request.orgId);
      await disableBillingService(deps, call, request.orgId);
    },
    async getBillingServiceConfig(request, { principal }) {
      access.authorize(principal, 'organization.manage', request.orgId);
      return {
        billingAddress: await readBillingAddress(deps, request.orgId),
        supportEmail: tree.organization(request.orgId)?.support_email ?? '',
        logoUrl: await logoUrl(deps, request.orgId),
      };
    },
    async getOrganizationMetadata({ organizationId }, { principal }) {
      access.authorize(principal, 'organization.read', organizationId);
      return { data: await readMetadata(deps, { kind: 'organization', id: organizationId, organizationId }) };
    },
    async updateOrganizationMetadata({ organizationId, data }, call) {
      access.authorize(call.principal, 'organization.manage', organizationId);
      await writeMetadata(deps, call, { kind: 'organization', id: organizationId, organizationId }, data ?? {});
    },
    async getLocationMetadata({ locationId }, { principal }) {
      const { organizationId } = access.authorize(principal, 'location.read', locationId);
      return { data: await readMetadata(deps, { kind: 'location', id: locationId, organizationId }) };
    },
    async updateLocationMetadata({ locationId, data }, call) {
      const { organizationId } = access.authorize(call.principal, 'location.manage', locationId);
      await writeMetadata(deps, call, { kind: 'location', id: locationId, organizationId }, data ?? {});
    },
  };
}

/** Sets the sender of e-mails to the customers. The caller must own the organization. An empty address removes it. @throws invalid_argument */
async function setSupportEmail(
  { tree, clock }: Pick<AccountsDeps, 'tree' | 'clock'>,
  by: Caller,
  organizationId: string,
  email: string,
): Promise<void> {
  const checked = email.trim() === '' ? '' : checkedEmail(email);
  await tree.change(async (trx, changed) => {
    const row = await trx
      .updateTable('organizations')
      .set({ support_email: checked })
      .where('id', '=', organizationId)
      .returningAll()
      .executeTakeFirstOrThrow(() => notVisible('organization', organizationId));
    const detail = { email: checked };
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, clock.now(), 'AppService.OrganizationSetSupportEmail', target, detail);
    changed.organization(row);
  });
}
