/** The cloud as a process: settings → compose → start → wait for a signal → unwind. */
import { errorText, systemClock, trimWhenIdle, writeCompileCache } from '@platform/base';
import { composeCloud } from './compose.ts';
import { endLateStop } from './instance/parts.ts';
import { runForAcknowledgements } from './instance/priority.ts';
import { readSettings } from './settings.ts';

/** Time allowed for the reader of `ready`; after it, the owner key is considered delivered. */
const tellMs = 2_000;

/** A stop takes less than a second, and up to 5 s while clients keep calls open. */
const stopMs = 30_000;

async function main(): Promise<void> {
  // Our files hold customers' data: no other user of this computer may read them.
  process.umask(0o077);
  // Our parent, which reads it, may have exited.
  process.stdout.on('error', () => {});
  runForAcknowledgements();
  const settings = readSettings(process.argv.slice(2), process.env);
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
    // We run as a child process, and our parent has exited.
    process.once('disconnect', () => resolve());
  });
  const starting = composeCloud(settings);
  // A start may wait for Postgres or for disk space. Whatever it has begun, the next start repeats (I14).
  if (await Promise.race([starting.then(() => false), stopped.then(() => true)])) return;
  await using cloud = await starting;
  process.stdout.write(`${JSON.stringify({ event: 'ready', ...cloud.ready })}\n`);
  // Trim memory once, now: later it would slow down clients that poll.
  using _trim = trimWhenIdle({ clock: systemClock, once: true });
  using _compiled = writeCompileCache(systemClock);
  // If we stop before our parent has had time to read `ready`, the next start still counts as a first start.
  const ending = new AbortController();
  const said = systemClock.sleep(tellMs, ending.signal).then(
    () => cloud.saidReady(),
    () => {},
  );
  await Promise.race([stopped, said.then(() => stopped)]);
  ending.abort();
  // Its timer ends with the process.
  endLateStop({
    ms: stopMs,
    stopping: () => cloud.stopping,
    end(text) {
      process.stderr.write(`cloud: ${text}\n`);
      process.exit(1);
    },
    clock: systemClock,
  });
}

try {
  await main();
  process.exit(0);
} catch (caught) {
  process.stderr.write(`cloud: ${errorText(caught)}\n`);
  process.exit(1);
}
