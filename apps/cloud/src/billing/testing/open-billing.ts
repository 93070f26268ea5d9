/** Billing on a real store with an organization that bills another one, for tests; the test controls time and uploads. */
import { create, type DescMethod, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { silentLog } from '@platform/base';
import { BillingService } from '@platform/proto/platform/app/v1/billing';
import { InvoiceService, PriceService } from '@platform/proto/platform/billing/v1/billing';
import { FakeClock } from '@platform/testkit';
import { type Access, createAccess } from '../../access/authorize.ts';
import type { Grant, Principal } from '../../access/principal.ts';
import { callOf } from '../../access/testing/call-of.ts';
import { insertOrganization } from '../../accounts/insert-account-rows.ts';
import { enableBillingService, isBillingServiceEnabled } from '../../accounts/organizations/billing-service.ts';
import { openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import type { AccountTree } from '../../accounts/tree.ts';
import type { RowWatch } from '../../metadata/row-checks/row-watch.ts';
import type { Database } from '../../metadata/tables.ts';
import { MemoryLog } from '../../triggers/testing/memory-log.ts';
import { type Billing, type BillingDeps, createBilling } from '../feature.ts';
import type { InvoiceMail, InvoiceMails } from '../invoices/mails.ts';
import type { StoredSource } from '../meter/sample-hours.ts';
import { manualProvider } from '../payments/provider.ts';

export const billing: typeof BillingService.method = BillingService.method;
export const invoices: typeof InvoiceService.method = InvoiceService.method;
export const prices: typeof PriceService.method = PriceService.method;

export interface TestBilling {
  readonly db: Database;
  /** Runs a statement on the metadata without the cloud's knowledge. */
  readonly alterRows: (statement: string) => Promise<void>;
  /** Finds what such statements damaged. */
  readonly rows: RowWatch;
  readonly clock: FakeClock;
  readonly tree: AccountTree;
  readonly access: Access;
  readonly billing: Billing;
  readonly log: MemoryLog;
  /** Stored quantities; a test may change them. */
  readonly stored: StoredSource[];
  /** Mails, by cause. */
  readonly sent: ReadonlyMap<string, InvoiceMail>;
  /** The organization that bills, and the one that is billed. */
  readonly billerId: string;
  readonly customerId: string;
  readonly locationId: string;
  readonly owners: { readonly biller: Principal; readonly customer: Principal };
  /** A key with one role on an organization. */
  key(role: 'owner' | 'operator', on: Pick<Grant, 'organizationId'> & Partial<Grant>): Principal;
  /** Counts all uploads of the log. */
  meter(): Promise<void>;
  ask<M extends DescMethod>(
    principal: Principal,
    method: M,
    request: MessageInitShape<M['input']>,
    metadata?: Readonly<Record<string, string>>,
    /** Default true. */
    isDelivered?: boolean,
  ): Promise<MessageShape<M['output']>>;
}

/** A month with 31 days; the test starts on its 11th. */
export const startMs: number = Date.UTC(2027, 2, 11, 10, 30);

export async function openBilling(overrides: Partial<BillingDeps> = {}): Promise<TestBilling> {
  const account = await openFirstAccount();
  const { db, tree, instanceKey, organizationId: customerId, locationId, alterRows, rows } = account;
  const clock = new FakeClock(startMs);
  const { id: billerId } = await tree.change(async (trx, changed) => {
    const row = await insertOrganization(trx, instanceKey, 'The biller', 2);
    changed.organization(row);
    return row;
  });
  const access = createAccess(tree, { locationOfMachine: () => undefined, machineOfPart: () => undefined });
  const log = new MemoryLog();
  const stored: StoredSource[] = [];
  const sent = new Map<string, InvoiceMail>();
  const mails: InvoiceMails = {
    enqueue: async (_trx, mail) => void sent.set(JSON.stringify(mail.cause), mail),
    wake: () => {},
  };
  const feature = createBilling({
    ...{ db, tree, access, clock, log: silentLog, stored, counted: [], provider: manualProvider, mails },
    nameOf: (id) => ({ name: tree.organization(id)?.name ?? '', supportEmail: '' }),
    ingestLog: log,
    returnUrlOf: (id) => `https://fleet.example.com/o/${id}/billing`,
    billsOthers: (id) => isBillingServiceEnabled(db, id),
    ...overrides,
  });
  await feature.steps.open();
  const key: TestBilling['key'] = (role, on) => ({
    kind: 'key',
    keyId: 'k',
    keyName: 'the key',
    grants: [{ role, locationId: null, robotId: null, ...on }],
  });
  const owners = {
    biller: key('owner', { organizationId: billerId }),
    customer: key('owner', { organizationId: customerId }),
  };
  const address = { addressLine1: 'Mill Lane 1', city: 'Porto', state: '', zipcode: '4000', country: 'PT' };
  await enableBillingService({ db, clock }, callOf(owners.biller), billerId, address as never);
  return {
    ...{
      db,
      alterRows,
      rows,
      clock,
      tree,
      access,
      billing: feature,
      log,
      stored,
      sent,
      billerId,
      customerId,
      locationId,
      owners,
      key,
    },
    async meter() {
      while (await feature.steps.next());
      await feature.steps.flush();
    },
    async ask(principal, method, request, metadata, isDelivered) {
      const all = { ...feature.handlers, ...feature.priceHandlers, ...feature.invoiceHandlers };
      const handler = all[method.localName as keyof typeof all] as unknown as
        | ((request: unknown, call: unknown) => Promise<never>)
        | undefined;
      if (handler === undefined) throw new Error(`${method.name} has no handler`);
      const call = callOf(principal, metadata, isDelivered);
      try {
        return create(method.output, await handler(create(method.input, request), call)) as never;
      } finally {
        await feature.answersRecorded();
      }
    },
  };
}
