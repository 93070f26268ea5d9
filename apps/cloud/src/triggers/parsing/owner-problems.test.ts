import { expect, test } from 'vitest';
import { ownerProblems } from './owner-problems.ts';

const event = { type: 'part_online' };
const all = { value: 'all_machine_owners' };
const document = {
  triggers: [
    {
      name: 'a',
      event,
      notifications: [
        { type: 'email', value: 'ada@example.com' },
        { type: 'email', ...all },
      ],
    },
    { name: 'b', event, notifications: { type: 'push', ...all, application: 'com.example' }, disabled: true },
    { name: 'c', event, notifications: [{ type: 'webhook', ...all }] },
    'damaged',
  ],
};

test('D45 saving warns if a trigger notifies all machine owners, and none of them has an address', async () => {
  const problems = await ownerProblems(document, async () => []);
  expect(problems.map(({ level, path }) => `${level} ${path}`)).toEqual([
    'warning triggers[0].notifications[1].value',
    'warning triggers[1].notifications.value',
  ]);
  expect(problems[0]?.message).toContain('all_machine_owners reaches nobody');
  expect(await ownerProblems(document, async () => ['ada@example.com'])).toEqual([]);
});

test('the owners are looked up only if a trigger notifies them', async () => {
  const lookUp = async () => {
    throw new Error('expected no lookup');
  };
  expect(await ownerProblems({ triggers: [] }, lookUp)).toEqual([]);
  expect(await ownerProblems(null, lookUp)).toEqual([]);
});
