/** The examples of the configuration guide are valid, and it names every key that a configuration can have. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { captureFields, captureMethodFields, dataManagerFields } from './fields.ts';
import { parse } from './parse.ts';
import { machineConfigJsonSchema } from './schema.ts';

const guide = readFileSync(new URL('../../../docs/guides/configuration.md', import.meta.url), 'utf8');
const examples = [...guide.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = ''], index) => {
  const before = guide.slice(0, guide.indexOf(text));
  const title = /^## (.*)$/m.exec(before.slice(before.lastIndexOf('\n## ') + 1))?.[1] ?? '';
  return { name: `${index + 1}, under ${title}`, text };
});

test.each(examples)('example $name is a configuration without problems', ({ text }) => {
  expect(parse(JSON.parse(text)).problems).toEqual([]);
});

test('the guide has an example under each heading, and names every key', () => {
  expect(examples.length).toBeGreaterThanOrEqual([...guide.matchAll(/^## /gm)].length);
  const { properties } = machineConfigJsonSchema as {
    readonly properties: {
      readonly components: { readonly items: { readonly properties: Readonly<Record<string, unknown>> } };
    } & Readonly<Record<string, unknown>>;
  };
  const keys = [
    ...[properties, properties.components.items.properties].flatMap(Object.keys),
    ...[captureFields, captureMethodFields, dataManagerFields].flatMap(Object.keys),
  ];
  expect(keys.length).toBeGreaterThan(60);
  expect(keys.filter((key) => !new RegExp(`[\`"]${key}[\`"]`).test(guide))).toEqual([]);
});
