import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from './create-program.ts';
import { showHelp } from './help-topic.ts';
import { withLoginDefault } from './invocation/login-default.ts';

/** The output and the exit code of a call that ends in help or a usage error. */
async function said(
  run: (program: ReturnType<typeof createProgram>) => Promise<unknown>,
): Promise<{ text: string; code: number }> {
  let text = '';
  const program = createProgram();
  const write = (part: string): void => {
    text += part;
  };
  const quiet = (command: typeof program): void => {
    const { outputError } = command.configureOutput();
    command.configureOutput({ writeOut: write, writeErr: write, ...(outputError && { outputError }) });
    command.commands.forEach(quiet);
  };
  quiet(program);
  const caught = await run(program).catch((error: unknown) => error);
  if (caught instanceof CommanderError) return { text, code: caught.exitCode };
  throw new Error(`expected help or a usage error, found ${String(caught)}`);
}

const parse = (...words: string[]) =>
  said((program) => program.parseAsync(withLoginDefault(['node', 'platform', ...words])));

test('help of nested commands; an unknown word is an error with a suggestion', async () => {
  const nested = await said((program) => showHelp(program, ['machines', 'part', 'list']));
  expect(nested).toMatchObject({
    code: 0,
    text: expect.stringContaining('Usage: platform machines part list [options]'),
  });
  const wrong = await said((program) => showHelp(program, ['machines', 'part', 'lst']));
  expect(wrong).toMatchObject({
    code: 1,
    text: expect.stringContaining("unknown command 'lst'\n(Did you mean list?)"),
  });
});

test('misspelled commands, options and values are errors with suggestions, at every level', async () => {
  for (const [words, near] of [
    [['machins'], 'machine'],
    [['machines', 'lst'], 'list'],
    [['query', 'saved', 'rn'], 'run'],
    [['login', 'brwser'], 'browser'],
    [['machines', 'list', '--organisation', 'x'], '--organization'],
    [['--organisation', 'x', 'machines', 'list'], '--organization'],
    [['members', 'invite', 'a@b.example', '--role', 'opertor'], 'operator'],
    [['logs', 'press-7', '--level', 'warn,eror'], 'error'],
    [['packages', 'list', '--type', 'modul'], 'module'],
  ] as const) {
    const { text, code } = await parse(...words);
    expect(code, words.join(' ')).toBe(1);
    expect(text, words.join(' ')).toMatch(new RegExp(`Did you mean (one of )?.*${near}`));
  }
});

test('login without a command means the browser; its help is that of the group', () => {
  expect(withLoginDefault(['n', 'p', 'login', '--url', 'x'])).toEqual(['n', 'p', 'login', 'browser', '--url', 'x']);
  expect(withLoginDefault(['n', 'p', 'login'])).toEqual(['n', 'p', 'login', 'browser']);
  for (const words of [['login', '--help'], ['login', 'api-key'], ['logout']])
    expect(withLoginDefault(['n', 'p', ...words])).toEqual(['n', 'p', ...words]);
});
