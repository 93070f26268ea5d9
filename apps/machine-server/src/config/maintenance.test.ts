import { parse } from '@platform/machine-config/parse';
import { revisionOf } from '@platform/machine-config/robot-config';
import type { Resource } from '@platform/resources';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { createTestHome, patientClock, startTestServer, until as untilAt } from '../testing/start-test-server.ts';
import { holdReason } from './hold-reason.ts';

const revision = (document: unknown): string => revisionOf(parse(document).config);
const window = { sensor_name: 'core:component:sensor/door', maintenance_allowed_key: 'open' };

/** A machine whose door sensor always reads the same; `more` distinguishes its versions. */
const machine = (open: unknown, more: object): object => ({
  components: [
    { name: 'door', api: 'core:component:sensor', model: 'core:builtin:fake', attributes: { readings: { open } } },
  ],
  ...more,
});

/** The machine's time advances only in this test, so waits for a refresh or a check take no real time. */
const clock = new FakeClock(Date.now());
const until = (what: string, condition: () => boolean): Promise<void> =>
  untilAt(what, async () => {
    await clock.advance(100);
    return condition();
  });

test('D9 anything except true under the key of a running sensor makes the configuration wait', async () => {
  const sensor = (readings: () => unknown): Resource & { readings: () => unknown; doCommand: () => unknown } => ({
    close: async () => {},
    readings,
    doCommand: readings,
  });
  const reason = (resource: Resource | undefined) => holdReason({ get: () => resource }, window, new FakeClock());
  expect(await reason(sensor(() => ({ open: true })))).toBeUndefined();
  expect(await holdReason({ get: () => undefined }, undefined, new FakeClock())).toBeUndefined();
  expect(await reason(sensor(async () => ({ open: true })))).toBeUndefined();
  expect(await reason(sensor(() => ({ open: false })))).toMatch(/expected true under "open" .*, found false/);
  expect(await reason(sensor(() => ({ open: 'true' })))).toMatch(/found "true"/);
  expect(await reason(sensor(() => ({})))).toMatch(/found nothing/);
  expect(await reason(undefined)).toMatch(/expected the sensor core:component:sensor\/door to be running/);
  expect(await reason({ close: async () => {} })).toMatch(/to be running, found none/);
  const broken = sensor(() => {
    throw new Error('no bus');
  });
  expect(await reason(broken)).toMatch(/expected a reading .*no bus/);
  const silent = holdReason({ get: () => sensor(() => new Promise(() => {})) }, window, clock);
  await clock.advance(5_000);
  expect(await silent).toMatch(/no reading within 5000 ms/);
});

test('D9 a closed window holds a new configuration, a restart starts the applied one, and an edit that removes the window is applied', async () => {
  const applied = machine(false, {});
  const pending = machine(false, { maintenance: window, debug: true });
  await using cloud = await startFakeCloud(applied);
  await using home = await createTestHome(cloud.url);
  const report = (appliedRevision: string, heldRevision: string) => () =>
    cloud.reports?.some((one) => one.appliedRevision === appliedRevision && one.heldRevision === heldRevision) === true;
  {
    await using _server = await startTestServer(home, clock);
    await until('the first configuration', report(revision(applied), ''));
    cloud.document = pending;
    await until('the hold', report(revision(applied), revision(pending)));
  }
  cloud.reports = [];
  await using _again = await startTestServer(home, clock);
  await until('the hold after a restart', report(revision(applied), revision(pending)));
  const repaired = machine(true, { debug: true });
  cloud.document = repaired;
  await until('the edit without a window', report(revision(repaired), ''));
});

test('D9 a forced configuration is applied although the window is closed; a later one waits again, and reports why', async () => {
  const applied = machine(false, { maintenance: window });
  const forced = machine(false, { maintenance: window, debug: true });
  const later = machine(false, { maintenance: window, disable_log_deduplication: true });
  await using cloud = await startFakeCloud(applied);
  await using home = await createTestHome(cloud.url);
  await using _server = await startTestServer(home, clock);
  const last = () => cloud.reports?.at(-1);
  await until('the first configuration', () => last()?.appliedRevision === revision(applied));
  cloud.document = forced;
  await until('the hold', () => last()?.heldRevision === revision(forced));
  expect(last()?.heldReason).toBe('expected true under "open" of core:component:sensor/door, found false');
  cloud.forcedRevision = revision(forced);
  await until('the forced one', () => last()?.appliedRevision === revision(forced));
  expect(last()).toMatchObject({ heldRevision: '', heldReason: '' });
  cloud.document = later;
  await until('the next hold', () => last()?.heldRevision === revision(later));
  expect(last()?.appliedRevision).toBe(revision(forced));
});

test('D9 an open window lets a configuration through at once', async () => {
  const applied = machine(true, {});
  await using cloud = await startFakeCloud(applied);
  await using home = await createTestHome(cloud.url);
  await using _server = await startTestServer(home, clock);
  await until('the first configuration', () => (cloud.reports ?? []).length > 0);
  const next = machine(true, { maintenance: window });
  cloud.document = next;
  await until('the next configuration', () => cloud.reports?.at(-1)?.appliedRevision === revision(next));
  expect(cloud.reports?.every(({ heldRevision }) => heldRevision === '')).toBe(true);
});

test('D9 a configuration that has waited for a day is logged again, with the time since when it waits', async () => {
  let skippedMs = 0;
  const jumping = { ...patientClock, monotonic: () => patientClock.monotonic() + skippedMs };
  await using cloud = await startFakeCloud(machine(false, {}));
  await using home = await createTestHome(cloud.url);
  await using _server = await startTestServer(home, jumping);
  await untilAt('the first configuration', () => cloud.logs.includes('configuration applied'));
  cloud.document = machine(false, { maintenance: window, debug: true });
  const why = 'expected true under "open" of core:component:sensor/door, found false';
  await untilAt('the wait', () => cloud.logs.includes(`new configuration waits for its maintenance window: ${why}`));
  const reminders = () => cloud.logs.filter((line) => line.includes('still waits for its maintenance window'));
  expect(reminders()).toEqual([]);
  skippedMs = 86_400_000;
  await untilAt('the reminder', () => reminders().length > 0);
  expect(reminders()).toEqual([`the new configuration still waits for its maintenance window: ${why}`]);
});
