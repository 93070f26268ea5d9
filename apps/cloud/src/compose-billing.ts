/** Billing: meters, prices and charges what the other features store and count. */
import type { ClockAndLog } from '@platform/base';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import {
  isBillingServiceEnabled,
  linesOfAddress,
  readBillingAddress,
} from './accounts/organizations/billing-service.ts';
import { readLogo } from './accounts/organizations/logo.ts';
import { type Billing, createBilling } from './billing/feature.ts';
import { createInvoiceMails } from './billing/invoices/mails.ts';
import type { LiveUsage } from './billing/meter/live-usage.ts';
import { openProvider } from './billing/payments/provider.ts';
import { storedFiles } from './binary/stored-bytes.ts';
import type { Fleet } from './compose-fleet.ts';
import type { IngestLog } from './ingest/log/log.ts';
import { keptConfigurations } from './machines/configuration/kept-bytes.ts';
import { countMachines } from './machines/count-machines.ts';
import { sentLogs, storedLogs } from './machines/logs/usage.ts';
import type { Stores } from './open-stores.ts';
import { sentNotifications } from './outbox/count-sent.ts';
import type { Mail } from './outbox/email/mail.ts';
import { storedPackages } from './packages/stored-bytes.ts';
import type { Settings } from './settings.ts';
import { storedReadings } from './tabular/stored-bytes.ts';

export interface BillingWiringDeps extends Pick<Stores, 'db'>, ClockAndLog {
  readonly ingestLog: IngestLog;
  readonly fleet: Pick<Fleet, 'tree' | 'access' | 'fragments'>;
  /** Absent if no mail server is configured: nothing is mailed. */
  readonly mail: Mail | undefined;
  readonly settings: Pick<Settings, 'payments' | 'identity' | 'webUi'>;
  readonly liveUsage: LiveUsage;
  /** Where the cloud listens. */
  readonly url: () => string;
}

export async function composeBilling(deps: BillingWiringDeps): Promise<Billing> {
  const { db, ingestLog, fleet, mail, settings, clock, log } = deps;
  const { tree, access } = fleet;
  return createBilling({
    ...{ db, ingestLog, tree, access, clock, liveUsage: deps.liveUsage, log: log.child('billing') },
    fragmentOf: fleet.fragments.ownFragment,
    billsOthers: (organizationId) => isBillingServiceEnabled(db, organizationId),
    provider: await openProvider(settings.payments),
    returnUrlOf: (organizationId) =>
      `${settings.identity.publicUrl ?? deps.url()}${settings.webUi === undefined ? '/status' : `/o/${organizationId}/billing`}`,
    mails: createInvoiceMails(mail),
    nameOf: (organizationId) => {
      const { name = organizationId, support_email: supportEmail = '' } = tree.organization(organizationId) ?? {};
      return { name, supportEmail };
    },
    async addressOf(organizationId) {
      if (!(await isBillingServiceEnabled(db, organizationId))) return [];
      const address = await readBillingAddress({ db, clock }, organizationId);
      return linesOfAddress(address);
    },
    logoOf: (organizationId) => readLogo(db, organizationId),
    counted: [
      { type: UsageCostType.TRIGGER_NOTIFICATION, read: (...range) => sentNotifications(db, ...range) },
      { type: UsageCostType.LOGS_UPLOAD, read: (...range) => sentLogs(db, ...range) },
    ],
    stored: [
      { type: UsageCostType.PER_MACHINE, read: () => countMachines(db) },
      { type: UsageCostType.TABULAR_DATA_CLOUD_STORAGE, read: () => storedReadings(db) },
      { type: UsageCostType.BINARY_DATA_CLOUD_STORAGE, read: () => storedFiles(db) },
      { type: UsageCostType.LOGS_CLOUD_STORAGE, read: () => storedLogs(db) },
      { type: UsageCostType.CONFIG_HISTORY_CLOUD_STORAGE, read: () => keptConfigurations(db) },
      { type: UsageCostType.PACKAGES_CLOUD_STORAGE, read: () => storedPackages(db) },
    ],
  });
}
