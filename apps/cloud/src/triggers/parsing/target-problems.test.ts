import { expect, test } from 'vitest';
import { targetProblems } from './target-problems.ts';

const event = { type: 'part_online' };
const bad = { type: 'webhook', value: 'http://10.0.0.1/' };
const good = { type: 'webhook', value: 'https://example.com/' };

test('D23 each notification to a refused target has a warning with its path; each target is checked once', async () => {
  const asked: string[] = [];
  const document = {
    triggers: [
      { name: 'a', event, notifications: [good, bad] },
      { name: 'b', event, notifications: bad },
      { name: 'c', event, notifications: [{ type: 'email', value: 'a@example.com' }] },
      'broken',
    ],
  };
  const problems = await targetProblems(document, async (url) => {
    asked.push(url);
    return url === bad.value ? 'refused' : undefined;
  });
  expect(problems).toEqual(
    ['triggers[0].notifications[1].value', 'triggers[1].notifications.value'].map((path) => ({
      path,
      level: 'warning',
      message: 'refused',
    })),
  );
  expect(asked).toEqual([good.value, bad.value]);
  expect(await targetProblems(null, async () => 'refused')).toEqual([]);
});
