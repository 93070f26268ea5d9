import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operators } from './functions/registry.ts';
import { accumulatorNames } from './mql/accumulator.ts';
import { sqlAggregates, sqlFunctions } from './sql/functions.ts';
import { pipelineStages } from './stages/registry.ts';
import { windowFunctions } from './window-functions/registry.ts';

function page(name: string): string {
  return readFileSync(new URL(`../../../docs/specs/${name}`, import.meta.url), 'utf8');
}

/** The names in a section of the MQL page, from tables and from lines that hold only names. */
function listed(section: string): readonly string[] {
  const [, text = ''] = page('mql.md').split(`\n## ${section}\n`);
  const lists = text
    .split('\n## ')[0]
    ?.split('\n')
    .filter((line) => /^(\||`\$\w+` `)/.test(line));
  return [...(lists ?? []).join('\n').matchAll(/`(\$\w+)`/g)].map(([, name = '']) => name).sort();
}

test.each([
  ['Stages', pipelineStages.keys()],
  ['Expression operators', operators.keys()],
  ['Accumulators', accumulatorNames],
  ['Window functions', [...windowFunctions.keys()].filter((name) => !accumulatorNames.includes(name))],
])('the page of MQL lists all %s that the parser knows', (section, names) => {
  const legend = `- is missing from "${section}" in docs/specs/mql.md, + is there but not in the code`;
  expect(listed(section), legend).toEqual([...names].sort());
});

test('the SQL page names each function and aggregate', () => {
  const words = new Set(page('sql.md').match(/\b[A-Z][A-Z\d_]+\b/g));
  const names = [...sqlFunctions.keys(), ...sqlAggregates.keys()];
  expect(names.length).toBeGreaterThan(50);
  expect(
    names.filter((name) => !words.has(name)),
    'missing from docs/specs/sql.md',
  ).toEqual([]);
});
