/** The words for states on pages are those of docs/specs/states.md and docs/specs/triggers.md. */
import { readFileSync } from 'node:fs';
import { ModuleStatus_State, ResourceStatus_State } from '@platform/proto/platform/robot/v1/robot';
import { expect, test } from 'vitest';
import { configurationWords } from '../fleet/rows.ts';
import { setupSteps } from '../fleet/setup-steps.ts';
import { machineLooks } from '../fleet/state-looks.ts';
import { stepNames } from '../machine/applied.ts';
import { pathLooks } from '../machine/path/path-words.ts';
import { moduleLook, moduleLooks, resourceLook, resourceLooks } from '../machine/state-looks.ts';
import { deliveryLooks, targetLooks, triggerLooks } from '../triggers/looks.ts';

const page = (name: string): string =>
  readFileSync(new URL(`../../../../../docs/specs/${name}`, import.meta.url), 'utf8');

/** Cells of the rows of the tables in a section. */
function rowsOf(text: string, section: string): string[][] {
  const [, after = ''] = text.split(`\n## ${section}\n`);
  const lines = (after.split('\n## ')[0] ?? '').split('\n').filter((line) => /^\| (?!word )/.test(line));
  return lines.map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
}

const states = page('states.md');
const onPages = (section: string): string[] =>
  rowsOf(states, section).flatMap(([word = '', shown = '']) => (shown.split(', ').includes('page') ? [word] : []));
const wordsOf = (looks: Readonly<Record<string, { word: string } | undefined>>): string[] =>
  [...new Set(Object.values(looks).flatMap((look) => look?.word.toLowerCase() ?? []))].toSorted();

test.each<[string, readonly string[]]>([
  ['Machines', wordsOf(machineLooks)],
  ['Configuration', Object.values(configurationWords)],
  ['Steps of a configuration', stepNames],
  ['Resources', wordsOf(resourceLooks)],
  ['Modules', wordsOf(moduleLooks)],
  ['Connection to a machine', Object.values(pathLooks).map(({ word }) => word.charAt(0).toLowerCase() + word.slice(1))],
  [
    'Setting up',
    setupSteps({ status: undefined, gap: undefined, isStored: false }).map(({ name }) => name.toLowerCase()),
  ],
])('the table "%s" has the words of the page, each once', (section, words) => {
  expect(onPages(section).toSorted()).toEqual([...words].toSorted());
});

test('the words of triggers, targets and deliveries have their rows', () => {
  const rows = rowsOf(page('triggers.md'), 'States').flatMap(([word = '', of = '']) =>
    of.split(', ').map((what) => `${what}: ${word}`),
  );
  const named = (what: string, looks: Parameters<typeof wordsOf>[0]): string[] =>
    wordsOf(looks).flatMap((word) => (word === 'unknown' ? [] : [`${what}: ${word}`]));
  const words = [
    ...named('a trigger', triggerLooks),
    ...named('a target', targetLooks),
    ...named('a delivery', deliveryLooks),
  ];
  expect(rows.filter((row) => !row.endsWith('(no word)')).toSorted()).toEqual(words.toSorted());
});

test('each state that a machine may report has its word; of one that the page does not know, it says so', () => {
  const numbers = (states: object): number[] => Object.values(states).filter((one) => typeof one === 'number');
  for (const state of numbers(ResourceStatus_State)) expect(resourceLook(state).word).not.toBe('');
  for (const state of numbers(ModuleStatus_State)) expect(moduleLook(state).word).not.toBe('');
  expect(resourceLook(ResourceStatus_State.UNCONFIGURED).word).toBe('Unconfigured');
  for (const look of [resourceLook(0), moduleLook(0), resourceLook(99 as 0), moduleLook(99 as 0)])
    expect(look.word).toBe('Unknown');
});

test('only words that say that all is well are green', () => {
  const all = [machineLooks, resourceLooks, moduleLooks, pathLooks, triggerLooks, targetLooks, deliveryLooks];
  const green = all.flatMap((looks: Readonly<Record<string, { word: string; tone: string } | undefined>>) =>
    Object.values(looks).flatMap((look) => (look?.tone === 'text-ok' ? [look.word] : [])),
  );
  expect([...new Set(green)].toSorted()).toEqual([
    ...['Delivered', 'Direct (WebRTC)', 'Online', 'Over TURN (WebRTC)', 'Ready', 'Through the cloud', 'Working'],
  ]);
});
