import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { hourMs } from '@platform/base';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { BlobSchema, LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';
import { expect, test } from 'vitest';
import { logged } from '../../triggers/testing/logged.ts';
import { hourOf } from '../month.ts';
import { billing, openBilling, prices, startMs, type TestBilling } from '../testing/open-billing.ts';
import { sampleHours } from './sample-hours.ts';

const { TABULAR_DATA_UPLOAD, BINARY_DATA_UPLOAD, PER_MACHINE, BINARY_DATA_CLOUD_STORAGE } = UsageCostType;

/** An upload of the customer; `file`: the size of a picture. */
function upload(on: TestBilling, syncedAtMs: number, { readings = 1, file = 0, locationId = on.locationId } = {}) {
  const message = fromBinary(
    LoggedUploadSchema,
    logged({ syncedAtMs, readings: Array.from({ length: readings }, (_, load) => ({ readings: { load } })) }),
  );
  if (message.place !== undefined) Object.assign(message.place, { organizationId: on.customerId, locationId });
  if (file > 0) message.blob = create(BlobSchema, { path: 'a/b', sizeBytes: BigInt(file), sha256: new Uint8Array(32) });
  return toBinary(LoggedUploadSchema, message);
}

async function usage(on: TestBilling, organizationId: string = on.customerId, days = 2) {
  const at = (ms: number) => timestampFromMs(ms);
  const owner = on.key('owner', { organizationId });
  const { records } = await on.ask(owner, prices.listUsage, {
    organizationId,
    start: at(hourOf(startMs) - 24 * hourMs),
    end: at(startMs + days * 24 * hourMs),
  });
  return records.map(({ hour, type, quantity }) => [Number(hour?.seconds ?? 0n) * 1_000, type, Number(quantity)]);
}

/** Reads the log independently of the meter: whole messages, with the generated code. */
function recount(on: TestBilling): unknown[] {
  const sums = new Map<string, [number, number, number]>();
  for (const { batch } of on.log.rows) {
    const { timeSynced, readings, blob } = fromBinary(LoggedUploadSchema, batch);
    const hour = hourOf(Number(timeSynced?.seconds ?? 0n) * 1_000);
    const type = blob === undefined ? TABULAR_DATA_UPLOAD : BINARY_DATA_UPLOAD;
    const bytes = blob === undefined ? readings.reduce((sum, one) => sum + one.length, 0) : Number(blob.sizeBytes);
    const sum = sums.get(`${hour} ${type}`) ?? [hour, type, 0];
    sums.set(`${hour} ${type}`, [hour, type, sum[2] + bytes]);
  }
  return [...sums.values()]
    .toSorted((a, b) => a[0] - b[0] || b[1] - a[1])
    .toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
}

test('I11 each acknowledged upload is counted once, in its hour, and a recount of the log equals the meter', async () => {
  const on = await openBilling();
  for (let index = 0; index < 600; index++)
    on.log.append(
      upload(on, startMs + index * 60_000, { readings: 1 + (index % 7), file: index % 3 === 0 ? 1_000 : 0 }),
    );
  await on.meter();
  expect(await usage(on)).toEqual(recount(on));
  // A restart continues after the cursor.
  await on.billing.steps.flush();
  await on.billing.steps.open();
  on.log.append(upload(on, startMs, { readings: 5 }));
  await on.meter();
  expect(await usage(on)).toEqual(recount(on));
});

test('an upload that cannot be read is marked as damaged, and the others are counted', async () => {
  const on = await openBilling();
  on.log.append(Uint8Array.of(0xff, 0xff));
  on.log.append(upload(on, startMs, { file: 7 }));
  await on.meter();
  expect(on.log.damaged).toEqual([1]);
  expect(await usage(on)).toEqual([[hourOf(startMs), BINARY_DATA_UPLOAD, 7]]);
});

test('a shared location is paid by the organization named for it, from the next full hour', async () => {
  const on = await openBilling();
  const request = { locationId: on.locationId, billingOrganizationId: on.billerId };
  const both = { ...on.key('owner', { organizationId: on.customerId }) };
  await expect(on.ask(both, billing.updateLocationBillingOrganization, request)).rejects.toMatchObject({
    code: 'not_found',
  });
  if (both.kind !== 'key' || on.owners.biller.kind !== 'key') throw new Error('expected keys');
  const owner = { ...both, grants: [...both.grants, ...on.owners.biller.grants] };
  await expect(on.ask(owner, billing.updateLocationBillingOrganization, request)).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  await on.tree.change(async (_trx, changed) => changed.share(on.locationId, on.billerId));
  expect(await on.ask(owner, billing.getLocationBillingOrganization, request)).toMatchObject({
    billingOrganizationId: on.customerId,
  });
  await on.ask(owner, billing.updateLocationBillingOrganization, request);
  expect(await on.ask(owner, billing.getLocationBillingOrganization, request)).toMatchObject({
    billingOrganizationId: on.billerId,
  });
  const next = hourOf(startMs) + hourMs;
  for (const [ms, file] of [
    [next - 1, 3],
    [next, 5],
    [next + hourMs, 7],
  ] as const)
    on.log.append(upload(on, ms, { file }));
  on.log.append(upload(on, next, { file: 11, locationId: 'elsewhere' }));
  await on.meter();
  expect(await usage(on)).toEqual([
    [hourOf(startMs), BINARY_DATA_UPLOAD, 3],
    [next, BINARY_DATA_UPLOAD, 11],
  ]);
  expect(await usage(on, on.billerId)).toEqual([
    [next, BINARY_DATA_UPLOAD, 5],
    [next + hourMs, BINARY_DATA_UPLOAD, 7],
  ]);
});

test('stored data is counted once an hour, also for hours in which the cloud was down, and never twice', async () => {
  const on = await openBilling();
  let bytes = 100;
  on.stored.push(
    { type: BINARY_DATA_CLOUD_STORAGE, read: async () => [{ organizationId: on.customerId, quantity: bytes }] },
    {
      type: PER_MACHINE,
      read: async () => [
        { organizationId: on.customerId, locationId: on.locationId, quantity: 2 },
        { organizationId: on.customerId, locationId: 'other', quantity: 1 },
      ],
    },
  );
  const deps = { db: on.db, sources: on.stored, clock: on.clock, log: { warn() {} } as never };
  const all = async (): Promise<void> => {
    while (await sampleHours(deps));
  };
  await all();
  await all();
  const first = hourOf(startMs);
  expect(await usage(on)).toEqual([
    [first, BINARY_DATA_CLOUD_STORAGE, 100],
    [first, PER_MACHINE, 3],
  ]);
  bytes = 50;
  on.clock.setWall(startMs + 30 * hourMs);
  await all();
  const rows = await usage(on);
  expect(rows.filter(([, type]) => type === BINARY_DATA_CLOUD_STORAGE).map(([, , quantity]) => quantity)).toEqual([
    ...[100, ...Array.from({ length: 30 }, () => 50)],
  ]);
  // If the clock goes back, nothing is counted again.
  on.clock.setWall(startMs);
  await all();
  expect(await usage(on)).toEqual(rows);
  // After a jump of the clock, only the hours of the last two months are counted.
  on.clock.setWall(startMs + 400 * 24 * hourMs);
  await all();
  const { count } = await on.db
    .selectFrom('usage_hours')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('type', '=', PER_MACHINE)
    .executeTakeFirstOrThrow();
  expect(Number(count)).toBe(31 + 62 * 24 + 1);
});

test('usage of others is not shown', async () => {
  const on = await openBilling();
  await expect(on.ask(on.owners.biller, prices.listUsage, { organizationId: on.customerId })).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(
    on.ask(on.key('operator', { organizationId: on.customerId }), prices.listUsage, { organizationId: on.customerId }),
  ).rejects.toMatchObject({ code: 'permission_denied' });
  await expect(
    on.ask(on.owners.customer, prices.listUsage, {
      ...{ organizationId: on.customerId, start: timestampFromMs(5), end: timestampFromMs(startMs) },
    }),
  ).rejects.toMatchObject({ code: 'invalid_argument' });
});
