/**
 * Closes a month of many organizations, as the job of the cloud does: usage of each hour and type is summed, priced and issued as numbered
 * invoices with their ledger lines, mails and audit entries. Besides the time, it measures the longest pause of the event loop, because the
 * cloud acknowledges uploads meanwhile.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId, silentLog, systemClock } from '@platform/base';
import { createBilling } from '../../../apps/cloud/src/billing/feature.ts';
import { createInvoiceMails } from '../../../apps/cloud/src/billing/invoices/mails.ts';
import { checkLedger } from '../../../apps/cloud/src/billing/ledger/check-ledger.ts';
import { monthOf } from '../../../apps/cloud/src/billing/month.ts';
import { manualProvider } from '../../../apps/cloud/src/billing/payments/provider.ts';
import { migrations } from '../../../apps/cloud/src/metadata/migrations.ts';
import { openMetadata } from '../../../apps/cloud/src/metadata/open-metadata.ts';
import { throwUncaught } from '../../../apps/cloud/src/metadata/testing/throw-uncaught.ts';
import { createMail } from '../../../apps/cloud/src/outbox/email/mail.ts';
import { MemoryLog } from '../../../apps/cloud/src/triggers/testing/memory-log.ts';
import { scratch } from '../cloud/scratch.ts';
import type { Figure } from '../store/figure.ts';

export interface MonthLoad {
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

export async function closeMonth({ organizations, records }: MonthLoad): Promise<Figure[]> {
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
  const list = db.prepare('insert into price_lists values (?, 1, ?, ?, ?)');
  list.run(billerId, startMs - hourMs, startMs - hourMs, document);
  const account = db.prepare('insert into billing_accounts values (?, 1, ?, ?, ?, ?, ?)');
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
  db.exec('commit');
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}
