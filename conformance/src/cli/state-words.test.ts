/** The words for states in commands, and those that machine-servers and invoices report, are those of docs/specs/states.md. */
import { readFileSync } from 'node:fs';
import { repairOutcomes } from '@platform/base';
import { expect, test } from 'vitest';
import { deliveryStates } from '../../../apps/cli/src/commands/deliveries/delivery.ts';
import { memberStates } from '../../../apps/cli/src/commands/members.ts';
import { reloadStates } from '../../../apps/cli/src/commands/modules/wait-until-applied.ts';
import { moduleStates, resourceStates } from '../../../apps/cli/src/commands/remote/resources.ts';
import { outcomes } from '../../../apps/cli/src/commands/triggers/history.ts';
import { targetStates, triggerStates } from '../../../apps/cli/src/commands/triggers/triggers-command.ts';
import { machineStates, stateOf } from '../../../apps/cli/src/results/presenters.ts';
import { invoiceStates } from '../../../apps/cloud/src/billing/invoices/summary.ts';
import { outcomeWords } from '../../../apps/cloud/src/outbox/outcome-words.ts';
import { databaseStates } from '../../../apps/machine-server/src/docdb/docdb.ts';
import { syncStates } from '../../../apps/machine-server/src/sync/data-status.ts';

const root = new URL('../../../', import.meta.url);
const text = readFileSync(new URL('docs/specs/states.md', root), 'utf8');

interface Row {
  readonly word: string;
  readonly shown: readonly string[];
  readonly test: string;
}

function rowsOf(section: string): Row[] {
  const [, after = ''] = text.split(`\n## ${section}\n`);
  return [...(after.split('\n## ')[0] ?? '').matchAll(/^\| (?!word )([^|]+) \| ([^|]+) \| [^|]+ \| ([^|]+) \|$/gm)].map(
    ([, word = '', shown = '', named = '']) => ({ word, shown: shown.split(', '), test: named }),
  );
}

const sections = [...text.matchAll(/^## (.*)$/gm)].map(([, name = '']) => name);

test.each<[string, string, readonly string[]]>([
  ['Machines', 'command', Object.values(machineStates)],
  ['Resources', 'command', Object.values(resourceStates)],
  ['Modules', 'command', moduleStates],
  ['Reloading a module', 'command', reloadStates],
  ['Sync', 'command', syncStates],
  ['Sync', 'page', syncStates],
  ['Document database', 'status', databaseStates],
  ['Members and keys', 'command', memberStates],
  ['Attempts at a delivery', 'command', Object.values(outcomeWords)],
  ['History of a trigger', 'command', Object.keys(outcomes)],
  ['Repairs', 'command', repairOutcomes],
  ['Invoices', 'command', invoiceStates],
  ['Invoices', 'page', invoiceStates],
])('the table "%s" has the words of each %s, each once', (section, where, words) => {
  const rows = rowsOf(section).filter(({ shown }) => shown.includes(where));
  expect(rows.map(({ word }) => word).toSorted()).toEqual([...words].toSorted());
});

test('the words of triggers, targets and deliveries in commands are those of their table', () => {
  const table = readFileSync(new URL('docs/specs/triggers.md', root), 'utf8').split('\n## States\n')[1] ?? '';
  const rows = [...table.matchAll(/^\| (\w+) \| (a [^|]+) \|/gm)].flatMap(([, word = '', of = '']) =>
    of.split(', ').map((what) => `${what}: ${word}`),
  );
  const words = [
    ...Object.keys(triggerStates).map((word) => `a trigger: ${word}`),
    ...Object.values(targetStates).map((word) => `a target: ${word}`),
    ...Object.keys(deliveryStates).map((word) => `a delivery: ${word}`),
  ];
  expect(rows.toSorted()).toEqual(words.toSorted());
});

test('each row names a test that exists', () => {
  const rows = sections.flatMap(rowsOf);
  expect(rows.length).toBeGreaterThan(40);
  for (const { word, test: named } of rows) {
    const [, file = '', title = ''] = /^`([^`]+)`: "([^"]+)"$/.exec(named) ?? [];
    expect(readFileSync(new URL(file, root), 'utf8').replaceAll(/\\?"/g, '"'), `${word}: ${named}`).toContain(title);
  }
});

test('a state that a command does not know is unknown', () => {
  expect(stateOf(99 as never)).toBe('unknown');
});
