/** Reads the settings, and handles requests that need no server, before loading the server, which takes most of a second. */
import { errorText } from '@platform/base';
import { fail } from './fail.ts';
import { readSettings, type Settings } from './settings.ts';
import { asksForHelp, usage } from './usage.ts';
import { version } from './version.ts';

/** @param args from the command line. @returns the exit code */
export async function begin(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  if (asksForHelp(args)) {
    process.stdout.write(usage());
    return 0;
  }
  let settings: Settings;
  try {
    settings = readSettings(args, env);
  } catch (caught) {
    return fail(errorText(caught));
  }
  if (settings.version) {
    process.stdout.write(`machine-server ${version}\n`);
    return 0;
  }
  const { run } = await import('./run.ts');
  return run(settings);
}
