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

test('every help page fits into 80 columns and shows usage, examples, options and exit codes in this order', () => {
  expect(leaves.length).toBeGreaterThan(70);
  for (const leaf of leaves) {
    const help = helpOf(leaf);
    for (const line of help.split('\n')) {
      if (!/^(Usage: | {2}\$ )/.test(line))
        expect([...line].length, `${pathOf(leaf)}: ${line}`).toBeLessThanOrEqual(80);
    }
    const at = ['Usage: platform', 'Examples:\n  $ ', '-h, --help', 'Exit codes:'].map((part) => help.indexOf(part));
    expect(at, pathOf(leaf)).toEqual(at.toSorted((a, b) => a - b));
    expect(at, pathOf(leaf)).not.toContain(-1);
  }
});

test('the help of up lists the environment variables, one per line', () => {
  const up = program.commands.find((command) => command.name() === 'up');
  const help = up === undefined ? '' : helpOf(up);
  expect(help).toMatch(/^Environment:\n(?: {2,4}\S.*\n)+\nExit codes:/m);
  for (const name of ['PLATFORM_HOME', 'PLATFORM_SEAL_AGE', 'PLATFORM_SCRUB_PERIOD'])
    expect(help).toMatch(new RegExp(`^ {2}${name} \\S`, 'm'));
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
    const isLocal = /^platform (up|version|admin|profiles (?!organization)|completion|config schema|help)/.test(path);
    expect(hasLogin, path).toBe(!isLocal);
  }
});

test('the top-level help lists each group and hides the command that shells call', () => {
  const help = helpOf(program);
  for (const line of help.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80);
  expect(help).not.toMatch(/^ {2}complete\b/m);
  for (const group of ['This computer:', 'Login:', 'Fleet:', 'Data:', 'Shell:']) expect(help).toContain(`\n${group}\n`);
});
