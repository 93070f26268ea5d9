import { expect, test } from 'vitest';
import { createFindNamed, type Named } from './find-named.ts';

const dashboard = (name: string): Named => ({ kind: 'dashboard', name, path: `dashboards/${name}` });

test('whole lists are asked for once, and searched by all words; other lists are asked by each text', async () => {
  const asked: string[] = [];
  const find = createFindNamed({
    whole: [
      async () => {
        asked.push('dashboards');
        return [dashboard('Every morning'), dashboard('Evening')];
      },
    ],
    byText: [
      async (text) => {
        asked.push(`deliveries ${text}`);
        return [{ kind: 'delivery', name: text, path: 'deliveries' }];
      },
    ],
  });
  expect(asked).toEqual([]);
  const { signal } = new AbortController();
  const names = async (text: string): Promise<readonly string[]> =>
    (await find(text, signal)).found.map(({ name }) => name);
  expect(await names('morning EVERY')).toEqual(['Every morning', 'morning EVERY']);
  expect(await names('eve')).toEqual(['Every morning', 'Evening', 'eve']);
  expect(asked).toEqual(['dashboards', 'deliveries morning EVERY', 'deliveries eve']);
});

test('a list that cannot be read is left out, and a long one is cut', async () => {
  const find = createFindNamed({
    whole: [() => Promise.reject(new Error('refused')), async () => Array.from({ length: 50 }, () => dashboard('a'))],
    byText: [],
  });
  const { found, isAway } = await find('a', new AbortController().signal);
  expect(found).toHaveLength(20);
  expect(isAway).toBe(false);
});
