/**
 * Billing: what organizations use, at which prices, who pays, and how. A follower of the ingest log counts uploads; stored data is counted
 * each hour; counts that other features keep (notifications, machine logs) are read from them. Jobs bill the periods that have become due,
 * and complete payments. Rules: docs/specs/billing.md.
 */
import { type Follower, failedPrecondition, follow, notFound } from '@platform/base';
import type { BillingService } from '@platform/proto/platform/app/v1/billing';
import type { InvoiceService, PriceService } from '@platform/proto/platform/billing/v1/billing';
import type { CloudHandlers } from '../access/principal.ts';
import type { LogFollower } from '../follow-log/follow-log.ts';
import type { Attachment } from '../outbox/email/write-notifications.ts';
import type { BillingOperationDeps } from './billing-deps.ts';
import { billingHandlers } from './billing-rpc.ts';
import { closePeriods } from './invoices/close-periods.ts';
import { dunDue } from './invoices/dunning.ts';
import { checkLedger } from './ledger/check-ledger.ts';
import type { LiveUsage } from './meter/live-usage.ts';
import { type MeterUploadsDeps, meterUploads } from './meter/meter-uploads.ts';
import { type StoredSource, sampleHours } from './meter/sample-hours.ts';
import { createChargeAnswers } from './payments/charge-answers.ts';
import { type ChargeRpcDeps, chargeHandlers, invoiceHandlers } from './payments/charge-rpc.ts';
import { settleSetups } from './payments/payment-setups.ts';
import type { PaymentProvider } from './payments/provider.ts';
import { receiveEvent } from './payments/receive-event.ts';
import { settleDue } from './payments/settle-charge.ts';
import { attachedInvoice } from './pdf/read-invoice-pdf.ts';
import { priceHandlers } from './price-rpc.ts';

export interface BillingDeps
  extends Omit<BillingOperationDeps, 'metered' | 'fragmentOf'>,
    // Absent: no fragments with prices exist.
    Partial<Pick<BillingOperationDeps, 'fragmentOf'>>,
    Pick<MeterUploadsDeps, 'ingestLog'>,
    Pick<ChargeRpcDeps, 'provider' | 'mails' | 'nameOf'>,
    // Absent: invoices have neither an address nor a logo.
    Partial<Pick<ChargeRpcDeps, 'addressOf' | 'logoOf'>>,
    Pick<ChargeRpcDeps, 'returnUrlOf'> {
  readonly stored: readonly StoredSource[];
  /** Absent: nothing is counted at the moment of use. */
  readonly liveUsage?: Pick<LiveUsage, 'written'>;
}

export interface Billing extends Pick<LogFollower, 'cursor' | 'lag' | 'steps'>, AsyncDisposable {
  readonly handlers: CloudHandlers<typeof BillingService>;
  readonly priceHandlers: CloudHandlers<typeof PriceService>;
  readonly invoiceHandlers: CloudHandlers<typeof InvoiceService>;
  /**
   * Accepts an event of the payment provider.
   * @throws not_found if the provider sends none; invalid_argument if the signature is invalid
   */
  receiveEvent(provider: PaymentProvider['name'], body: string, signature: string): Promise<void>;
  /** For mails. @throws not_found */
  invoicePdf(organizationId: string, invoiceId: string): Promise<Attachment>;
  /** Resolves when the delivered answers to charges are recorded. */
  answersRecorded(): Promise<void>;
  start(): Promise<void>;
  /** The jobs individually, for tests that run them instead of `start`. */
  readonly jobs: {
    readonly sample: () => Promise<boolean>;
    readonly close: (signal: AbortSignal) => Promise<boolean>;
    readonly settle: (signal: AbortSignal) => Promise<boolean>;
    readonly dun: (signal: AbortSignal) => Promise<boolean>;
  };
}

const sampleEveryMs = 60_000;
const closeEveryMs = 600_000;
const settleEveryMs = 1_000;
const dunEveryMs = 600_000;

export function createBilling(given: BillingDeps): Billing {
  const { db, ingestLog, stored, clock, log } = given;
  const meter = meterUploads({ db, ingestLog, clock, log });
  const metered = async (signal: AbortSignal): Promise<void> => {
    await meter.caughtUp(signal);
    await given.liveUsage?.written();
  };
  const answers = createChargeAnswers({ db, clock, log });
  const deps: ChargeRpcDeps = {
    answers,
    ...{ addressOf: async () => [], logoOf: async () => undefined, fragmentOf: async () => undefined },
    ...given,
    metered,
    async meteredUntil(ms, signal) {
      await metered(signal);
      const row = await db.selectFrom('usage_samples').select('hour').where('id', '=', 1).executeTakeFirst();
      if (row !== undefined && row.hour >= ms) return;
      throw failedPrecondition(
        'month: expected one that is fully counted, found one whose last hours are still being counted; try again in a few minutes',
      );
    },
  };
  const closed = new Set<string>();
  const jobs: Billing['jobs'] = {
    sample: () => sampleHours({ db, sources: stored, clock, log }),
    close: (signal) => closePeriods(deps, closed, signal),
    settle: async (signal) => {
      const isMore = await settleSetups(deps, signal);
      return (await settleDue(deps, signal)) || isMore;
    },
    dun: (signal) => dunDue(deps, signal),
  };
  const running: Follower[] = [];
  return {
    ...meter,
    handlers: { ...billingHandlers(deps), ...chargeHandlers(deps) },
    priceHandlers: priceHandlers(deps),
    invoiceHandlers: invoiceHandlers(deps),
    jobs,
    invoicePdf: (...of) => attachedInvoice(deps, ...of),
    answersRecorded: answers.recorded,
    async receiveEvent(name, body, signature) {
      if (deps.provider.name !== name || deps.provider.readEvent === undefined)
        throw notFound(`payment provider: expected ${name}, found ${deps.provider.name}`);
      await receiveEvent(deps, body, signature);
    },
    async start() {
      const { problems } = await checkLedger(db);
      for (const problem of problems) log.error('the ledger is inconsistent', { problem });
      await meter.start();
      const job = (name: string, step: Parameters<typeof follow>[0]['step'], idleMs: number): void =>
        void running.push(follow({ name, step, idleMs, clock, log }));
      job('usage: count what is stored', jobs.sample, sampleEveryMs);
      job('billing: bill what is due', jobs.close, closeEveryMs);
      job('billing: settle payments', jobs.settle, settleEveryMs);
      job('billing: send reminders for overdue invoices', jobs.dun, dunEveryMs);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map((one) => one[Symbol.asyncDispose]()));
      await meter[Symbol.asyncDispose]();
      await answers.recorded();
    },
  };
}
