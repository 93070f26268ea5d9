/**
 * `core:builtin:builtin` of the shell service: an interactive shell of this computer, and copies of files. Refused with `-untrusted-env`.
 *
 * Attributes: `shell` (default: the shell of the machine-server's user, or else /bin/sh). Each call runs as that user, and is logged with
 * its caller. A machine without keys, which accepts calls from every user of its computer, refuses these calls. A shell ends with its call;
 * its background processes get SIGHUP.
 */
import { userInfo } from 'node:os';
import { type Clock, type Log, unauthenticated, unavailable, unimplemented } from '@platform/base';
import type { ResourceCall, Shell } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import type { Kernel } from '../../../hardware/kernel.ts';
import { readAttributes } from '../../attributes.ts';
import { refuseIfUntrusted, type Trust } from '../../untrusted.ts';
import { copyFrom } from './copy-from.ts';
import { copyTo } from './copy-to.ts';
import { runShell } from './run-shell.ts';

const fields = { shell: { kind: 'string' } } as const;

interface Surroundings extends Trust {
  readonly kernel: () => Promise<Kernel>;
  /** PLATFORM_HOME. */
  readonly home: string;
}

export const createShell = (clock: Clock, surroundings: Surroundings): Model => ({
  api: 'core:service:shell',
  model: 'core:builtin:builtin',
  fields,
  async build({ attributes }, { log }): Promise<Shell> {
    refuseIfUntrusted(surroundings, 'the shell service');
    const { shell = userInfo().shell || '/bin/sh' } = readAttributes(fields, attributes);
    const closing = new AbortController();
    const audited = auditing(log, clock, closing.signal);
    return {
      shell: (requests, call) =>
        audited('a shell', call, (signal) => runShell({ shell, requests, kernel: surroundings.kernel, clock, signal })),
      copyFilesToMachine: (requests, call) =>
        audited('a copy of files to this machine', call, (signal, say) =>
          copyTo(requests, signal, say, surroundings.home),
        ),
      copyFilesFromMachine: (requests, call) =>
        audited('a copy of files from this machine', call, (signal, say) =>
          copyFrom(requests, signal, say, surroundings.home),
        ),
      doCommand: async (command) => {
        // The public command line asks for it before it copies a module (`module reload-local`).
        if ('get_viam_home' in command) return { viam_home: surroundings.home };
        throw unimplemented('the shell service has only the command get_viam_home; use Shell');
      },
      async close() {
        closing.abort(unavailable('the shell service was closed'));
      },
    };
  },
});

type Run<T> = (signal: AbortSignal, say: (what: string) => void) => AsyncIterable<T>;

/** Logs the beginning and the end of each call. @param closing ends all calls */
function auditing(log: Log, clock: Clock, closing: AbortSignal) {
  return async function* audited<T>(
    what: string,
    { signal, principal }: ResourceCall,
    run: Run<T>,
  ): AsyncGenerator<T, void> {
    // Without keys, anyone with an account on this computer could become the machine-server's user.
    if (principal?.entity === '')
      throw unauthenticated(
        `${what}: expected a caller who has signed in, found that this machine has no keys; add one to "auth" of its configuration`,
      );
    const by = principal?.entity ?? 'this process';
    const beganMs = clock.monotonic();
    log.info(`${what} began`, { by });
    try {
      yield* run(AbortSignal.any([signal, closing]), (detail) => log.info(`${what}: ${detail}`, { by }));
    } finally {
      log.info(`${what} ended`, { by, seconds: Math.round((clock.monotonic() - beganMs) / 1_000) });
    }
  };
}
