/** Runs a check that is a process of its own beside the tests. */
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { TestCount } from './closing-line.ts';
import { root } from './repository.ts';
import type { StepReport } from './steps.ts';

export interface LaneResult extends TestCount {
  readonly name: string;
  /** Of all steps, also of those that did not run because they passed with the same files. */
  readonly titles: readonly string[];
  /** Everything that it printed. */
  readonly said: string;
}

/** Lower than that of tests, which wait for events. */
const priority = 5;

/**
 * @param file a TypeScript file with `createSteps`, relative to the root
 * @returns when it has ended; a process that ends with an error although no step failed counts as one failure
 */
export async function runLane(name: string, file: string, args: readonly string[]): Promise<LaneResult> {
  const started = performance.now();
  const child = spawn(process.execPath, [...process.execArgv, join(root, file), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  if (child.pid !== undefined) setPriority(child.pid, priority);
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const titles: string[] = [];
  let [passed, failed] = [0, 0];
  child.on('message', (message: unknown) => {
    const { title, result } = message as StepReport;
    titles.push(title);
    if (result === 'passed') passed++;
    if (result === 'failed') failed++;
  });
  const ended = Promise.withResolvers<string>();
  child
    .on('close', (code, signal) => ended.resolve(code === 0 ? '' : `ended with ${signal ?? `exit code ${code}`}`))
    .on('error', (error) => ended.resolve(String(error)));
  const problem = await ended.promise;
  if (problem !== '' && failed === 0) {
    failed = 1;
    chunks.push(Buffer.from(`FAILED ${name}: ${problem}\n`));
  }
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  return {
    ...{ name, titles, passed, failed },
    said: `${name} (${seconds} s, beside the tests)\n${Buffer.concat(chunks)}`,
  };
}
