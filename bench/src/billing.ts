/** Billing compared with its requirements: the cost of metering per reading, and closing a month. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId, silentLog, systemClock } from '@platform/base';
import { createBilling } from '../../apps/cloud/src/billing/feature.ts';
import { createInvoiceMails } from '../../apps/cloud/src/billing/invoices/mails.ts';
import { checkLedger } from '../../apps/cloud/src/billing/ledger/check-ledger.ts';
import { meterUploads } from '../../apps/cloud/src/billing/meter/meter-uploads.ts';
import { monthOf } from '../../apps/cloud/src/billing/month.ts';
import { manualProvider } from '../../apps/cloud/src/billing/payments/provider.ts';
import { migrations } from '../../apps/cloud/src/metadata/migrations.ts';
import { openMetadata } from '../../apps/cloud/src/metadata/open-metadata.ts';
import { throwUncaught } from '../../apps/cloud/src/metadata/testing/throw-uncaught.ts';
import { createMail } from '../../apps/cloud/src/outbox/email/mail.ts';
import { logged } from '../../apps/cloud/src/triggers/testing/logged.ts';
import { MemoryLog } from '../../apps/cloud/src/triggers/testing/memory-log.ts';
import { scratch } from './cloud/scratch.ts';
import { median } from './figures/statistics.ts';
import type { Figure } from './store/figure.ts';

export interface BillingLoad {
  readonly organizations: number;
  /** Rows of the meter in the month to be closed. */
  readonly records: number;
  /** Readings to meter. */
  readonly readings: number;
  readonly runs: number;
}

export async function measureBilling(load: BillingLoad): Promise<Figure[]> {
  return [...(await metering(load)), ...(await closeMonth(load))];
}

/** The cases of the meter's requirement: per reading, in uploads as machines send them, and in small ones. */
const sizes = [250, 10];
const distinct = 64;

/** The cost of metering uploads: CPU time of the whole process while it follows a log that is already in memory. */
async function metering(load: { readonly readings: number; readonly runs: number }): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const each of sizes) {
    const costs: number[] = [];
    for (let run = 0; run < load.runs; run++) costs.push(await costOf(each, load.readings));
    figures.push({
      ...{ name: `metering a reading, ${each} in an upload`, value: median(costs), unit: 'µs', most: 0.3 },
      note: `CPU of all threads, ${load.readings} readings; runs ${costs.map((cost) => cost.toFixed(3)).join(' ')}`,
    });
  }
  return figures;
}

/** Microseconds of CPU time per reading. */
async function costOf(each: number, readings: number): Promise<number> {
  using folder = scratch();
  const log = new MemoryLog();
  const frames = Array.from({ length: distinct }, (_, frame) =>
    logged({
      syncedAtMs: Date.UTC(2027, 0, 1) + frame * 600_000,
      readings: Array.from({ length: each }, (_reading, n) => ({
        readings: { n, temperature: 20 + Math.sin(n), humidity: 40 + (n % 977) / 31, door: n % 2 === 0 },
      })),
    }),
  );
  const uploads = Math.ceil(readings / each);
  for (let n = 0; n < uploads; n++) log.append(frames[n % distinct] as Uint8Array);
  const file = `${folder.path}/meta.sqlite`;
  await using metadata = await openMetadata({
    file,
    migrations,
    clock: systemClock,
    log: silentLog,
    onFatal: throwUncaught,
  });
  await using meter = meterUploads({ db: metadata.db, ingestLog: log, clock: systemClock, log: silentLog });
  await meter.steps.open();
  const before = process.cpuUsage();
  while (await meter.steps.next());
  await meter.steps.flush();
  const { user, system } = process.cpuUsage(before);
  if (log.damaged.length > 0) throw new Error(`expected uploads that can be read, found ${log.damaged.length} others`);
  return (user + system) / (uploads * each);
}

interface MonthLoad {
  readonly organizations: number;
  readonly records: number;
}

const hourMs = 3_600_000;
const billerId = 'biller';
const document = JSON.stringify({
  ...{ currency: 'USD', tax_percent: '19' },
  tiers: [
    {
      ...{ name: 'standard', in_arrears: true, per_machine: '10', discount_percent: '5', credit: '20', minimum: '15' },
      usage: {
        TABULAR_DATA_UPLOAD: { price: '0.15', free: '1' },
        BINARY_DATA_UPLOAD: { price: '0.10' },
        TABULAR_DATA_CLOUD_STORAGE: { steps: [{ up_to: '100', price: '0.30' }, { price: '0.25' }] },
        LOGS_UPLOAD: { price: '0.50' },
      },
    },
  ],
});

/**
 * Closes a month of many organizations, as the job of the cloud does: usage of each hour and type is summed, priced and issued as numbered
 * invoices with their ledger lines, mails and audit entries. Besides the time, it measures the longest pause of the event loop, because the
 * cloud acknowledges uploads meanwhile.
 */
async function closeMonth({ organizations, records }: MonthLoad): Promise<Figure[]> {
  using folder = scratch();
  const file = `${folder.path}/meta.sqlite`;
  const options = { file, migrations, clock: systemClock, log: silentLog, onFatal: throwUncaught };
  const month = monthOf(monthOf(Date.now()).startMs - 1);
  {
    await using _made = await openMetadata(options);
  }
  fill(file, organizations, records, month.startMs);
  await using metadata = await openMetadata(options);
  const { db } = metadata;
  const instanceKey = { encrypt: (text: string) => Buffer.from(text) };
  await using billing = createBilling({
    ...{
      db,
      ingestLog: new MemoryLog(),
      stored: [],
      counted: [],
      provider: manualProvider,
      clock: systemClock,
      log: silentLog,
    },
    // Only calls of clients need these.
    ...{ tree: {} as never, access: {} as never, billsOthers: async () => true, returnUrlOf: () => '' },
    mails: createInvoiceMails(createMail({ outbox: { wake: () => {} }, instanceKey, clock: systemClock })),
    nameOf: (id) => ({ name: `Organization ${id}`, supportEmail: 'support@example.com' }),
  });
  await billing.steps.open();
  const { signal } = new AbortController();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  // It measures from its first tick to its last one.
  await sleep(20);
  const closedS = await secondsOf(() => billing.jobs.close(signal));
  await sleep(20);
  delay.disable();
  const againS = await secondsOf(() => billing.jobs.close(signal));
  const issued = await db.selectFrom('invoices').select('id').where('period', '=', month.name).execute();
  if (issued.length !== organizations) throw new Error(`expected ${organizations} invoices, found ${issued.length}`);
  const began = performance.now();
  const { problems, lines } = await checkLedger(db);
  if (problems.length > 0) throw new Error(`the ledger is inconsistent: ${problems[0]}`);
  return [
    {
      ...{ name: 'closing a month', value: closedS, unit: 's', most: 60, aim: 15 },
      note: `${organizations} organizations, ${records} records, ${issued.length} invoices`,
    },
    { name: 'longest pause of the event loop meanwhile', value: delay.max / 1e6, unit: 'ms' },
    { name: 'closing it again, which bills nothing', value: againS, unit: 's' },
    { name: 'checking the ledger', value: (performance.now() - began) / 1_000, unit: 's', note: `${lines} lines` },
  ];
}

/** Rows in the order of hours: for each hour and type, one for each organization. */
function fill(file: string, organizations: number, records: number, startMs: number): void {
  using db = new DatabaseSync(file);
  db.exec('begin');
  const list = db.prepare(
    'insert into price_lists (organization_id, version, effective_ms, created_ms, document) values (?, 1, ?, ?, ?)',
  );
  list.run(billerId, startMs - hourMs, startMs - hourMs, document);
  const account = db.prepare(`insert into billing_accounts
    (organization_id, entry, since_ms, biller_id, tier, billing_email, created_ms) values (?, 1, ?, ?, ?, ?, ?)`);
  const ids = Array.from({ length: organizations }, () => newId());
  for (const id of ids) account.run(id, startMs, billerId, 'standard', 'bills@example.com', startMs);
  db.prepare('insert into usage_samples values (1, ?)').run(startMs + 32 * 24 * hourMs);
  const usage = db.prepare('insert into usage_hours (organization_id, hour, type, quantity) values (?, ?, ?, ?)');
  const hours = monthOf(startMs).hours;
  const types = Math.ceil(records / (organizations * Number(hours)));
  let left = records;
  for (let hour = 0; hour < hours && left > 0; hour++)
    for (let type = 1; type <= types && left > 0; type++)
      for (const [nth, id] of ids.entries()) {
        if (left-- <= 0) break;
        usage.run(id, startMs + hour * hourMs, type, 1_000_000 + ((nth * 7_919 + hour * 104_729 + type) % 9_000_000));
      }
  // The next opening gives all rows their checksums.
  db.exec('delete from checked_tables');
  db.exec('commit');
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}
