import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** For one test. */
export async function homeFolder(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'gaps-'));
  onTestFinished(() => rm(home, { recursive: true }));
  return home;
}
