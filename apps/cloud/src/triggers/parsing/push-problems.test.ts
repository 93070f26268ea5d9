import { expect, test } from 'vitest';
import { pushProblems } from './push-problems.ts';

const push = (application: string) => ({ type: 'push', value: 'all_machine_owners', application });

test("an application without credentials is an error with its path and the command; the platform's own app needs none", async () => {
  const document = {
    triggers: [
      { name: 'a', notifications: [push('com.platform.platformmobile'), push('com.example.known')] },
      { name: 'b', notifications: [push('com.example.unknown'), { type: 'webhook', value: 'https://example.com' }] },
      { name: 'c', disabled: true, notifications: push('com.example.unknown') },
      'broken',
    ],
  };
  const problems = await pushProblems(document, async () => 'com.example.known');
  expect(problems.map(({ path, level }) => [path, level])).toEqual([
    ['triggers[1].notifications[0].application', 'error'],
    ['triggers[2].notifications.application', 'error'],
  ]);
  expect(problems[0]?.message).toContain('platform organizations push-config set');
});

test('credentials are looked up only for a configuration that notifies a custom app by push', async () => {
  const lookUp = (): Promise<string> => Promise.reject(new Error('expected no lookup'));
  for (const document of [null, {}, { triggers: [{ notifications: [push('com.platform.platformmobile')] }] }])
    expect(await pushProblems(document, lookUp)).toEqual([]);
});
