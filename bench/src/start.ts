import { scratch } from './cloud/scratch.ts';
import { startDemo } from './cloud/start-demo.ts';

/** Time from a first start to the first queryable reading and to the first webhook, and from a later start to `ready`. */
export async function measureStart(): Promise<Readonly<Record<string, number>>> {
  using folder = scratch();
  const first = await timed(folder.path, ['ready', 'reading', 'webhook']);
  const later = await timed(folder.path, ['ready', 'reading']);
  return {
    first_start_to_ready_s: first['ready'] ?? Number.NaN,
    first_start_to_reading_s: first['reading'] ?? Number.NaN,
    first_start_to_webhook_s: first['webhook'] ?? Number.NaN,
    later_start_to_ready_s: later['ready'] ?? Number.NaN,
    later_start_to_reading_s: later['reading'] ?? Number.NaN,
  };
}

async function timed(folder: string, events: readonly string[]): Promise<Record<string, number>> {
  const started = performance.now();
  await using demo = startDemo(folder);
  const seconds: Record<string, number> = {};
  for (const event of events) {
    await demo.event(event);
    seconds[event] = (performance.now() - started) / 1_000;
  }
  return seconds;
}
