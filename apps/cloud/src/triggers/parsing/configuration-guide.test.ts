import { readFileSync } from 'node:fs';
import { machineConfigJsonSchema } from '@platform/machine-config/schema';
import { expect, test } from 'vitest';
import { triggerKinds } from '../kinds/registry.ts';
import { triggersOfDocument } from './parse-document.ts';
import { parseTriggers } from './parse-triggers.ts';

interface Schema {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly items: Schema;
  readonly anyOf: readonly [Schema, Schema];
  readonly enum?: readonly string[];
}

test('the editor schema has the event types and the keys that the cloud reads', () => {
  const { properties } = machineConfigJsonSchema as unknown as Schema;
  const { event, notifications } = properties['triggers']?.items.properties ?? {};
  expect(event?.properties['type']?.enum?.toSorted()).toEqual([...triggerKinds.keys()].sort());
  const keys = new Set([...triggerKinds.values()].flatMap((kind) => kind.keys));
  expect(Object.keys(event?.properties ?? {}).sort()).toEqual(['type', ...keys].sort());
  const [list, one] = notifications?.anyOf ?? [];
  expect(list?.items).toEqual(one);
  const { problems } = parseTriggers(
    [
      {
        name: 't',
        event: { type: 'part_online' },
        notifications: { type: 'webhook', value: 'https://example.com', nonsense: 1 },
      },
    ],
    [],
  );
  const known = problems.find(({ path }) => path.endsWith('.nonsense'))?.message;
  for (const key of Object.keys(one?.properties ?? {})) expect(known).toContain(key);
});

test('the triggers in the examples of the configuration guide have no problems', () => {
  const guide = readFileSync(new URL('../../../../../docs/guides/configuration.md', import.meta.url), 'utf8');
  const documents = [...guide.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = '']) => JSON.parse(text));
  const parsed = documents.map((document) => triggersOfDocument(document));
  expect(parsed.flatMap(({ problems }) => problems)).toEqual([]);
  expect(parsed.flatMap(({ triggers }) => triggers).length).toBeGreaterThan(1);
});
