import { expect, test } from 'vitest';
import type { FleetRow } from '../fleet/rows.ts';
import { entriesOf, findEntries } from './palette-entries.ts';

const machine = (id: string, name: string, location: string) => ({ id, name, location }) as FleetRow;

const twoMachines = [machine('m1', 'press-7', 'Hall 2'), machine('m2', 'oven', 'Plant')];

function rig({ isOwner = true, ownsSomething = true, fleet = twoMachines } = {}) {
  const done: string[] = [];
  const says = (what: string) => (given: unknown) => done.push(`${what} ${String(given)}`);
  const entries = entriesOf({
    ...{ base: '/o/mill', fleet, isOwner, ownsSomething, organizations: [{ id: 'other', name: 'Other mill' }] },
    does: {
      ...{
        go: says('go'),
        leave: says('leave'),
        setTheme: says('theme'),
        setZone: says('zone'),
        signOut: () => done.push('sign out'),
      },
      stopAll: ({ name }) => done.push(`stop ${name}`),
    },
  });
  return {
    names: (text: string) => findEntries(entries, text, 12).map(({ name }) => name),
    chooseFirst: (text: string) => {
      findEntries(entries, text, 12)[0]?.run();
      return done.at(-1);
    },
  };
}

test.each([
  ['press', 'go /o/mill/m/m1'],
  ['press logs', 'go /o/mill/m/m1/logs'],
  ['stop press', 'stop press-7'],
  ['add machine', 'go /o/mill/machines?add=1'],
  ['trigger new', 'go /o/mill/triggers/edit'],
  ['api key', 'go /o/mill/settings?show=keys'],
  ['query', 'go /o/mill/query'],
  ['theme dark', 'theme dark'],
  ['utc', 'zone UTC'],
  ['hall 2', 'go /o/mill/machines?q=loc%3Ahall-2'],
  ['other mill', 'go /o/other/machines'],
  ['account', 'leave /account'],
  ['sign out', 'sign out'],
])('%s is found first', (text, does) => {
  expect(rig().chooseFirst(text)).toBe(does);
});

test('a person who does not own the organization is not offered the actions of owners', () => {
  expect(rig({ isOwner: false }).names('new')).toEqual(['New trigger']);
  expect(rig({ isOwner: false, ownsSomething: false }).names('new')).toEqual([]);
  expect(rig().names('new')).toEqual(['New trigger', 'New API key']);
});

test('before anything is typed there are pages and actions, even with many machines', () => {
  const fleet = Array.from({ length: 10_000 }, (_, at) => machine(`m${at}`, `machine-${at}`, 'Plant'));
  const names = rig({ fleet }).names('');
  expect(names.slice(0, 2)).toEqual(['Machines', 'Dashboards']);
  expect(names).toContain('New trigger');
});
