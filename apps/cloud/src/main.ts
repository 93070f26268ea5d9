/** The cloud as a process: settings → compose → start → wait for a signal → unwind. */
import { errorText, systemClock, trimAtRest } from '@platform/base';
import { composeCloud } from './compose.ts';
import { readSettings } from './settings.ts';

/** How long the reader of `ready` may take before the owner key counts as told. */
const tellMs = 2_000;

async function main(): Promise<void> {
  // What we write holds customers' data: no one else on this computer reads it.
  process.umask(0o077);
  const settings = readSettings(process.argv.slice(2), process.env);
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
    // The parent that started us as its child is gone.
    process.once('disconnect', () => resolve());
  });
  const starting = composeCloud(settings);
  // A start may wait for Postgres or for room on the disk; whatever it has begun is repeated by the next one (I14).
  if (await Promise.race([starting.then(() => false), stopped.then(() => true)])) return;
  await using cloud = await starting;
  process.stdout.write(`${JSON.stringify({ event: 'ready', ...cloud.ready })}\n`);
  // Later it would cost a fleet that asks again and again.
  using _trim = trimAtRest({ clock: systemClock, once: true });
  // Until the one who started us has had time to read it, a start that ends is still a first start.
  const ending = new AbortController();
  const said = systemClock.sleep(tellMs, ending.signal).then(
    () => cloud.saidReady(),
    () => {},
  );
  await Promise.race([stopped, said.then(() => stopped)]);
  ending.abort();
}

try {
  await main();
  process.exit(0);
} catch (caught) {
  process.stderr.write(`cloud: ${errorText(caught)}\n`);
  process.exit(1);
}
