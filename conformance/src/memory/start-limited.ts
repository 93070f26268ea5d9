/** The whole product as `npm start` runs it, within the memory of a small machine, with its own organizations beside the demo. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Cloud, openCloud } from '@platform/sdk/cloud';
import { spawnChild, temporaryDirectory } from '@platform/testkit';
import { limitMemory, type MemoryWatch, watchMemory } from './limit-memory.ts';

const launcher = fileURLToPath(new URL('../../../tools/run.js', import.meta.url));

export interface Tenant {
  readonly organizationId: string;
  readonly partId: string;
  readonly partSecret: string;
}

export interface LimitedCloud extends AsyncDisposable {
  readonly url: string;
  /** Queries as the owner of all organizations. */
  readonly client: Cloud;
  readonly memory: MemoryWatch;
  /** Whether the system enforces the limit. */
  readonly isEnforced: boolean;
  /** Processes that the kernel ended for lack of memory. */
  kills(): number;
  makeTenant(name: string): Promise<Tenant>;
  /** The first and the last position still in the log; undefined if it is empty. */
  logged(): { readonly first: number; readonly last: number } | undefined;
  /** Resolves once the log contains nothing of its current content. */
  truncated(withinMs: number): Promise<void>;
}

export async function startLimited({ bytes, sealAge }: { bytes: number; sealAge: string }): Promise<LimitedCloud> {
  await using stack = new AsyncDisposableStack();
  // On disk: files on a memory file system would count as memory of the processes.
  const directory = stack.use(await temporaryDirectory('limited-'));
  const limit = limitMemory(bytes);
  if (limit !== undefined) stack.use(limit);
  const up = [process.execPath, launcher, 'up', '--json', '--port', '0', '--data', directory.file('cloud')];
  const [command = '', ...args] = [...(limit?.prefix ?? []), ...up];
  const env = { PLATFORM_HOME: directory.file('home'), PLATFORM_LOG_LEVEL: 'error', PLATFORM_SEAL_AGE: sealAge };
  const product = spawnChild(command, args, { env });
  stack.defer(async () => {
    await product.kill('SIGTERM');
  });
  const {
    url,
    key_id: keyId,
    key,
  } = (await product.waitForLine(({ event }) => event === 'ready')) as Record<string, string>;
  if (url === undefined || keyId === undefined || key === undefined)
    throw new Error('expected a first start with its key');
  const client = stack.use(openCloud({ url, keyId, key, timeoutMs: 60_000 }));
  const memory = stack.use(watchMemory(product.pid, commandOf));
  const logged: LimitedCloud['logged'] = () => {
    using log = new DatabaseSync(join(directory.file('cloud'), 'ingest.sqlite'), { readOnly: true });
    const row = log.prepare('SELECT min(position) AS first, max(position) AS last FROM log').get();
    return row?.['last'] === null ? undefined : { first: Number(row?.['first']), last: Number(row?.['last']) };
  };
  const kept = stack.move();
  return {
    url,
    client,
    memory,
    isEnforced: limit !== undefined,
    kills: () => limit?.kills() ?? 0,
    async makeTenant(name) {
      const { app } = client;
      const organizationId = (await app.createOrganization({ name })).organization?.id ?? '';
      const location = (await app.createLocation({ organizationId, name })).location?.id ?? '';
      const robotId = (await app.newRobot({ name, location })).id;
      const part = (await app.getRobotParts({ robotId })).parts[0];
      return { organizationId, partId: part?.id ?? '', partSecret: part?.secret ?? '' };
    },
    logged,
    async truncated(withinMs) {
      const last = logged()?.last ?? 0;
      const until = performance.now() + withinMs;
      for (;;) {
        const now = logged();
        if (now === undefined || now.first > last) return;
        if (performance.now() > until)
          throw new Error(
            `expected a log after position ${last} within ${withinMs / 1_000} s, found ${now.first} to ${now.last}`,
          );
        await sleep(500);
      }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The entry file that a process runs, such as `cloud/src/main.ts`. */
function commandOf(pid: number): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const entry = words.find((word) => /\.[tj]s$/.test(word)) ?? words[0] ?? '';
    return entry.split('/').slice(-3).join('/');
  } catch {
    return `${pid}`;
  }
}
