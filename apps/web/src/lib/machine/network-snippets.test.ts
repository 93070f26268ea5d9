import { expect, test } from 'vitest';
import { networkSnippets } from './network-snippets.ts';

test('in the network each snippet has the key and the name in multicast DNS; only TypeScript needs a port', () => {
  const snippets = networkSnippets('p.local', 'the-id', 'the-key');
  expect(snippets.map(({ name }) => name)).toEqual(['Python', 'TypeScript', 'Go']);
  const addresses = ['"p.local"', 'https://p.local:8080', '"p.local"'];
  for (const [nth, { text }] of snippets.entries())
    for (const part of ['the-id', 'the-key', addresses[nth] ?? '']) expect(text).toContain(part);
});
