/**
 * The first-run script of a module: `first_run` of the `meta.json` in its folder, which prepares the computer for the module. It runs once
 * for each content of script and folder; a file records that it succeeded. A script that fails runs again at the next start.
 */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { type Clock, failedPrecondition, type Log, readRegular } from '@platform/base';
import { withTimeout } from '../../graph/with-timeout.ts';
import type { ModuleConfig } from '../module-config.ts';
import { pathInMeta } from './meta-json.ts';
import type { ModuleLines } from './module-output.ts';
import { startProcess } from './module-process.ts';

const mostScriptBytes = 64 * 1024 * 1024;

export interface FirstRunOptions {
  readonly module: ModuleConfig;
  /** The folder of the module. */
  readonly root: string;
  /** The path of the file that records the success, without its extension. */
  readonly statePath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly lines: ModuleLines;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** @throws failed_precondition if there is a script and it fails, deadline_exceeded after `first_run_timeout` */
export async function firstRun(options: FirstRunOptions): Promise<void> {
  const { module, root, statePath, env, lines, clock, log, signal } = options;
  const path = await pathInMeta(root, 'first_run');
  if (path === undefined) return;
  const marker = `${statePath}.first_run_succeeded`;
  const script = await readRegular(path, { maxBytes: mostScriptBytes, followsLinks: true }).catch((caught: unknown) => {
    throw failedPrecondition(`first_run of meta.json: expected a script at ${path}`, caught);
  });
  const done = `${path} ${createHash('sha256').update(script).digest('hex')}\n`;
  if ((await readFile(marker, 'utf8').catch(() => '')) === done) return;
  log.info(`module "${module.name}": running its first-run script`, { path });
  const process = await startProcess({ path, args: [], cwd: root, env, lines, clock });
  const text = `first_run of meta.json: ${path} did not end within ${module.firstRunTimeoutMs} ms (first_run_timeout)`;
  try {
    const how = await withTimeout(process.ended, module.firstRunTimeoutMs, text, clock, signal);
    if (!how.endsWith(' 0')) throw failedPrecondition(`first_run of meta.json: ${path}: ${how}`);
  } finally {
    await process.stop();
  }
  await writeFile(marker, done);
}
