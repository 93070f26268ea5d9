/** Runs one command of the host administrator in a process of the cloud app, which takes the key and the lock of the data directory. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { type JsonObject, PlatformError } from '@platform/sdk/cloud';
import type { Context } from '../../invocation/context.ts';
import { programs } from '../../programs.ts';

type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: ConstructorParameters<typeof PlatformError>[0]; readonly message: string } };

/** Progress goes to stderr unless --quiet is given. @throws the error that the process returned */
export async function askAdmin(context: Context, request: JsonObject): Promise<unknown> {
  const entry = fileURLToPath(programs.admin);
  const { env, stderr } = context.invocation;
  // Inherited, because it shows its progress on a line of the terminal.
  const messages = stderr === process.stderr ? 'inherit' : 'pipe';
  const child = spawn(process.execPath, [...process.execArgv, entry, JSON.stringify(request)], {
    // Through the channel, the process notices if this one ends, for whatever reason.
    stdio: ['ignore', 'pipe', context.out.style.quiet ? 'ignore' : messages, 'ipc'],
    env,
  });
  child.stderr?.pipe(stderr, { end: false });
  // Ctrl-C reaches the process through the terminal; it cleans up and reports that.
  const stop = (): void => void child.kill('SIGTERM');
  context.signal.addEventListener('abort', stop, { once: true });
  // The process reports its own progress.
  context.progress.pause();
  try {
    const said = child.stdout === null ? '' : await text(child.stdout);
    if (child.stderr !== null) await finished(child.stderr);
    if (said.trim() === '')
      throw new PlatformError('internal', 'the admin process ended without a result; see its output above');
    const answer: Answer = JSON.parse(said);
    if ('error' in answer) throw new PlatformError(answer.error.code, answer.error.message);
    return answer.result;
  } finally {
    context.progress.resume();
    context.signal.removeEventListener('abort', stop);
  }
}
