import { type Problem, systemClock } from '@platform/base';
import { readDataManagerAttributes } from '@platform/machine-config/data-manager';
import type { JsonObject } from '@platform/machine-config/schema';
import { isInWindow, readTimeWindow } from '@platform/machine-config/time-window';
import type { Resource } from '@platform/resources';
import { expect, test } from 'vitest';
import { builtInRule, type RuleFacts } from './built-in-rule.ts';
import { planSync, type SyncPlan } from './plan-sync.ts';

function planned(
  attributes: JsonObject,
  {
    dependsOn = [],
    running = {},
    allowed,
  }: { dependsOn?: string[]; running?: Record<string, object>; allowed?: readonly string[] } = {},
): SyncPlan & { problems: Problem[] } {
  const read = readDataManagerAttributes(attributes, 'dm');
  const service = { name: 'dm', depends_on: dependsOn, attributes };
  const dependencies = new Map(Object.entries(running) as [string, Resource][]);
  const deps = {
    ...{ clock: systemClock, directory: '/', resolvePath: (path: string) => path, allowedFolders: allowed },
  };
  return { ...planSync(service, read.attributes, dependencies, deps, read.problems), problems: read.problems };
}

const gate = 'core:component:sensor/gate';
const reading = (readings: object): Record<string, object> => ({ [gate]: { readings: () => readings } });

test.each([
  [reading({ should_sync: true }), undefined],
  [reading({ should_sync: false }), 'says should_sync = false'],
  [reading({ should_sync: 'yes' }), 'expected a reading should_sync that is true or false, found "yes"'],
  [reading({}), 'expected a reading should_sync that is true or false, found none'],
  [{ [gate]: { readings: () => Promise.reject(new Error('broken')) } }, 'cannot be read: broken'],
  [{ [gate]: {} }, 'is not a sensor'],
  [{}, 'does not run'],
])('selective_syncer_name: of %j, sync is held back because %s', async (running, expected) => {
  const { rule, problems } = planned({ selective_syncer_name: 'gate' }, { dependsOn: ['gate'], running });
  const reason = await rule();
  if (expected === undefined) expect(reason).toBeUndefined();
  else expect(reason).toContain(expected);
  expect(problems).toEqual([]);
});

test('a selective_syncer_name that is missing in depends_on is a warning, and the sensor is still read', async () => {
  const { rule, problems } = planned({ selective_syncer_name: 'gate' }, { running: reading({ should_sync: true }) });
  expect(await rule()).toBeUndefined();
  expect(problems).toEqual([
    {
      path: 'dm.selective_syncer_name',
      level: 'warning',
      message: '"gate" is not in depends_on: it is still treated as a dependency',
    },
  ]);
});

test('a time window that ends before it starts ends on the next day, and its days are those on which it begins', () => {
  const night = readTimeWindow({ start: '22:00', end: '06:00', days: ['fri'] });
  const at = (day: number, hour: number): boolean => isInWindow(night, day, hour * 60);
  expect([at(5, 21), at(5, 22), at(6, 5), at(6, 6), at(6, 22), at(5, 5)]).toEqual([
    ...[false, true, true, false, false, false],
  ]);
  const day = readTimeWindow({ start: '08:30', end: '12:00' });
  expect([isInWindow(day, 0, 509), isInWindow(day, 0, 510), isInWindow(day, 6, 719), isInWindow(day, 6, 720)]).toEqual([
    ...[false, true, true, false],
  ]);
});

test('sync_rules hold sync back outside the window and without the network, except when the disk fills up', async () => {
  const facts = { minute: 600, connected: ['wlan0'], free: 0.5 };
  const given: RuleFacts = {
    time: () => ({ day: 1, minute: facts.minute }),
    connected: () => facts.connected,
    freeDisk: async () => facts.free,
  };
  const timeWindow = readTimeWindow({ start: '09:00', end: '17:00' });
  const rule = builtInRule({ timeWindow, networkInterfaces: ['eth0', 'wlan*'], whenFreeDiskBelow: 0.2 }, given);
  expect(await rule()).toBeUndefined();
  facts.connected = ['wwan0'];
  expect(await rule()).toBe('sync_rules.network_interfaces allows eth0, wlan*; connected: wwan0');
  facts.connected = ['eth0'];
  facts.minute = 1_200;
  expect(await rule()).toBe('sync_rules.time_window allows it from 09:00 to 17:00');
  facts.free = 0.1;
  expect(await rule()).toBeUndefined();
});

test('invalid sync attributes are reported with their position, and their defaults lose no data', () => {
  const { settings, problems } = planned({
    sync_order: 'random',
    additional_sync_action: 'move',
    sync_priorities: { camera: 'high', temp: 3 },
    sync_rules: { time_window: { start: '25:00', end: '06:00' }, network_interfaces: [7] },
  });
  expect(settings).toMatchObject({ newestFirst: false, after: { action: 'keep' }, priorities: { temp: 3 } });
  expect(problems.map(({ path }) => path).toSorted()).toEqual([
    'dm.additional_sync_move_to',
    'dm.sync_order',
    'dm.sync_priorities.camera',
    'dm.sync_rules.network_interfaces',
    'dm.sync_rules.time_window',
  ]);
});

test.each(['Keep', '', 5])('files stay if additional_sync_action is %j', (action) => {
  const { settings, problems } = planned({ additional_sync_action: action });
  expect(settings.after).toEqual({ action: 'keep' });
  expect(problems.map(({ path }) => path)).toContain('dm.additional_sync_action');
});

test('D16 -untrusted-env refuses sync paths and move targets outside the folders of the local file, each by name', () => {
  const attributes = {
    additional_sync_paths: ['/data/in', '/data', '/database', '/data/../etc', '/etc'],
    ...{ additional_sync_action: 'move', additional_sync_move_to: '/srv/sent' },
  };
  const { settings, problems } = planned(attributes, { allowed: ['/data'] });
  expect(settings).toMatchObject({ additionalPaths: ['/data/in', '/data', '/data/../etc'], after: { action: 'keep' } });
  const outside = (path: string): string => `-untrusted-env does not allow ${path}: "allowed_sync_folders"`;
  expect(problems.map(({ path, message }) => [path, message.split(' in the file')[0]])).toEqual([
    ['dm.additional_sync_move_to', outside('/srv/sent')],
    ['dm.additional_sync_paths', outside('/database')],
    ['dm.additional_sync_paths', outside('/etc')],
  ]);
  expect(planned(attributes, { allowed: [] }).settings.additionalPaths).toEqual([]);
  expect(planned(attributes, { allowed: ['/data', '/srv'] }).settings.after).toEqual({
    action: 'move',
    to: '/srv/sent',
  });
  expect(planned(attributes).settings.additionalPaths).toHaveLength(5);
});
