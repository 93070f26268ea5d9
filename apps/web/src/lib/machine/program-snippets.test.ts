import { expect, test } from 'vitest';
import { type ProgramTarget, programAddress, programSnippets } from './program-snippets.ts';

const target: ProgramTarget = {
  ...{ partId: 'p', fqdn: 'p.machines.example.com', localFqdn: 'p.local', cloudUrl: 'https://example.com' },
};

test('through the cloud the address has the port of the cloud, which Go clients need; in the network it has none', () => {
  expect(programAddress('cloud', target)).toBe('p.machines.example.com:443');
  expect(programAddress('cloud', { ...target, cloudUrl: 'https://example.com:8080/' })).toBe(
    'p.machines.example.com:8080',
  );
  expect(programAddress('cloud', { ...target, cloudUrl: 'http://example.com' })).toBe('p.machines.example.com:80');
  expect(programAddress('cloud', { ...target, fqdn: `${target.fqdn}:9` })).toBe('p.machines.example.com:443');
  expect(programAddress('network', target)).toBe('p.local');
});

test('each snippet has the key and where it leads; through the cloud, TypeScript uses the SDK of this project', () => {
  for (const [way, said] of [
    ['cloud', ['"p.machines.example.com:443"', '"p.machines.example.com:443"', 'https://example.com']],
    ['network', ['"p.local"', '"p.local"', 'https://p.local:8080']],
  ] as const) {
    const snippets = programSnippets(way, target, 'the-id', 'the-key');
    expect(snippets.map(({ name }) => name)).toEqual(['Python', 'Go', 'TypeScript']);
    for (const [nth, { text }] of snippets.entries())
      for (const part of ['the-id', 'the-key', said[nth] ?? '']) expect(text).toContain(part);
  }
  expect(programSnippets('cloud', target, 'i', 'k')[2]?.text).toContain("cloud.machine('p')");
});
