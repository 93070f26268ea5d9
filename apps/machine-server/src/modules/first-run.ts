/**
 * The first-run script of a module: `first_run` of the `meta.json` in its folder, which prepares the computer for the module. It runs once
 * for each content of script and folder; what says that it succeeded is a file that outlives the process. A script that fails is run again
 * with the next start.
 */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { type Clock, type Log, PlatformError } from '@platform/base';
import { withTimeout } from '../graph/with-timeout.ts';
import type { ModuleConfig } from './module-config.ts';
import type { ModuleLines } from './module-output.ts';
import { startProcess } from './module-process.ts';

export interface FirstRunOptions {
  readonly module: ModuleConfig;
  /** The folder of the module. */
  readonly root: string;
  readonly dataDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly lines: ModuleLines;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** @throws failed_precondition if there is a script and it fails, deadline_exceeded after `first_run_timeout` */
export async function firstRun(options: FirstRunOptions): Promise<void> {
  const { module, root, dataDirectory, env, lines, clock, log, signal } = options;
  const path = await scriptOf(root);
  if (path === undefined) return;
  const marker = `${dataDirectory}.first_run_succeeded`;
  const script = await readFile(path).catch((caught: unknown) => {
    throw new PlatformError('failed_precondition', `first_run of meta.json: expected a script at ${path}`, caught);
  });
  const done = `${path} ${createHash('sha256').update(script).digest('hex')}\n`;
  if ((await readFile(marker, 'utf8').catch(() => '')) === done) return;
  log.info(`module "${module.name}": running its first-run script`, { path });
  const process = await startProcess({ path, args: [], cwd: root, env, lines, clock });
  const text = `first_run of meta.json: ${path} did not end within ${module.firstRunTimeoutMs} ms (first_run_timeout)`;
  try {
    const how = await withTimeout(process.ended, module.firstRunTimeoutMs, text, clock, signal);
    if (!how.endsWith(' 0')) throw new PlatformError('failed_precondition', `first_run of meta.json: ${path}: ${how}`);
  } finally {
    await process.stop();
  }
  await writeFile(marker, done);
}

/** The script, which is inside the folder; undefined if the module has none. */
async function scriptOf(root: string): Promise<string | undefined> {
  const text = await readFile(join(root, 'meta.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const script = firstRunOf(text, root);
  if (typeof script !== 'string' || script === '') return undefined;
  const path = join(root, script);
  const inside = relative(root, path);
  if (!isAbsolute(script) && inside !== '' && !inside.startsWith('..')) return path;
  const found = JSON.stringify(script);
  throw new PlatformError('failed_precondition', `first_run of meta.json: expected a path in ${root}, found ${found}`);
}

function firstRunOf(text: string, root: string): unknown {
  try {
    const meta: unknown = JSON.parse(text);
    return typeof meta === 'object' && meta !== null ? (meta as Record<string, unknown>)['first_run'] : undefined;
  } catch (caught) {
    throw new PlatformError('failed_precondition', `${join(root, 'meta.json')}: expected JSON`, caught);
  }
}
