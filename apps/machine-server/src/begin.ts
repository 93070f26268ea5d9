/** Reads the settings, and handles requests that need no server. */
import { errorText, version } from '@platform/base';
import { fail } from './fail.ts';
import { run } from './run.ts';
import { readSettings, type Settings } from './settings.ts';
import { asksForHelp, usage } from './usage.ts';

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
  return run(settings);
}
