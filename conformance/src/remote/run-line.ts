/** Runs a printed line as a person does, in a shell with a home of its own, and ends the machine-server that it started. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@platform/base';

/** Without the environment of this process. @param home of the user, and of the platform */
export function runLine(
  line: string,
  home: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; said: string }> {
  const child = spawn('sh', ['-c', line], {
    env: { PATH: process.env['PATH'] ?? '', HOME: home, PLATFORM_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  return new Promise((resolve) => child.once('exit', (code) => resolve({ code: code ?? -1, said })));
}

/** Ends the process that a line started, by its id. */
export async function stopStarted(home: string): Promise<void> {
  const file = join(home, 'machine-server', 'pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8'));
  const runs = (): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  if (runs()) process.kill(pid, 'SIGTERM');
  while (runs()) await systemClock.sleep(50);
}
