import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const sources = fileURLToPath(new URL('../../', import.meta.url));

test('every status text that waits names what it waits for', () => {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.svelte'));
  const texts = files.flatMap((name) =>
    [...readFileSync(`${sources}${name}`, 'utf8').matchAll(/role="status">((?:Loading|Waiting)[^<{]*)</g)].map(
      ([, text = '']) => `${name}: ${text}`,
    ),
  );
  expect(texts.length).toBeGreaterThan(15);
  for (const text of texts) expect(text).toMatch(/: (Loading \w[\w ]+|Waiting for \w[\w ]+) …$/);
});
