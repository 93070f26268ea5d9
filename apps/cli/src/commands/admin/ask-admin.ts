/** Runs one command of the host administrator in a process of the cloud app, which has the data directory's key and lock. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type JsonObject, PlatformError } from '@platform/sdk/cloud';
import type { Context } from '../../invocation/context.ts';
import { inherited } from '../../settings.ts';

type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: ConstructorParameters<typeof PlatformError>[0]; readonly message: string } };

/** Its progress goes to stderr unless --quiet. @throws what the command answered. */
export async function askAdmin(context: Context, request: JsonObject): Promise<unknown> {
  const entry = fileURLToPath(import.meta.resolve('@platform/cloud/admin'));
  const child = spawn(process.execPath, [...process.execArgv, entry, JSON.stringify(request)], {
    stdio: ['ignore', 'pipe', context.out.style.quiet ? 'ignore' : 'inherit'],
    env: inherited,
  });
  // Ctrl-C reaches the process through the terminal; it cleans up and says so.
  const stop = (): void => void child.kill('SIGTERM');
  context.signal.addEventListener('abort', stop, { once: true });
  // It says itself how far it is.
  context.progress.pause();
  try {
    const said = await text(child.stdout);
    if (said.trim() === '')
      throw new PlatformError(
        'internal',
        'the process of the command ended without an answer; see what it wrote above',
      );
    const answer: Answer = JSON.parse(said);
    if ('error' in answer) throw new PlatformError(answer.error.code, answer.error.message);
    return answer.result;
  } finally {
    context.progress.resume();
    context.signal.removeEventListener('abort', stop);
  }
}
