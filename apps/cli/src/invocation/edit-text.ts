/** Edits a text in the user's editor. An edit is never lost: it stays in its file until it has been used successfully. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { invalidArgument } from '@platform/base/refusals';
import { asPlatformError, PlatformError } from '@platform/sdk/cloud';
import type { Context } from './context.ts';
import { shellWord } from './shell-word.ts';

/**
 * Opens the editor until the text has no problems or the user gives up, then passes the text to `use`. An unchanged text is not used; a
 * note says so.
 *
 * @param saving the command that saves a corrected file, without the file
 * @param problemsOf the problems of a text; it is used if there are none
 * @throws what `use` throws, with the file that contains the edit; canceled if the editor failed
 */
export async function editText(
  before: string,
  { name, saving }: { readonly name: string; readonly saving: string },
  context: Context,
  problemsOf: (text: string) => Promise<readonly string[]>,
  use: (text: string) => Promise<void>,
): Promise<void> {
  const { editor } = context.settings.fromEnvironment;
  if (!context.interactive && editor === '')
    throw invalidArgument('edit: expected a terminal, or EDITOR set to a program; in scripts, use set FILE');
  const directory = await mkdtemp(join(tmpdir(), 'platform-edit-'));
  const file = join(directory, name);
  await writeFile(file, `${before}\n`, { mode: 0o600 });
  try {
    for (;;) {
      context.progress.pause();
      await runEditor(editor || 'vi', file, context.invocation.env);
      context.progress.resume();
      const text = await readFile(file, 'utf8');
      if (text.trim() === before.trim()) {
        context.out.note('nothing has changed; nothing was saved');
        break;
      }
      const problems = await problemsOf(text).catch(mistakesOf);
      if (problems.length === 0) {
        await use(text);
        break;
      }
      // Without a user, the editor program would make the same mistake forever.
      if (!context.interactive || context.flags.yes === true) throw invalidArgument(problems.join('\n'));
      for (const problem of problems) context.out.warn(`error: ${problem}`);
      await context.confirm('Edit again?');
    }
  } catch (caught) {
    const error = asPlatformError(caught);
    const edited = (await readFile(file, 'utf8')).trim() !== before.trim();
    if (!edited) await rm(directory, { recursive: true });
    const kept = `Your edit is kept in ${file} (save it with: ${saving} ${shellWord(file)})`;
    throw edited ? new PlatformError(error.code, `${error.message}\n${kept}`, caught) : error;
  }
  await rm(directory, { recursive: true });
}

/** Invalid text is a problem to show; a cloud that does not answer is not. */
function mistakesOf(caught: unknown): readonly string[] {
  const error = asPlatformError(caught);
  if (error.code === 'invalid_argument') return [error.message];
  throw error;
}

async function runEditor(editor: string, file: string, env: NodeJS.ProcessEnv): Promise<void> {
  // $EDITOR may contain arguments, so the shell splits it; the file is a separate argument.
  const child = spawn('/bin/sh', ['-c', `exec ${editor} "$1"`, 'sh', file], { stdio: 'inherit', env });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0)
    throw new PlatformError(
      'canceled',
      `the editor "${editor}" exited with ${code === null ? 'a signal' : `code ${code}`}; nothing was saved`,
    );
}
