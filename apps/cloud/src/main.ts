/** The cloud as a process: settings → compose → start → wait for a signal → unwind. */
import { asPlatformError } from '@platform/base';
import { composeCloud } from './compose.ts';
import { readSettings } from './settings.ts';

async function main(): Promise<void> {
  const settings = readSettings(process.argv.slice(2), process.env);
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
    // The parent that started us as its child is gone.
    process.once('disconnect', () => resolve());
  });
  await using cloud = await composeCloud(settings);
  process.stdout.write(`${JSON.stringify({ event: 'ready', ...cloud.ready })}\n`);
  await stopped;
}

try {
  await main();
  process.exit(0);
} catch (caught) {
  process.stderr.write(`cloud: ${asPlatformError(caught).message}\n`);
  process.exit(1);
}
