import { firstWords } from '@platform/base/as-started';
import { expect, test } from 'vitest';
import { createProgram } from './create-program.ts';

type Command = ReturnType<typeof createProgram>;

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

function helpOf(command: Command): string {
  return command.createHelp().formatHelp(command, command.createHelp());
}

const program = createProgram();
const leaves = leavesOf(program).filter((leaf) => !['complete'].includes(leaf.name()));

const pages = [program, ...groupsOf(program), ...leaves];

function groupsOf(command: Command): readonly Command[] {
  return command.commands.flatMap((one) => (one.commands.length === 0 ? [] : [one, ...groupsOf(one)]));
}

test('every help page fits into 80 columns and shows usage, examples, its own options or commands, then global ones', () => {
  expect(leaves.length).toBeGreaterThan(70);
  expect(pages.length).toBeGreaterThan(leaves.length + 15);
  for (const page of pages) {
    const help = helpOf(page);
    for (const line of help.split('\n')) {
      if (!/^(Usage: | {2}\$ )/.test(line))
        expect([...line].length, `${pathOf(page)}: ${line}`).toBeLessThanOrEqual(80);
    }
    const isGroup = page.commands.length > 0;
    const heads = [...help.matchAll(/^(?:Usage: platform|[A-Z][A-Za-z ]+:(?=$| [a-z]))/gm)].map(([head]) => head);
    const wanted = isGroup
      ? [
          /^Usage: platform$/,
          /^Examples:$/,
          /^(Commands|This computer|Login|Fleet|Data|Shell):$/,
          /^Environment:$/,
          /^Options:$/,
        ]
      : [
          /^Usage: platform$/,
          /^Examples:$/,
          /^Arguments:$/,
          /^Options:$/,
          /^JSON fields:$/,
          /^Environment:$/,
          /^Methods:$/,
          /^Global options:$/,
          /^Exit codes:$/,
        ];
    const places = heads.map((head) => wanted.findIndex((one) => one.test(head)));
    expect(places, `${pathOf(page)}: ${heads.join(' ')}`).not.toContain(-1);
    expect(places, `${pathOf(page)}: ${heads.join(' ')}`).toEqual(places.toSorted((a, b) => a - b));
    expect(heads[1], pathOf(page)).toBe('Examples:');
    expect(help, pathOf(page)).toMatch(/^Examples:\n {2}\$ .*platform/m);
    expect(help, pathOf(page)).toContain('-h, --help');
  }
});

test('the same thing has the same option everywhere, and changes have the same verbs', () => {
  for (const leaf of leaves) {
    const options = leaf.options.map(({ long }) => long);
    for (const other of ['--from', '--to', '--organization-id', '--org', '--output-file'])
      if (pathOf(leaf) !== 'platform admin repair') expect(options, pathOf(leaf)).not.toContain(other);
    // Existing things are added to a set and removed from it; a card exists at the payment provider.
    const isOfSet = ['platform machines favorites add', 'platform billing method add'].includes(pathOf(leaf));
    if (!isOfSet) expect(['show', 'new', 'add', 'rm', 'edit-name', 'destroy'], pathOf(leaf)).not.toContain(leaf.name());
  }
});

test('the help of up lists the environment variables, one per line', () => {
  const up = program.commands.find((command) => command.name() === 'up');
  const help = up === undefined ? '' : helpOf(up);
  expect(help).toMatch(/^Environment:\n(?: {2,}\S.*\n)+\nExit codes:/m);
  for (const name of ['PLATFORM_HOME', 'PLATFORM_SEAL_AGE', 'PLATFORM_SCRUB_PERIOD'])
    expect(help).toMatch(new RegExp(`^ {2}${name} +\\S`, 'm'));
});

test('the command list of a group shows which arguments are optional', () => {
  const group = program.commands.find((command) => command.name() === 'config');
  const help = group === undefined ? '' : helpOf(group);
  expect(help).toMatch(/^ {2}validate <part> \[file\] /m);
  expect(help).toMatch(/^ {2}diff <part> \[from\] \[to\] /m);
});

test('commands of the host administrator and of profiles take no login options', () => {
  for (const leaf of leaves) {
    const path = pathOf(leaf);
    const hasLogin = leaf.options.some((option) => option.long === '--profile');
    const isLocal =
      /^platform (up|uninstall|version|admin|ftdc|capture|profiles (?!organization)|completion|config schema|modules (create|build)|webhooks verify|help)/.test(
        path,
      );
    expect(hasLogin, path).toBe(!isLocal);
  }
});

test('the top-level help lists each group and hides the command that shells call', () => {
  const help = helpOf(program);
  for (const line of help.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80);
  expect(help).not.toMatch(/^ {2}complete\b/m);
  for (const group of ['This computer:', 'Login:', 'Fleet:', 'Data:', 'Shell:']) expect(help).toContain(`\n${group}\n`);
});

test('hints know every command of the first level', () => {
  const names = program.commands.map((command) => command.name()).filter((name) => name !== 'complete');
  expect(firstWords.toSorted()).toEqual(names.toSorted());
});

test('the examples of help name the command that the user started', () => {
  const env = { PLATFORM_COMMAND: 'node tools/run.js' };
  const inCheckout = createProgram(false, Object.assign(Object.create(process), { env }));
  expect(helpOf(inCheckout)).toContain('  $ node tools/run.js machines list\n');
  const npx = createProgram(
    false,
    Object.assign(Object.create(process), {
      env: { npm_command: 'exec', npm_lifecycle_script: '"platform" machines' },
    }),
  );
  expect(helpOf(npx)).toContain('  $ npx platform machines list\n');
});
